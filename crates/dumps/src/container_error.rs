//! Why a container of memory, or a compressed file, cannot be read.

use base::error::Coded;
use base::shown::Shown;

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
        "the coredump contains no memory: found {found}; expected the data of the memory, as wasmtime writes it; coredumps of WasmEdge have only frames, so capture a dump instead"
    )]
    CoredumpWithoutMemory {
        /// What is there instead.
        found: &'static str,
    },
    /// No instance of a coredump is of the module.
    #[error(
        "no instance in the coredump has the globals of the module that was passed: expected the module that was running; the instances are: {}",
        Shown(instances)
    )]
    CoredumpModule {
        /// The instances, each with its number and its module.
        instances: String,
    },
    /// Several instances of a coredump are of the module, and none of them was chosen.
    #[error(
        "{found} instance(s) in the coredump have the globals of the module that was passed, and {}: expected the number of one; the instances are: {}",
        chosen(*asked),
        Shown(instances)
    )]
    CoredumpInstance {
        /// How many instances have the globals of the module: 1 or more.
        found: usize,
        /// The number that the caller chose, which is that of none of them.
        asked: Option<u32>,
        /// The instances, each with its number, its module, and whether it fits.
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
        "the file has {size} bytes: expected raw memory, which is a whole number of pages of 65536 bytes and at most 4 GiB"
    )]
    RawSize {
        /// The size of the file.
        size: u64,
    },
}

fn chosen(asked: Option<u32>) -> String {
    asked.map_or_else(
        || "none was chosen".to_owned(),
        |number| format!("instance {number} is not one of them"),
    )
}

impl Coded for ContainerError {
    fn code(&self) -> &'static str {
        match self {
            Self::Coredump { .. } => "ERR_COREDUMP",
            Self::CoredumpWithoutMemory { .. } => "ERR_COREDUMP_WITHOUT_MEMORY",
            Self::CoredumpModule { .. } => "ERR_COREDUMP_MODULE",
            Self::CoredumpInstance { .. } => "ERR_COREDUMP_INSTANCE",
            Self::Compressed { .. } => "ERR_COMPRESSED",
            Self::OutOfProportion { .. } => "ERR_OUT_OF_PROPORTION",
            Self::RawSize { .. } => "ERR_RAW_MEMORY",
        }
    }
}
