//! What a program uses the objects of a class for, as the report colours them.

use serde::Serialize;

/// A rough use of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassUse {
    /// Defined by the program, or by a library that is none of the language's own.
    Program,
    /// A collection of the language's own library.
    Container,
    /// Text, and the memory in which containers keep their elements.
    Contents,
}
