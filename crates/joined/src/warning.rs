//! What may be wrong about two heaps that were joined.

use base::warning::CodedWarning;

/// A finding about the files of one moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JoinWarning {
    /// A heap snapshot that has no memory of the size of the dump's.
    #[error(
        "no memory in the heap snapshot of the host has {memory_size} bytes, which is the size of the memory in the dump: the two files are of other moments or programs, and then the holders in JavaScript are wrong"
    )]
    HostMoment {
        /// The size of the memory in the dump.
        memory_size: u64,
    },
    /// A dump that was joined with a heap snapshot, but without the numbers that this does not show.
    #[error(
        "the numbers of JavaScript were not given with the heap snapshot of the host: what holds {count} pinned object(s) by a number in an array, Map, Set or closure is not seen, so paths to them begin at the pin, and what JavaScript retains of the program may be too low"
    )]
    HostNumbersMissing {
        /// The pinned objects without a holder.
        count: u64,
    },
}

impl CodedWarning for JoinWarning {
    fn code(&self) -> &'static str {
        match self {
            Self::HostMoment { .. } => "WARN_HOST_MOMENT",
            Self::HostNumbersMissing { .. } => "WARN_HOST_NUMBERS_MISSING",
        }
    }
}
