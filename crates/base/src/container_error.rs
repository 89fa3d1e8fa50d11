//! Why a container of memory, or a compressed file, cannot be read.

use crate::error::Error;
use crate::shown::Shown;

/// Why memory cannot be taken out of a file that is not a heap dump.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// A coredump with a part that cannot be read.
    #[error(
        "cannot read the coredump at offset {offset}: {}; expected a coredump of wasmtime 14 or newer; take it again",
        Shown(message)
    )]
    Coredump {
        /// The offset in the file.
        offset: u64,
        /// What was found.
        message: String,
    },
    /// A coredump that has frames only.
    #[error(
        "the coredump contains no memory: found {found}; expected the data of the memory, as wasmtime writes it; coredumps of WasmEdge have only frames, so capture a dump with the code in docs/hosts.md instead"
    )]
    CoredumpWithoutMemory {
        /// What is there instead.
        found: &'static str,
    },
    /// No instance of a coredump is of the module, or several are.
    #[error(
        "{found} instance(s) of the coredump have the globals of the module: expected one; the instances are: {}; {}",
        Shown(instances),
        if *found == 0 { "pass the module that was running" } else { "choose one with --coredump-instance (coredumpInstance in the API)" }
    )]
    CoredumpInstance {
        /// How many instances have the globals of the module.
        found: usize,
        /// All instances, each with its number and its module.
        instances: String,
    },
    /// A compressed file with a part that cannot be read.
    #[error(
        "cannot decompress the {format} file after {size} bytes of its contents: {}; the file is damaged or truncated",
        Shown(message)
    )]
    Compressed {
        /// The name of the format.
        format: &'static str,
        /// How many bytes could be read.
        size: u64,
        /// What the decoder found.
        message: String,
    },
    /// More memory than a file of this size may stand for.
    #[error(
        "{what} has {at_least} bytes or more, which is out of proportion to the {length} bytes of the file: expected at most {limit}"
    )]
    OutOfProportion {
        /// What was about to be allocated.
        what: &'static str,
        /// The number of bytes that is declared or was found.
        at_least: u64,
        /// The length of the file.
        length: u64,
        /// The most that is allowed for it.
        limit: u64,
    },
    /// Raw memory that is no memory.
    #[error(
        "the file has {size} bytes: expected raw memory, which is a whole number of pages of 65536 bytes and at most 4 GiB; without --raw (raw in the API), heap dumps and coredumps are recognised"
    )]
    RawSize {
        /// The size of the file.
        size: u64,
    },
}

impl ContainerError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Coredump { .. } => "ERR_COREDUMP",
            Self::CoredumpWithoutMemory { .. } => "ERR_COREDUMP_WITHOUT_MEMORY",
            Self::CoredumpInstance { .. } => "ERR_COREDUMP_INSTANCE",
            Self::Compressed { .. } => "ERR_COMPRESSED",
            Self::OutOfProportion { .. } => "ERR_OUT_OF_PROPORTION",
            Self::RawSize { .. } => "ERR_RAW_MEMORY",
        }
    }
}

impl From<ContainerError> for Error {
    fn from(error: ContainerError) -> Self {
        Self::Container(error)
    }
}
