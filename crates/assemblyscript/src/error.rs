//! The errors of this crate.

use base::error::Coded;

/// Why the heap of an AssemblyScript program cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyScriptError {
    /// More references than the memory has words: containers that overlap.
    #[error(
        "more than {limit} references, which is more than the memory has words: several containers refer to the same buffer, so the heap is corrupt or the dump is of another module; capture the dump again and pass the .wasm file that was running"
    )]
    TooManyReferences {
        /// The number of words in the memory.
        limit: u64,
    },
    /// The module is of a compiler whose class ids are others.
    #[error(
        "the module was compiled by AssemblyScript 0.23.1 or older: its collector's code numbers the classes from ArrayBuffer on, not from Object on, so every class would be taken for another"
    )]
    CompilerTooOld,
}

impl Coded for AssemblyScriptError {
    fn code(&self) -> &'static str {
        match self {
            Self::TooManyReferences { .. } => "ERR_TOO_MANY_REFERENCES",
            Self::CompilerTooOld => "ERR_COMPILER_TOO_OLD",
        }
    }
}
