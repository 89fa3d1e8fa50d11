//! The errors of this crate.

use base::error::Coded;

/// Why a module cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstrumentError {
    /// A global that is needed is neither exported nor named.
    #[error(
        "the module neither exports nor names {name}: expected an AssemblyScript or WARPO program with a collector, compiled with names, or a program of C, C++, Rust or Zig"
    )]
    GlobalMissing {
        /// The global's exported name.
        name: &'static str,
    },
    /// A language whose own allocator is not read.
    #[error(
        "this is a program of {language}, whose heap is not read: expected an AssemblyScript or WARPO program, or a program of C, C++, Rust or Zig"
    )]
    HeapUnknown {
        /// The language.
        language: &'static str,
    },
    /// The allocator of a module is not found, or not all of it.
    #[error("cannot profile the allocations of this module: found {found}: expected {expected}")]
    AllocatorMissing {
        /// What was found.
        found: String,
        /// The names that were looked for, and what to do.
        expected: &'static str,
    },
    /// A file with names of functions that cannot be used.
    #[error(
        "cannot use the names of functions: {message}; pass the .symbols file or the JavaScript that Emscripten wrote \
         with this module"
    )]
    Symbols {
        /// What is wrong with it.
        message: String,
    },
}

impl Coded for InstrumentError {
    fn code(&self) -> &'static str {
        match self {
            Self::GlobalMissing { .. } => "ERR_GLOBAL_MISSING",
            Self::HeapUnknown { .. } => "ERR_ALLOCATOR_UNKNOWN",
            Self::AllocatorMissing { .. } => "ERR_ALLOCATOR_MISSING",
            Self::Symbols { .. } => "ERR_SYMBOLS",
        }
    }
}
