//! Computes an expression for many objects at a time.

use std::cmp::Ordering;

use super::budget::Allowance;
use super::compare::{calculate, negate, number_order};
use super::compile::Compiled;
use super::members::MemberSet;
use super::node::{BuiltIn, Comparison, Node, TextTest};
use super::scope::Scope;
use super::texts::{TextOrValue, TextReader, test};
use super::value::{Failure, Value};
use base::bits::Bits;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Cell, FieldReader, Heap};

/// The number of objects whose values are computed at once.
pub const BATCH: usize = 1 << 12;
/// The number of objects to which others refer that are read before it is checked how much work that was: one of them may
/// have as many references as the heap.
const HOLDERS: usize = 1 << 6;

/// Computes one expression. Each thread has its own.
pub struct Evaluator<'h> {
    compiled: &'h Compiled,
    heap: &'h Heap,
    new: Option<&'h Bits>,
    reader: Box<dyn FieldReader + 'h>,
    texts: TextReader<'h>,
    cells: Vec<Cell>,
    units: [Vec<u16>; 2],
    /// The container that was asked for last, and its members.
    last: Option<(ObjectIndex, MemberSet)>,
}

impl<'h> Evaluator<'h> {
    /// For an expression that was compiled for the same scope.
    ///
    /// # Errors
    /// Those of reading fields.
    pub fn new(compiled: &'h Compiled, scope: Scope<'h>) -> Result<Self> {
        let Scope {
            heap,
            source,
            new,
            control,
            budget,
            ..
        } = scope;
        Ok(Self {
            compiled,
            heap,
            new,
            reader: source.fields().reader(&compiled.fields, control)?,
            texts: TextReader {
                constants: &compiled.texts,
                allowance: Allowance::new(budget, compiled.option),
            },
            cells: Vec::new(),
            units: Default::default(),
            last: None,
        })
    }

    /// The values for some objects.
    ///
    /// # Errors
    /// [`ExpressionError::Where`](crate::ExpressionError::Where) if it reads too much, and those of reading fields.
    pub fn values(&mut self, objects: &[ObjectIndex]) -> Result<Vec<Value>> {
        self.evaluate(&self.compiled.node, objects)
    }

