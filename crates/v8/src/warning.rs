//! What may be wrong about a heap snapshot.

use base::warning::CodedWarning;

/// A finding about a snapshot of V8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SnapshotWarning {
    /// Of a snapshot: long strings, of which V8 writes only the start.
    #[error(
        "{count} string(s) have 1024 characters or more: V8 writes only the start of a long string into a snapshot, so these are not compared, and the savings may be too low"
    )]
    StringsCut {
        /// How many strings there are.
        count: u64,
    },
    /// A heap snapshot that ends too early; the caller asked for what could be read.
    #[error(
        "partial result: the heap snapshot ends at byte {length}, before the end of its texts: objects, references and sizes are complete, but names and texts after this byte are missing, and objects without a name count as one class"
    )]
    TextsCut {
        /// The length of the file.
        length: u64,
    },
    /// A heap snapshot whose ids do not fit into 32 bits.
    #[error(
        "the heap snapshot has ids of 64 bits: its objects are numbered anew, so an id of this answer is none of the program and none of another snapshot; no other number is affected"
    )]
    IdsRenumbered,
}

impl CodedWarning for SnapshotWarning {
    fn code(&self) -> &'static str {
        match self {
            Self::StringsCut { .. } => "WARN_STRINGS_CUT",
            Self::TextsCut { .. } => "WARN_PARTIAL",
            Self::IdsRenumbered => "WARN_IDS_RENUMBERED",
        }
    }
}
