//! The members of a container or of a list, for `in`.

use std::cmp::Ordering;

use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{FieldReader, Member, Membership};

use super::budget::MEMBER;
use super::compare::canonical;
use super::texts::{TextOrValue, TextReader};
use super::value::{Failure, Value};

/// A set of members, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemberSet {
    /// Numbers, booleans, objects that are no strings, and null: ascending.
    plain: Vec<Key>,
    /// Texts, ascending: where each begins and ends in `units`.
    texts: Vec<(usize, usize)>,
    units: Vec<u16>,
    /// The length of the longest text.
    longest: usize,
    /// Whether a number that is not in the set may be a member all the same.
    lacks_numbers: bool,
    /// Whether that goes for booleans and null, too.
    lacks_constants: bool,
    /// Whether the contents of a text, and so whether a text is a member, are not known.
    lacks_texts: bool,
    /// Whether it is a container.
    is_container: bool,
}

/// A value with an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Null,
    Bool(bool),
    Integer(i64),
    /// An integer that is too large for a signed one.
    Unsigned(u64),
    /// The bits of a number that is no integer.
    Double(u64),
    Object(ObjectIndex),
}

impl Key {
    fn new(value: Value) -> Option<Self> {
        match canonical(value) {
            Value::Null => Some(Self::Null),
            Value::Bool(value) => Some(Self::Bool(value)),
            Value::Double(value) if value.is_nan() => None,
            Value::Double(value) => Some(Self::Double(value.to_bits())),
            Value::Object(object) => Some(Self::Object(object)),
            Value::Integer(value) => Some(Self::Integer(value)),
            Value::Unsigned(value) => Some(Self::Unsigned(value)),
            Value::Absent | Value::Failed(_) | Value::Text(_) => None,
        }
    }
}

impl MemberSet {
    /// The members of a container.
    pub(crate) fn read(
        reader: &mut dyn FieldReader,
        texts: &TextReader<'_>,
        container: ObjectIndex,
    ) -> Result<Self> {
        let mut set = Self {
            is_container: true,
            ..Self::default()
        };
        let mut strings = Vec::new();
        let membership = reader.members(container, &mut |member| {
            texts.allowance.take(MEMBER)?;
            match member {
                Member::Cell(cell) => match Value::from(cell) {
                    Value::Object(object) => columns::push(&mut strings, object)?,
                    value => set.add(value)?,
                },
                Member::Text(units) => set.add_text(units)?,
            }
            Ok(true)
        })?;
        let mut units = Vec::new();
        for object in strings {
            if reader.is_text(object) {
                match texts.read(reader, Value::Object(object), usize::MAX, &mut units)? {
                    TextOrValue::Text(_) => set.add_text(&units)?,
                    TextOrValue::Other(_) => set.lacks_texts = true,
                }
            } else {
                set.add(Value::Object(object))?
            }
        }
        match membership {
            Membership::Complete => {}
            Membership::WithoutNumbers => set.lacks_numbers = true,
            Membership::OnlyObjects => (set.lacks_numbers, set.lacks_constants) = (true, true),
            Membership::NoContainer => set.is_container = false,
        }
        set.sort();
        Ok(set)
    }

    /// The members of a list of an expression.
    pub(crate) fn of_list(texts: &[Box<[u16]>], values: &[Value]) -> Result<Self> {
        let mut set = Self {
            is_container: true,
            ..Self::default()
        };
        for &value in values {
            match value {
                Value::Text(number) => set.add_text(&texts[number as usize])?,
                value => set.add(value)?,
            }
        }
        set.sort();
        Ok(set)
    }

    fn add(&mut self, value: Value) -> Result<()> {
        match Key::new(value) {
            Some(key) => columns::push(&mut self.plain, key),
            None => Ok(()),
        }
    }

    fn add_text(&mut self, units: &[u16]) -> Result<()> {
        let start = self.units.len();
        self.longest = self.longest.max(units.len());
        columns::extend(&mut self.units, units)?;
        columns::push(&mut self.texts, (start, self.units.len()))
    }

    fn sort(&mut self) {
        let units = &self.units;
        let text = |&(start, end): &(usize, usize)| &units[start..end];
        self.texts
            .sort_unstable_by(|left, right| text(left).cmp(text(right)));
        self.plain.sort_unstable();
    }

    /// Whether the set is of an object that is a container.
    pub(crate) fn is_container(&self) -> bool {
        self.is_container
    }

    /// Whether a value is a member: a boolean, or what is missing.
    pub(crate) fn has(
        &self,
        reader: &mut dyn FieldReader,
        texts: &TextReader<'_>,
        value: Value,
        units: &mut Vec<u16>,
    ) -> Result<Value> {
        if value.is_missing() {
            return Ok(value);
        }
        if !self.is_container {
            return Ok(Value::Failed(Failure::Type));
        }
        // A text that is longer than all of them is none of them.
        let most = self.longest + 1;
        if let TextOrValue::Text(_) = texts.read(reader, value, most, units)? {
            let found = self.texts.binary_search_by(|&(start, end)| -> Ordering {
                self.units[start..end].cmp(units)
            });
            return Ok(unless(self.lacks_texts, found.is_ok()));
        }
        let is_text = matches!(value, Value::Object(object) if reader.is_text(object));
        if is_text {
            return Ok(Value::Failed(Failure::Unknown));
        }
        let key = Key::new(value);
        let is_member = key.is_some_and(|key| self.plain.binary_search(&key).is_ok());
        let may_be_missing = match key {
            Some(Key::Integer(_) | Key::Unsigned(_) | Key::Double(_)) => self.lacks_numbers,
            Some(Key::Null | Key::Bool(_)) => self.lacks_constants,
            Some(Key::Object(_)) | None => false,
        };
        Ok(unless(may_be_missing, is_member))
    }
}

/// Whether something is a member; if the members are not all known, nothing is known not to be one.
fn unless(is_incomplete: bool, is_member: bool) -> Value {
    if is_member || !is_incomplete {
        Value::Bool(is_member)
    } else {
        Value::Failed(Failure::Unknown)
    }
}
