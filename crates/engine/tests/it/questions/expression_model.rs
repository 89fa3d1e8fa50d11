//! Random expressions over random objects, compared with an evaluator that takes one object at a time.

use proptest::prelude::*;
use serde_json::json;

use super::objects::string;
use crate::support::{Object, STRING, Scene, ask};

/// The fields of an object; `next` and `name` are positions.
#[derive(Clone, Debug)]
struct Plan {
    open: bool,
    key: i32,
    ratio: f64,
    name: Option<usize>,
    next: Option<usize>,
    /// Whether its class has a field `extra`.
    extra: Option<i32>,
}

const NAMES: [&str; 4] = ["", "guest", "guest 1", "other"];

#[derive(Clone, Debug)]
enum Expr {
    Bool(bool),
    Number(i32),
    Text(usize),
    Field(&'static str),
    NextField(&'static str),
    Has(&'static str),
    Not(Box<Expr>),
    Logic(bool, Box<Expr>, Box<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Calculate(&'static str, Box<Expr>, Box<Expr>),
    Starts(Box<Expr>, usize),
    In(Box<Expr>, Vec<i32>),
    Condition(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    fn text(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => format!("({value})"),
            Self::Text(number) => format!("{:?}", NAMES[*number]),
            Self::Field(name) => format!("this.{name}"),
            Self::NextField(name) => format!("this.next.{name}"),
            Self::Has(name) => format!("has(this.{name})"),
            Self::Not(operand) => format!("!({})", operand.text()),
            Self::Logic(is_and, left, right) => {
                let operator = if *is_and { "&&" } else { "||" };
                format!("({} {operator} {})", left.text(), right.text())
            }
            Self::Compare(operator, left, right) | Self::Calculate(operator, left, right) => {
                format!("({} {operator} {})", left.text(), right.text())
            }
            Self::Starts(text, part) => format!("{}.startsWith({:?})", text.text(), NAMES[*part]),
            Self::In(element, list) => format!("({} in {list:?})", element.text()),
            Self::Condition(condition, yes, no) => {
                format!("({} ? {} : {})", condition.text(), yes.text(), no.text())
            }
        }
    }
}

/// The value of an expression, or that there is none.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Missing,
    Null,
    Bool(bool),
    Integer(i64),
    Double(f64),
    Text(&'static str),
}

fn field(plan: &Plan, name: &str) -> Value {
    match name {
        "open" => Value::Bool(plan.open),
        "key" => Value::Integer(plan.key.into()),
        "ratio" => Value::Double(plan.ratio),
        "name" => plan
            .name
            .map_or(Value::Null, |name| Value::Text(NAMES[name])),
        "extra" => plan
            .extra
            .map_or(Value::Missing, |extra| Value::Integer(extra.into())),
        _ => Value::Missing,
    }
}

fn value(expression: &Expr, plans: &[Plan], nth: usize) -> Value {
    let of = |operand: &Expr| value(operand, plans, nth);
    match expression {
        Expr::Bool(value) => Value::Bool(*value),
        Expr::Number(value) => Value::Integer((*value).into()),
        Expr::Text(number) => Value::Text(NAMES[*number]),
        Expr::Field(name) => field(&plans[nth], name),
        Expr::NextField(name) => match plans[nth].next {
            Some(next) => field(&plans[next], name),
            None => Value::Missing,
        },
        Expr::Has(name) => Value::Bool(field(&plans[nth], name) != Value::Missing),
        Expr::Not(operand) => match of(operand) {
            Value::Bool(value) => Value::Bool(!value),
            _ => Value::Missing,
        },
        Expr::Logic(is_and, left, right) => {
            let decides = !is_and;
            match (of(left), of(right)) {
                (Value::Bool(one), _) | (_, Value::Bool(one)) if one == decides => Value::Bool(one),
                (Value::Bool(_), Value::Bool(other)) => Value::Bool(other),
                _ => Value::Missing,
            }
        }
        Expr::Compare(operator, left, right) => compare(operator, of(left), of(right)),
        Expr::Calculate(operator, left, right) => calculate(operator, of(left), of(right)),
        Expr::Starts(text, part) => match of(text) {
            Value::Text(text) => Value::Bool(text.starts_with(NAMES[*part])),
            _ => Value::Missing,
        },
        Expr::In(element, list) => match of(element) {
            Value::Missing => Value::Missing,
            Value::Integer(element) => {
                Value::Bool(list.iter().any(|&one| i64::from(one) == element))
            }
            Value::Double(element) => {
                Value::Bool(list.iter().any(|&one| f64::from(one) == element))
            }
            _ => Value::Bool(false),
        },
        Expr::Condition(condition, yes, no) => match of(condition) {
            Value::Bool(true) => of(yes),
            Value::Bool(false) => of(no),
            _ => Value::Missing,
        },
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(value) => Some(*value as f64),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}

fn compare(operator: &str, left: Value, right: Value) -> Value {
    if left == Value::Missing || right == Value::Missing {
        return Value::Missing;
    }
    let numbers = number(&left).zip(number(&right));
    // Numbers of the model are small: all integers are doubles.
    let is_equal = match numbers {
        Some((left, right)) => left == right,
        None => left == right,
    };
    let order = match (numbers, &left, &right) {
        (Some((left, right)), ..) => Some(left.partial_cmp(&right)),
        (_, Value::Text(left), Value::Text(right)) => Some(left.partial_cmp(right)),
        _ => None,
    };
    match (operator, order) {
        ("==", _) => Value::Bool(is_equal),
        ("!=", _) => Value::Bool(!is_equal),
        ("<", Some(order)) => Value::Bool(order.is_some_and(|order| order.is_lt())),
        (">=", Some(order)) => Value::Bool(order.is_some_and(|order| order.is_ge())),
        _ => Value::Missing,
    }
}

fn calculate(operator: &str, left: Value, right: Value) -> Value {
    if let (Value::Integer(left), Value::Integer(right)) = (&left, &right) {
        let result = match operator {
            "+" => left.checked_add(*right),
            "-" => left.checked_sub(*right),
            "*" => left.checked_mul(*right),
            "/" => left.checked_div(*right),
            _ => left.checked_rem(*right),
        };
        return result.map_or(Value::Missing, Value::Integer);
    }
    match (number(&left), number(&right), operator) {
        (Some(left), Some(right), "+") => Value::Double(left + right),
        (Some(left), Some(right), "-") => Value::Double(left - right),
        (Some(left), Some(right), "*") => Value::Double(left * right),
        (Some(left), Some(right), "/") => Value::Double(left / right),
        _ => Value::Missing,
    }
}

const NUMBERS: [&str; 3] = ["key", "ratio", "extra"];

fn numbers() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-3..10).prop_map(Expr::Number),
        prop::sample::select(&NUMBERS[..]).prop_map(Expr::Field),
        prop::sample::select(&NUMBERS[..]).prop_map(Expr::NextField),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let operator = prop::sample::select(&["+", "-", "*", "/", "%"][..]);
        // A field is on one side, so that an operation on constants, which must have a result, is rare.
        let field = prop::sample::select(&NUMBERS[..]).prop_map(Expr::Field);
        (operator, field, inner).prop_map(|(operator, left, right)| {
            let left = Box::new(left);
            match (operator, &right) {
                // That is an error of types.
                ("%", _) => Expr::Calculate("+", left, Box::new(right)),
                _ => Expr::Calculate(operator, left, Box::new(right)),
            }
        })
    })
}

fn texts() -> impl Strategy<Value = Expr> {
    prop_oneof![
        (0..NAMES.len()).prop_map(Expr::Text),
        Just(Expr::Field("name")),
        Just(Expr::NextField("name")),
    ]
}

fn conditions() -> impl Strategy<Value = Expr> {
    let comparison = || prop::sample::select(&["==", "!=", "<", ">="][..]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Expr::Bool),
        Just(Expr::Field("open")),
        Just(Expr::NextField("open")),
        prop::sample::select(&["open", "extra", "other"][..]).prop_map(Expr::Has),
        (comparison(), numbers(), numbers()).prop_map(|(operator, left, right)| Expr::Compare(
            operator,
            left.into(),
            right.into()
        )),
        (comparison(), texts(), texts()).prop_map(|(operator, left, right)| Expr::Compare(
            operator,
            left.into(),
            right.into()
        )),
        (texts(), 0..NAMES.len()).prop_map(|(text, part)| Expr::Starts(text.into(), part)),
        (numbers(), prop::collection::vec(-3..10, 1..4))
            .prop_map(|(element, list)| Expr::In(element.into(), list)),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|operand| Expr::Not(operand.into())),
            (any::<bool>(), inner.clone(), inner.clone())
                .prop_map(|(is_and, left, right)| Expr::Logic(is_and, left.into(), right.into())),
            (inner.clone(), inner.clone(), inner).prop_map(|(condition, yes, no)| {
                Expr::Condition(condition.into(), yes.into(), no.into())
            }),
        ]
    })
}

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let plan = (
        any::<bool>(),
        -3..10,
        prop::sample::select(&[0.0, 0.5, -1.0, 3.0, f64::NAN, f64::INFINITY][..]),
        prop::option::of(0..NAMES.len()),
        prop::option::of(0..8usize),
        prop::option::of(-3..10),
    );
    let plan = plan.prop_map(|(open, key, ratio, name, next, extra)| Plan {
        open,
        key,
        ratio,
        name,
        next,
        extra,
    });
    prop::collection::vec(plan, 8)
}

