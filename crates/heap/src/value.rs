//! A value in a heap that is no reference: of a field, an element, a key.

use schemars::JsonSchema;
use std::fmt;

use serde::Serialize;

/// The value of a field. 64-bit integers, NaN and infinities are strings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum ShownValue {
    /// A null reference, or a field that cannot be read.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of at most 32 bits.
    Integer(i64),
    /// A finite f32.
    Single(f32),
    /// A finite f64.
    Double(f64),
    /// Anything else.
    Text(String),
}

impl fmt::Display for ShownValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            // Debug writes large numbers with an exponent.
            Self::Single(value) => write!(f, "{value:?}"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}
