//! Findings that do not stop an analysis, but may make a number wrong.

use std::fmt::Display;

use crate::mismatch::Mismatch;
use crate::shown::Shown;
use crate::units::ObjectAddress;

/// A finding that may make a number wrong. Its `Display` text says what was found, and in which
/// direction numbers may be wrong. Like the text of an error, it states facts. The command line, the API and the servers add what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// The dump was written without global values.
    #[error(
        "the dump has no global values (the module has {expected} mutable i32 globals): objects that only globals keep alive are missing from every number"
    )]
    GlobalsMissing {
        /// How many values a complete dump of this module holds.
        expected: u32,
    },
    /// The memory of the second dump is smaller than that of the first.
    #[error(
        "the heap of the second dump has {after} bytes, and the heap of the first has {before}: a memory never shrinks, so the dumps are swapped, or they are from two runs of the program, where the same address can be another object"
    )]
    MemoryShrank {
        /// Its size in the first dump, in bytes.
        before: u64,
        /// Its size in the second.
        after: u64,
    },
    /// The dump was not taken from the module; the caller asked to continue.
    #[error(
        "the dump was taken from another module, or from another build of it: {mismatch}; every number and name may be wrong"
    )]
    ModuleMismatch {
        /// What differs.
        mismatch: Mismatch,
    },
    /// The heap is damaged; the caller asked for what could be read.
    #[error(
        "partial result: {damage}; the heap after this address was not read, so its objects, and the objects that only they keep alive, are missing"
    )]
    Partial {
        /// What is wrong, and where.
        damage: String,
    },
    /// The address of a question is inside an object or a block.
    #[error("address {address} is inside the {what} at {start}: the answer is about this {what}")]
    AddressInside {
        /// Where it was looked for.
        address: ObjectAddress,
        /// `object` or the kind of the block.
        what: &'static str,
        /// The address of the object or block.
        start: ObjectAddress,
    },
    /// References that a graph leaves out, because it has a limited number of edges.
    #[error("{count} references between the nodes of the graph are left out: ask for more nodes")]
    EdgesLeftOut {
        /// Their number.
        count: u64,
    },
    /// What another crate says, such as a source of its heap: a code, and its own words. See [`CodedWarning`].
    #[error("{1}")]
    OfSource(&'static str, String),
    /// More warnings like the ones before it, which are left out.
    #[error(
        "{count} more warnings with the code {code} are not listed; they have the same consequences as the listed ones"
    )]
    More {
        /// Their code.
        code: &'static str,
        /// Their number.
        count: u64,
    },
    /// A warning about one of several dumps.
    #[error("{}: {warning}", Shown(dump))]
    InDump {
        /// A path, or the name of an argument.
        dump: String,
        /// The warning.
        warning: Box<Warning>,
    },
}

/// What one crate warns of. Others see only its code and its text.
pub trait CodedWarning: Display {
    /// A stable name for programs.
    fn code(&self) -> &'static str;
}

impl<W: CodedWarning> From<W> for Warning {
    fn from(warning: W) -> Self {
        Self::OfSource(warning.code(), warning.to_string())
    }
}

impl Warning {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::GlobalsMissing { .. } => "WARN_GLOBALS_MISSING",
            Self::MemoryShrank { .. } => "WARN_MEMORY_SHRANK",
            Self::ModuleMismatch { .. } => "WARN_MODULE_MISMATCH",
            Self::Partial { .. } => "WARN_PARTIAL",
            Self::AddressInside { .. } => "WARN_ADDRESS_INSIDE",
            Self::EdgesLeftOut { .. } => "WARN_EDGES_LEFT_OUT",
            Self::OfSource(code, _) => code,
            Self::More { .. } => "WARN_MORE",
            Self::InDump { warning, .. } => warning.code(),
        }
    }
}
