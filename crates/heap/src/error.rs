//! The errors of this crate.

use base::error::Coded;
use base::units::Address;

/// What is wrong with a heap, of whichever source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeapError {
    /// A block header that contradicts the allocator's rules.
    #[error(
        "the heap is corrupt at address {address}: found {found}, expected {expected}; capture the dump again; if the error remains, look for code that writes outside its objects"
    )]
    Corrupt {
        /// The block.
        address: Address,
        /// What was found there.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// No allocator whose blocks can be read.
    #[error(
        "found no allocator that can be read: found {found}: expected that of AssemblyScript or WARPO, dlmalloc, as in wasi-libc, emscripten and Rust, or emmalloc of emscripten"
    )]
    AllocatorUnknown {
        /// What was found.
        found: String,
    },
    /// The dump was changed or replaced after it was opened.
    #[error(
        "the dump was changed or replaced after it was opened: found {found}; open it again, and do not change the file while the heap is open"
    )]
    DumpChanged {
        /// What is there now.
        found: String,
    },
}

impl Coded for HeapError {
    fn code(&self) -> &'static str {
        match self {
            Self::Corrupt { .. } => "ERR_HEAP_CORRUPT",
            Self::AllocatorUnknown { .. } => "ERR_ALLOCATOR_UNKNOWN",
            Self::DumpChanged { .. } => "ERR_DUMP_CHANGED",
        }
    }
}
