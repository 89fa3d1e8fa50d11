//! The errors of this crate.

use base::error::Coded;

/// Why the heap of a native program cannot be read, or cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeError {
    /// A question about types or garbage, which a heap of blocks does not have.
    #[error("a heap of a native program cannot answer {question}: {reason}")]
    NotInNativeHeap {
        /// The question.
        question: &'static str,
        /// What is not known.
        reason: &'static str,
    },
}

impl Coded for NativeError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotInNativeHeap { .. } => "ERR_NOT_IN_NATIVE_HEAP",
        }
    }
}
