//! The errors of this crate.

use base::error::Coded;
use base::file_kind::{FileStart, wrong_kind};
use base::units::Address;

/// Why a dump cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DumpError {
    /// The file ends before something that must be there.
    #[error(
        "{}; capture the dump again",
        end_of_file(what, *offset, offset + needed, *length)
    )]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Its offset in the file.
        offset: u64,
        /// Its size in bytes.
        needed: u64,
        /// The length of the file.
        length: u64,
    },
    /// Not a dump file.
    #[error(
        "{}",
        wrong_kind(found, "a heap dump", "ASHD", "capture a dump of the running program")
    )]
    NotADump {
        /// Its first bytes.
        found: FileStart,
    },
    /// A dump format that this version does not read.
    #[error(
        "dump format version {found} at offset 4: expected version 2; write the dump with a version 2 writer"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// A boundary in the header that lies outside the memory.
    #[error(
        "{name} at offset {offset} is {value}, but the memory in this dump has {memory_size} bytes: expected {name} inside it; the dump is damaged or truncated"
    )]
    Boundary {
        /// The field's name.
        name: &'static str,
        /// The field's offset in the file.
        offset: u64,
        /// As the dump has it.
        value: Address,
        /// The size of the memory in bytes.
        memory_size: u64,
    },
    /// Boundaries in the header that contradict each other.
    #[error(
        "{name} at offset {offset} is {value}, which is above __heap_base at offset 12, {heap_base}: expected {name} at or below it, because static data and the shadow stack are below the heap; the dump is damaged, or its writer swapped the fields"
    )]
    BoundaryOrder {
        /// The field's name.
        name: &'static str,
        /// The field's offset in the file.
        offset: u64,
        /// As the dump has it.
        value: Address,
        /// The heap base.
        heap_base: Address,
    },
    /// More memory than a 32-bit module can have.
    #[error(
        "the memory in this dump has {memory_size} bytes: expected at most 4 GiB, the most that a wasm32 memory can hold; capture the dump again"
    )]
    TooLarge {
        /// The size of the memory in bytes.
        memory_size: u64,
    },
}

/// Where a file ends too early.
fn end_of_file(what: &str, offset: u64, end: u64, length: u64) -> String {
    if length == 0 {
        return "the file is empty: its writer was stopped, or the disk is full".to_owned();
    }
    format!(
        "the dump ends at byte {length}, but {what} needs bytes {offset} to {end}: the file is truncated"
    )
}

impl Coded for DumpError {
    fn code(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "ERR_DUMP_TRUNCATED",
            Self::NotADump { .. } => "ERR_DUMP_MAGIC",
            Self::Version { .. } => "ERR_DUMP_VERSION",
            Self::Boundary { .. } => "ERR_DUMP_BOUNDARY",
            Self::BoundaryOrder { .. } => "ERR_DUMP_BOUNDARY_ORDER",
            Self::TooLarge { .. } => "ERR_DUMP_TOO_LARGE",
        }
    }
}
