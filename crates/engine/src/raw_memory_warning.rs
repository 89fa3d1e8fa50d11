//! What raw memory came without, and which numbers that may make wrong.

use base::shown::Shown;
use base::warning::CodedWarning;

/// A value that the caller did not give with raw memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RawMemoryWarning {
    /// Mutable i32 globals without a value, although others have one.
    #[error(
        "{count} mutable i32 global(s) have no value, the first is {}: their initial values were taken, so objects that only they keep alive are missing",
        Shown(name)
    )]
    GlobalsAssumed {
        /// The first of them.
        name: String,
        /// Their number.
        count: u64,
    },
    /// No value of the stack pointer.
    #[error(
        "the stack pointer has no value: the stack was taken to be empty, so objects that only the stack keeps alive are missing"
    )]
    StackAssumedEmpty,
}

impl CodedWarning for RawMemoryWarning {
    fn code(&self) -> &'static str {
        match self {
            Self::GlobalsAssumed { .. } => "WARN_RAW_GLOBALS_ASSUMED",
            Self::StackAssumedEmpty => "WARN_RAW_STACK_ASSUMED_EMPTY",
        }
    }
}
