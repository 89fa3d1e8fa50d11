//! The errors of this crate.

use base::error::Coded;
use base::shown::Shown;

/// Why a heap cannot be joined with that of its host, or a joined heap cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// A file of numbers that cannot be read.
    #[error(
        "cannot read the numbers of the host at line {line}, column {column}: {}; expected the JSON that a capture of both heaps writes; capture them again",
        Shown(message)
    )]
    Numbers {
        /// From 1; 0 if the whole file is meant.
        line: usize,
        /// From 1.
        column: usize,
        /// What was found and expected.
        message: String,
    },
    /// Numbers of another dump.
    #[error(
        "the numbers of the host belong to a dump of {expected_size} bytes with the SHA-256 {}, and this dump has {size} bytes and the SHA-256 {hash}: the files are of two moments, and every holder would be wrong; use the files of one capture",
        Shown(expected_hash)
    )]
    OtherMoment {
        /// The size of the dump that the numbers name.
        expected_size: u64,
        /// Its hash.
        expected_hash: String,
        /// The size of this dump.
        size: u64,
        /// Its hash.
        hash: String,
    },
    /// A heap whose addresses and ids do not fit one space of addresses.
    #[error(
        "the {what} {found} is too large for a heap that is joined with another: expected less than {limit}"
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The first value that is too large.
        limit: u64,
    },
    /// A heap snapshot in place of the dump, or the reverse.
    #[error(
        "a heap can be joined only with a heap snapshot of V8 around it, and {what}: expected a heap dump, and the heap snapshot of its host"
    )]
    WrongKinds {
        /// What was found.
        what: &'static str,
    },
    /// A declared slot that is not in the heaps.
    #[error(
        "the slot {}: {}; expected Class.field=global.property, such as assembly/index/Item.id=host.slots",
        Shown(slot),
        Shown(reason)
    )]
    Slot {
        /// The text of the caller.
        slot: String,
        /// What is wrong.
        reason: String,
    },
}

impl Coded for JoinError {
    fn code(&self) -> &'static str {
        match self {
            Self::Numbers { .. } => "ERR_NUMBERS",
            Self::OtherMoment { .. } => "ERR_NUMBERS_MOMENT",
            Self::TooLarge { .. } => "ERR_HOST_TOO_LARGE",
            Self::WrongKinds { .. } => "ERR_HOST_KIND",
            Self::Slot { .. } => "ERR_HOST_SLOT",
        }
    }
}
