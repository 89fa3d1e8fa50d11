//! Compares and calculates numbers, as CEL does: integers and floating-point numbers compare by their exact values.

use std::cmp::Ordering;

use super::node::Arithmetic;
use super::value::{Failure, Value};

/// The order of two numbers; `None` if one is NaN or no number.
pub(crate) fn number_order(left: Value, right: Value) -> Option<Ordering> {
    match (left, right, left.as_integer(), right.as_integer()) {
        (_, _, Some(left), Some(right)) => Some(left.cmp(&right)),
        (Value::Double(left), Value::Double(right), ..) => left.partial_cmp(&right),
        (_, Value::Double(right), Some(left), _) => integer_order(left, right),
        (Value::Double(left), _, _, Some(right)) => {
            integer_order(right, left).map(Ordering::reverse)
        }
        _ => None,
    }
}

/// The order of an integer of at most 64 bits and a floating-point number.
fn integer_order(integer: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    if double.is_infinite() {
        return 0f64.partial_cmp(&double);
    }
    // Casts of larger numbers give the largest i128, whose order is the same.
    let order = integer.cmp(&(double.trunc() as i128));
    Some(order.then(0f64.partial_cmp(&double.fract())?))
}

/// A number in one form: two that are equal have the same.
pub(crate) fn canonical(value: Value) -> Value {
    let Value::Double(double) = value else {
        return value;
    };
    let integer = double as i128;
    let is_exact = number_order(Value::integer(integer), value) == Some(Ordering::Equal);
    if is_exact {
        Value::integer(integer)
    } else {
        value
    }
}

/// An operation on two numbers.
pub(crate) fn calculate(operation: Arithmetic, left: Value, right: Value) -> Value {
    if let (Some(left), Some(right)) = (left.as_integer(), right.as_integer()) {
        return of_integers(operation, left, right);
    }
    match (as_double(left), as_double(right)) {
        (Some(left), Some(right)) => match operation {
            Arithmetic::Add => Value::Double(left + right),
            Arithmetic::Subtract => Value::Double(left - right),
            Arithmetic::Multiply => Value::Double(left * right),
            Arithmetic::Divide => Value::Double(left / right),
            Arithmetic::Remainder => Value::Failed(Failure::Type),
        },
        (None, _) => left.mistaken(),
        (_, None) => right.mistaken(),
    }
}

/// The number with the other sign.
pub(crate) fn negate(value: Value) -> Value {
    match (value, value.as_integer()) {
        (_, Some(integer)) => Value::integer(-integer),
        (Value::Double(double), _) => Value::Double(-double),
        (other, _) => other.mistaken(),
    }
}

fn of_integers(operation: Arithmetic, left: i128, right: i128) -> Value {
    if right == 0 && matches!(operation, Arithmetic::Divide | Arithmetic::Remainder) {
        return Value::Failed(Failure::Division);
    }
    // Numbers of 64 bits: neither sum nor product has more than 128.
    let result = match operation {
        Arithmetic::Add => Some(left + right),
        Arithmetic::Subtract => Some(left - right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::Divide => Some(left / right),
        Arithmetic::Remainder => Some(left % right),
    };
    result.map_or(Value::Failed(Failure::Overflow), Value::integer)
}

/// The value of a number as a floating-point number.
fn as_double(value: Value) -> Option<f64> {
    match value {
        Value::Double(value) => Some(value),
        other => other.as_integer().map(|value| value as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_compare_with_doubles_by_their_exact_values() {
        let large = Value::Integer(i64::MAX);
        let order = |left, right| number_order(left, right);
        assert_eq!(
            order(large, Value::Double(i64::MAX as f64)),
            Some(Ordering::Less)
        );
        assert_eq!(
            order(Value::Unsigned(u64::MAX), Value::Double(f64::INFINITY)),
            Some(Ordering::Less)
        );
        assert_eq!(
            order(Value::Integer(-1), Value::Double(-1.5)),
            Some(Ordering::Greater)
        );
        assert_eq!(
            order(Value::Double(2.5), Value::Integer(2)),
            Some(Ordering::Greater)
        );
        assert_eq!(order(Value::Integer(0), Value::Double(f64::NAN)), None);
    }

    #[test]
    fn equal_numbers_have_one_form() {
        assert_eq!(canonical(Value::Double(3.0)), Value::Integer(3));
        assert_eq!(canonical(Value::Double(-0.0)), Value::Integer(0));
        assert_eq!(canonical(Value::Double(3.5)), Value::Double(3.5));
        assert_eq!(canonical(Value::Double(1e300)), Value::Double(1e300));
    }

    #[test]
    fn what_cannot_be_calculated_fails() {
        let fail = |operation, left, right| calculate(operation, left, right);
        let one = Value::Integer(1);
        assert_eq!(
            fail(Arithmetic::Divide, one, Value::Integer(0)),
            Value::Failed(Failure::Division)
        );
        assert_eq!(
            fail(Arithmetic::Remainder, one, Value::Integer(0)),
            Value::Failed(Failure::Division)
        );
        let huge = Value::Unsigned(u64::MAX);
        assert_eq!(
            fail(Arithmetic::Add, huge, one),
            Value::Failed(Failure::Overflow)
        );
        assert_eq!(
            fail(Arithmetic::Multiply, huge, huge),
            Value::Failed(Failure::Overflow)
        );
        assert_eq!(
            fail(Arithmetic::Add, one, Value::Null),
            Value::Failed(Failure::Null)
        );
        assert_eq!(
            fail(Arithmetic::Subtract, one, huge),
            Value::Failed(Failure::Overflow)
        );
    }
}