    /// A text value, cut to a number of characters, and whether it is complete; `None` for another value.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub fn text(&mut self, value: Value, most: usize) -> Result<Option<(String, bool)>> {
        let [units, _] = &mut self.units;
        Ok(
            match self.texts.read(&mut *self.reader, value, most, units)? {
                TextOrValue::Text(length) => {
                    Some((String::from_utf16_lossy(units), length <= most))
                }
                TextOrValue::Other(_) => None,
            },
        )
    }

    fn evaluate(&mut self, node: &Node, objects: &[ObjectIndex]) -> Result<Vec<Value>> {
        Ok(match node {
            Node::Constant(value) => columns::repeated(*value, objects.len())?,
            Node::BuiltIn(built_in) => columns::collected(
                objects
                    .iter()
                    .map(|&object| self.built_in(*built_in, object)),
            )?,
            Node::Field(object, field) => self.field(object, *field, objects)?,
            Node::Has(object, field) => {
                let mut values = self.field(object, *field, objects)?;
                for value in &mut values {
                    *value = Value::Bool(*value != Value::Absent);
                }
                values
            }
            Node::Size(operand) => {
                let mut values = self.evaluate(operand, objects)?;
                for value in &mut values {
                    *value = self.size(*value)?;
                }
                values
            }
            Node::Not(operand) => self.each(operand, objects, |value| match value {
                Value::Bool(value) => Value::Bool(!value),
                other => other.mistaken(),
            })?,
            Node::Negate(operand) => self.each(operand, objects, negate)?,
            Node::And(both) => self.logic(both, false, objects)?,
            Node::Or(both) => self.logic(both, true, objects)?,
            Node::Condition(parts) => self.condition(parts, objects)?,
            Node::Calculate(operation, both) => self.pairs(both, objects, |_, left, right| {
                Ok(calculate(*operation, left, right))
            })?,
            Node::Compare(comparison, both) => self.pairs(both, objects, |this, left, right| {
                this.compare(*comparison, left, right)
            })?,
            Node::Test(kind, both) => self.pairs(both, objects, |this, text, part| {
                this.test(*kind, text, part)
            })?,
            Node::InSet(element, set) => {
                let mut values = self.evaluate(element, objects)?;
                let set = &self.compiled.sets[*set];
                for value in &mut values {
                    let [units, _] = &mut self.units;
                    *value = set.has(&mut *self.reader, &self.texts, *value, units)?;
                }
                values
            }
            Node::InContainer(both) => self.pairs(both, objects, Self::is_member)?,
        })
    }

    fn built_in(&self, built_in: BuiltIn, object: ObjectIndex) -> Value {
        let heap = self.heap;
        match built_in {
            BuiltIn::This => Value::Object(object),
            BuiltIn::ClassName => {
                let first = self.compiled.first_class.unwrap_or_default();
                Value::Text(first + heap.objects.class_slots[object.at()])
            }
            BuiltIn::ShallowSize => Value::unsigned(heap.shallow_size(object)),
            BuiltIn::RetainedSize => Value::unsigned(heap.retained_size(object)),
            BuiltIn::Address => Value::unsigned(heap.address(object).0),
            BuiltIn::IsNew => Value::Bool(self.new.is_some_and(|new| new.contains(object.0))),
        }
    }

    /// A field of the objects that an expression is.
    fn field(
        &mut self,
        object: &Node,
        field: usize,
        objects: &[ObjectIndex],
    ) -> Result<Vec<Value>> {
        if let Node::BuiltIn(BuiltIn::This) = object {
            self.read(field, objects)?;
            return columns::collected(self.cells.drain(..).map(Value::from));
        }
        let mut values = self.evaluate(object, objects)?;
        let mut holders = columns::with_capacity(values.len())?;
        holders.extend(values.iter().filter_map(|value| match value {
            Value::Object(object) => Some(*object),
            _ => None,
        }));
        // Neighbours often refer to one object.
        holders.dedup();
        for holders in holders.chunks(HOLDERS) {
            self.read(field, holders)?;
        }
        let mut read = holders.iter().zip(self.cells.drain(..)).peekable();
        for value in &mut values {
            *value = match value {
                Value::Object(object) => {
                    read.next_if(|&(holder, _)| holder != object);
                    let cell = read.peek();
                    cell.map_or(Value::Absent, |&(_, cell)| cell.into())
                }
                Value::Failed(failure) => Value::Failed(*failure),
                _ => Value::Absent,
            };
        }
        Ok(values)
    }

    /// Adds a field of some objects to the cells.
    fn read(&mut self, field: usize, objects: &[ObjectIndex]) -> Result<()> {
        self.reader.fields(field, objects, &mut self.cells)?;
        self.texts.allowance.check()
    }

    fn size(&mut self, value: Value) -> Result<Value> {
        Ok(match value {
            Value::Object(object) => {
                let size = self.reader.size(object)?;
                self.texts.allowance.check()?;
                size.map_or(Value::Failed(Failure::Unknown), Value::unsigned)
            }
            Value::Text(_) => {
                let length = self.texts.length_of(value).unwrap_or_default();
                Value::unsigned(length as u64)
            }
            other => other.mistaken(),
        })
    }

    fn each(
        &mut self,
        operand: &Node,
        objects: &[ObjectIndex],
        compute: impl Fn(Value) -> Value,
    ) -> Result<Vec<Value>> {
        let mut values = self.evaluate(operand, objects)?;
        for value in &mut values {
            *value = compute(*value);
        }
        Ok(values)
    }

    fn pairs(
        &mut self,
        [left, right]: &[Node; 2],
        objects: &[ObjectIndex],
        mut compute: impl FnMut(&mut Self, Value, Value) -> Result<Value>,
    ) -> Result<Vec<Value>> {
        let mut values = self.evaluate(left, objects)?;
        let others = self.evaluate(right, objects)?;
        for (value, other) in values.iter_mut().zip(others) {
            *value = match (*value, other) {
                (left, _) if left.is_missing() => left,
                (_, right) if right.is_missing() => right,
                (left, right) => compute(self, left, right)?,
            };
        }
        Ok(values)
    }

    /// `&&` and `||`. One side that decides suffices, even if the other has no value.
    fn logic(
        &mut self,
        [left, right]: &[Node; 2],
        decides: bool,
        objects: &[ObjectIndex],
    ) -> Result<Vec<Value>> {
        let mut values = self.evaluate(left, objects)?;
        let is_open = |value: &Value| *value != Value::Bool(decides);
        let undecided = chosen(objects, &values, is_open)?;
        let mut others = self.evaluate(right, &undecided)?.into_iter();
        for value in values.iter_mut().filter(|value| is_open(value)) {
            let other = others.next().unwrap_or(Value::Absent);
            *value = match (*value, other) {
                (_, Value::Bool(other)) if other == decides => Value::Bool(decides),
                (Value::Bool(_), Value::Bool(_)) => Value::Bool(!decides),
                (Value::Bool(_), other) => other.mistaken(),
                (value, _) => value.mistaken(),
            };
        }
        Ok(values)
    }

    fn condition(
        &mut self,
        [condition, yes, no]: &[Node; 3],
        objects: &[ObjectIndex],
    ) -> Result<Vec<Value>> {
        let mut values = self.evaluate(condition, objects)?;
        let is = |wanted: bool| move |value: &Value| *value == Value::Bool(wanted);
        let [for_yes, for_no] = [
            chosen(objects, &values, is(true))?,
            chosen(objects, &values, is(false))?,
        ];
        let mut yes = self.evaluate(yes, &for_yes)?.into_iter();
        let mut no = self.evaluate(no, &for_no)?.into_iter();
        for value in &mut values {
            *value = match *value {
                Value::Bool(true) => yes.next().unwrap_or(Value::Absent),
                Value::Bool(false) => no.next().unwrap_or(Value::Absent),
                other => other.mistaken(),
            };
        }
        Ok(values)
    }

    fn compare(&mut self, comparison: Comparison, left: Value, right: Value) -> Result<Value> {
        let is_wanted = match comparison {
            Comparison::Equal | Comparison::NotEqual => {
                return Ok(match self.is_equal(left, right)? {
                    Value::Bool(equal) => Value::Bool(equal == (comparison == Comparison::Equal)),
                    other => other,
                });
            }
            Comparison::Less => Ordering::is_lt,
            Comparison::LessOrEqual => Ordering::is_le,
            Comparison::Greater => Ordering::is_gt,
            Comparison::GreaterOrEqual => Ordering::is_ge,
        };
        let is_number =
            |value: Value| value.as_integer().is_some() || matches!(value, Value::Double(_));
        if is_number(left) && is_number(right) {
            // NaN has no order.
            return Ok(Value::Bool(
                number_order(left, right).is_some_and(is_wanted),
            ));
        }
        let most = self.texts.most_compared(left, right);
        let [first, second] = &mut self.units;
        for (value, units) in [(left, first), (right, second)] {
            if let TextOrValue::Other(other) =
                self.texts.read(&mut *self.reader, value, most, units)?
            {
                return Ok(other);
            }
        }
        let [first, second] = &self.units;
        Ok(Value::Bool(is_wanted(first.cmp(second))))
    }

    /// Whether two values are equal. Those of different types are not.
    fn is_equal(&mut self, left: Value, right: Value) -> Result<Value> {
        let is_equal = match (left, right) {
            (Value::Null, Value::Null) => true,
            (Value::Null, _) | (_, Value::Null) => false,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Object(left), Value::Object(right)) if left == right => true,
            (Value::Object(object), other) | (other, Value::Object(object))
                if other.as_integer().is_some() =>
            {
                other.as_integer() == Some(self.heap.address(object).0.into())
            }
            (Value::Object(_) | Value::Text(_), Value::Object(_) | Value::Text(_)) => {
                return self.are_texts_equal(left, right);
            }
            _ => number_order(left, right) == Some(Ordering::Equal),
        };
        Ok(Value::Bool(is_equal))
    }

    fn are_texts_equal(&mut self, left: Value, right: Value) -> Result<Value> {
        let is_text = |reader: &dyn FieldReader, value: Value| match value {
            Value::Object(object) => reader.is_text(object),
            _ => true,
        };
        if !is_text(&*self.reader, left) || !is_text(&*self.reader, right) {
            return Ok(Value::Bool(false));
        }
        let most = self.texts.most_compared(left, right);
        let mut lengths = [0; 2];
        let values = [left, right]
            .into_iter()
            .zip(&mut self.units)
            .zip(&mut lengths);
        for ((value, units), length) in values {
            match self.texts.read(&mut *self.reader, value, most, units)? {
                TextOrValue::Text(found) => *length = found,
                TextOrValue::Other(other) => return Ok(other),
            }
        }
        let [first, second] = &self.units;
        Ok(Value::Bool(lengths[0] == lengths[1] && first == second))
    }

    fn test(&mut self, kind: TextTest, text: Value, part: Value) -> Result<Value> {
        let [first, second] = &mut self.units;
        if let (TextTest::Contains, Some(length)) = (kind, self.texts.length_of(text)) {
            self.texts.allowance.take(length as u64)?;
        }
        if let TextOrValue::Other(other) =
            self.texts
                .read(&mut *self.reader, part, usize::MAX, second)?
        {
            return Ok(other);
        }
        let most = match kind {
            TextTest::StartsWith => second.len(),
            TextTest::EndsWith | TextTest::Contains => usize::MAX,
        };
        Ok(
            match self.texts.read(&mut *self.reader, text, most, first)? {
                TextOrValue::Text(_) => Value::Bool(test(kind, first, second)),
                TextOrValue::Other(other) => other,
            },
        )
    }

    /// Whether a value is in the container that another value is.
    fn is_member(&mut self, element: Value, container: Value) -> Result<Value> {
        let Value::Object(container) = container else {
            return Ok(container.mistaken());
        };
        let is_last = matches!(&self.last, Some((last, _)) if *last == container);
        if !is_last {
            let set = MemberSet::read(&mut *self.reader, &self.texts, container)?;
            self.last = Some((container, set));
        }
        let [units, _] = &mut self.units;
        match &self.last {
            Some((_, set)) => set.has(&mut *self.reader, &self.texts, element, units),
            None => Ok(Value::Absent),
        }
    }
}

/// The objects with a value that is wanted.
fn chosen(
    objects: &[ObjectIndex],
    values: &[Value],
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<Vec<ObjectIndex>> {
    let mut chosen = columns::with_capacity(objects.len())?;
    let pairs = objects.iter().zip(values);
    chosen.extend(
        pairs
            .filter(|(_, value)| is_wanted(value))
            .map(|(object, _)| *object),
    );
    Ok(chosen)
}
