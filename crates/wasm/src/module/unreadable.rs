//! What the parser of modules found, as an error of the engine.

use crate::ModuleError;
use base::error::Error;

/// The error for what the parser found. Not `From`: both types are of other crates.
pub fn unreadable(error: wasmparser::BinaryReaderError) -> Error {
    Error::from(ModuleError::Unreadable {
        offset: error.offset(),
        message: error
            .message()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    })
}