/// A heap with these objects, of which each is alive.
fn scene(plans: &[Plan]) -> (Scene, Vec<Object>) {
    let mut scene = Scene::new();
    let names = NAMES.map(|name| string(&mut scene, name));
    let small = scene.class("assembly/index/Item");
    scene.field(small, "open", 0, "bool");
    scene.field(small, "key", 4, "i32");
    scene.field(small, "ratio", 8, "f64");
    scene.field(small, "name", 16, STRING);
    scene.field(small, "next", 20, small);
    let large = scene.class("assembly/index/LargeItem");
    scene.inherit(large, small);
    scene.field(large, "extra", 24, "i32");
    let mut objects = Vec::new();
    for plan in plans {
        let ratio = plan.ratio.to_bits();
        let name = plan.name.map_or(0, |name| names[name].0);
        let mut words = vec![
            plan.open.into(),
            plan.key as u32,
            ratio as u32,
            (ratio >> 32) as u32,
            name,
            0,
        ];
        words.extend(plan.extra.map(|extra| extra as u32));
        let class = if plan.extra.is_some() { large } else { small };
        objects.push(scene.object_of(class, &words));
    }
    for (plan, &object) in plans.iter().zip(&objects) {
        if let Some(next) = plan.next {
            scene.set(object, 20, objects[next]);
        }
    }
    let all = scene.generic("~lib/array/Array<assembly/index/Item>", &[&small]);
    let all = scene.array(all, &objects);
    scene.global("assembly/index/all", small, all);
    (scene, objects)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn expressions_have_the_values_of_the_naive_evaluator(
        plans in plans(),
        expressions in prop::collection::vec(conditions(), 24),
    ) {
        let (scene, objects) = scene(&plans);
        // A field that no object has is an error.
        let has_extra = plans.iter().any(|plan| plan.extra.is_some());
        prop_assume!(has_extra);
        let heap = scene.open();
        for expression in &expressions {
            let text = expression.text();
            let question = json!({ "question": "find", "class": "assembly/index/*Item", "where": text });
            let answer = ask(&heap, question);
            let found = answer["objects"].as_array().unwrap();
            let mut found: Vec<u64> = found.iter().map(|one| one["address"].as_u64().unwrap()).collect();
            found.sort_unstable();
            let values: Vec<Value> = (0..plans.len()).map(|nth| value(expression, &plans, nth)).collect();
            let expected = objects.iter().zip(&values).filter(|(_, value)| **value == Value::Bool(true));
            let expected: Vec<u64> = expected.map(|(object, _)| object.0.into()).collect();
            prop_assert_eq!(found, expected, "{}", text);
            // The others are false, or counted.
            let failed = answer["where"]["failed"].as_array().unwrap();
            let failed: u64 = failed.iter().map(|one| one["count"].as_u64().unwrap()).sum();
            let missing = values.iter().filter(|value| !matches!(value, Value::Bool(_))).count();
            let without = answer["where"]["withoutField"].as_u64().unwrap();
            prop_assert_eq!(failed + without, missing as u64, "{}", text);
        }
    }
}
