//! The errors of this crate.

use base::error::Coded;

/// Why the heap of a native program cannot be read.
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
}

impl Coded for NativeError {
    fn code(&self) -> &'static str {
        match self {
            Self::AllocatorUnknown { .. } => "ERR_ALLOCATOR_UNKNOWN",
        }
    }
}
