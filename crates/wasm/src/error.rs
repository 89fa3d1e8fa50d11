//! The errors of this crate.

use base::error::Coded;
use base::file_kind::{FileStart, wrong_kind};

/// Why a module cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// Not a module.
    #[error(
        "{}",
        wrong_kind(
            found,
            "a WebAssembly module",
            "\0asm",
            "pass the .wasm file that the dump was taken from"
        )
    )]
    NotAModule {
        /// Its first bytes.
        found: FileStart,
    },
    /// A module that no engine accepts.
    #[error(
        "the module has at least {size} bytes: expected at most 1 GiB, the most that engines accept; pass the .wasm file that the dump was taken from"
    )]
    TooLarge {
        /// How many bytes there are; a pipe may have more.
        size: u64,
    },
    /// A module with a part that cannot be read.
    #[error(
        "cannot read the WebAssembly module at offset {offset}: {message}; pass the .wasm file that the dump was taken from"
    )]
    Unreadable {
        /// The offset in the file.
        offset: u64,
        /// What the parser found.
        message: String,
    },
    /// A module of a kind that is not read.
    #[error("the module has {found}: expected {expected}; {advice}")]
    Kind {
        /// What was found.
        found: &'static str,
        /// What is supported.
        expected: &'static str,
        /// How to get one.
        advice: &'static str,
    },
    /// A module that another one loads into its memory.
    #[error(
        "the module is a side module: it imports __memory_base, and has no allocator of its own; pass the main module, whose memory it uses, and a dump of that one"
    )]
    Side,
    /// A source map that cannot be read.
    #[error(
        "cannot read the source map: {message}; pass the .wasm.map file that the compiler wrote with this module"
    )]
    SourceMap {
        /// What is wrong with it.
        message: String,
    },
    /// The debug information cannot be read.
    #[error(
        "cannot read the debug information at offset {offset:#x} of section debug_info: {message}; compile the module again"
    )]
    DebugInfo {
        /// The offset in the section.
        offset: u64,
        /// What gimli found.
        message: String,
    },
}

impl Coded for ModuleError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotAModule { .. } | Self::Unreadable { .. } => "ERR_MODULE",
            Self::TooLarge { .. } => "ERR_MODULE_TOO_LARGE",
            Self::Kind { .. } | Self::Side => "ERR_MODULE_KIND",
            Self::SourceMap { .. } => "ERR_SOURCE_MAP",
            Self::DebugInfo { .. } => "ERR_DEBUG_INFO",
        }
    }
}
