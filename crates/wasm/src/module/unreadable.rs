//! What the parser of modules found, as an error of the engine.

use base::error::Error;

/// The error for what the parser found. Not `From`: both types are of other crates.
pub fn unreadable(error: wasmparser::BinaryReaderError) -> Error {
    Error::Module {
        offset: error.offset(),
        message: error
            .message()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    }
}
