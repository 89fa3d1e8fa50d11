//! Reads fields, texts and members of many objects as values, for questions with an expression.

use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;

/// What a field, an element or a key is in one object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// The object has no such field.
    Absent,
    /// There is one, but its value is not in the input, or of no type that has a value.
    Unknown,
    /// No object.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// An integer that is too large for a signed one.
    Unsigned(u64),
    /// A floating-point number.
    Double(f64),
    /// An object; strings are objects.
    Object(ObjectIndex),
}

/// What a field holds in all objects of some classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// That differs, or is not known before the objects are read.
    Any,
    /// A boolean.
    Bool,
    /// A number.
    Number,
    /// An object or null.
    Reference,
}

impl FieldType {
    /// The type of a field that has one type in some classes and another one in others.
    pub fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Any }
    }
}

/// A member of a container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Member<'m> {
    /// A value.
    Cell(Cell),
    /// The name of a property, in UTF-16 code units.
    Text(&'m [u16]),
}

/// Takes what `in` tests of a container, one by one: elements of an array, keys of a map, values of a set, names of
/// properties. It says whether to go on.
pub type MemberSink<'s> = dyn FnMut(Member<'_>) -> Result<bool> + 's;

/// What is known of the members of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// All were passed on, or the sink stopped.
    Complete,
    /// Numbers are not in the input: a number that was not passed on may still be a member.
    WithoutNumbers,
    /// Numbers, booleans, null and undefined are not in the input, so that one of them may still be a member.
    OnlyObjects,
    /// The object is no container whose members are known.
    NoContainer,
}

/// Reads values. Errors are those of [`ObjectReader::label`](super::ObjectReader::label). By default, no object is a
/// string or a container.
pub trait FieldReader {
    /// Adds what the field with this number is in each of some objects.
    ///
    /// # Errors
    /// Those of reading.
    fn fields(&mut self, field: usize, objects: &[ObjectIndex], into: &mut Vec<Cell>)
    -> Result<()>;

    /// Whether an object is a string.
    fn is_text(&self, _object: ObjectIndex) -> bool {
        false
    }

    /// Replaces `into` with the first UTF-16 code units of a string, at most `most`. Its length; `None` for another
    /// object, and for a string whose contents are not known.
    ///
    /// # Errors
    /// Those of reading.
    fn text(
        &mut self,
        _object: ObjectIndex,
        _most: usize,
        into: &mut Vec<u16>,
    ) -> Result<Option<usize>> {
        into.clear();
        Ok(None)
    }

    /// The number of members of a container, or of UTF-16 code units of a string; `None` if it is not known.
    ///
    /// # Errors
    /// Those of reading.
    fn size(&mut self, _object: ObjectIndex) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Passes on the members of a container.
    ///
    /// # Errors
    /// Those of reading, and those of `sink`.
    fn members(&mut self, _object: ObjectIndex, _sink: &mut MemberSink<'_>) -> Result<Membership> {
        Ok(Membership::NoContainer)
    }
}

/// The fields of the objects of classes. By default, there are none.
pub trait ClassFields {
    /// What the field with this name holds in the objects of these class slots; `None` if none of them has such a
    /// field.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    fn type_of(
        &self,
        _name: &str,
        _class_slots: &[bool],
        _control: &Control,
    ) -> Result<Option<FieldType>> {
        Ok(None)
    }

    /// Names of fields of the objects of these class slots, to suggest one; not all if there are many.
    fn names(&self, _class_slots: &[bool]) -> Vec<String> {
        Vec::new()
    }

    /// Reads the fields with these names of many objects, which ascend. Cancelled work reads nothing more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    fn reader(&self, _names: &[String], _control: &Control) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(NoFields))
    }
}

/// For a source that knows no fields.
pub(super) struct NoFields;

impl ClassFields for NoFields {}

impl FieldReader for NoFields {
    fn fields(&mut self, _: usize, objects: &[ObjectIndex], into: &mut Vec<Cell>) -> Result<()> {
        into.extend(objects.iter().map(|_| Cell::Absent));
        Ok(())
    }
}
