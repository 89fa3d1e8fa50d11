//! The errors of this crate.

use base::error::Coded;

/// Why the heap of a native program cannot be read, or cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeError {
    /// No allocator whose blocks can be read.
    #[error(
        "found no allocator in this memory: found {found}: expected dlmalloc, as in wasi-libc, emscripten and Rust"
    )]
    AllocatorUnknown {
        /// What was found.
        found: String,
    },
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
            Self::AllocatorUnknown { .. } => "ERR_ALLOCATOR_UNKNOWN",
            Self::NotInNativeHeap { .. } => "ERR_NOT_IN_NATIVE_HEAP",
        }
    }
}
