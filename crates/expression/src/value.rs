//! What an expression is for one object.

use base::units::ObjectIndex;
use heap::Cell;

/// The value of an expression for one object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The object has no such field.
    Absent,
    /// It cannot be computed.
    Failed(Failure),
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
    /// An object, which may be a string.
    Object(ObjectIndex),
    /// A text of the expression or the name of a class, by its number.
    Text(u32),
}

/// Why an expression has no value for an object that has all its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// A value is not in the input.
    Unknown,
    /// A number that is too large.
    Overflow,
    /// A division by zero.
    Division,
    /// Null in place of a value.
    Null,
    /// A value of another type.
    Type,
}

/// All of them, in the order in which they are listed.
pub const FAILURES: [Failure; 5] = [
    Failure::Unknown,
    Failure::Overflow,
    Failure::Division,
    Failure::Null,
    Failure::Type,
];

impl Failure {
    /// As a clause.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Unknown => "a value is not in the input",
            Self::Overflow => "a number is too large",
            Self::Division => "a number is divided by zero",
            Self::Null => "null is in place of a value",
            Self::Type => "a value is of another type",
        }
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Absent => Self::Absent,
            Cell::Unknown => Self::Failed(Failure::Unknown),
            Cell::Null => Self::Null,
            Cell::Bool(value) => Self::Bool(value),
            Cell::Integer(value) => Self::Integer(value),
            Cell::Unsigned(value) => Self::unsigned(value),
            Cell::Double(value) => Self::Double(value),
            Cell::Object(object) => Self::Object(object),
        }
    }
}

impl Value {
    /// An integer.
    pub fn unsigned(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Unsigned(value), Self::Integer)
    }

    /// An integer of any size.
    pub(crate) fn integer(value: i128) -> Self {
        let signed = i64::try_from(value).map(Self::Integer);
        let unsigned = || u64::try_from(value).map(Self::Unsigned);
        signed
            .or_else(|_| unsigned())
            .unwrap_or(Self::Failed(Failure::Overflow))
    }

    /// The value as an integer, if it is one.
    pub(crate) fn as_integer(self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(value.into()),
            Self::Unsigned(value) => Some(value.into()),
            _ => None,
        }
    }

    /// Whether there is no value.
    pub(crate) fn is_missing(self) -> bool {
        matches!(self, Self::Absent | Self::Failed(_))
    }

    /// Why there is no condition: the value is none.
    pub fn failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Null => Failure::Null,
            _ => Failure::Type,
        }
    }

    /// The failure of a value that is not of the type that an operation needs.
    pub(crate) fn mistaken(self) -> Self {
        match self {
            Self::Absent | Self::Failed(_) => self,
            Self::Null => Self::Failed(Failure::Null),
            _ => Self::Failed(Failure::Type),
        }
    }
}
