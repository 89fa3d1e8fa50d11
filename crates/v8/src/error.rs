//! The errors of this crate.

use base::error::Coded;
use base::file_kind::{FileStart, wrong_kind};
use base::shown::Shown;

/// Why a heap snapshot cannot be read, or cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Not a heap snapshot.
    #[error(
        "{}",
        wrong_kind(
            found,
            "a heap snapshot of V8",
            "{\"snapshot\"",
            "pass a .heapsnapshot file of Node or Chrome, or a heap dump with its module"
        )
    )]
    NotASnapshot {
        /// Its first bytes.
        found: FileStart,
    },
    /// A heap snapshot that cannot be read.
    #[error(
        "cannot read the heap snapshot at offset {offset}: {}; take the snapshot again",
        Shown(message)
    )]
    Unreadable {
        /// The offset in the file.
        offset: u64,
        /// What was found and expected.
        message: String,
    },
    /// A heap snapshot that ends too early.
    #[error(
        "the heap snapshot ends at byte {length}, but expected {expected}: the file is truncated, or still being written; take the snapshot again"
    )]
    Truncated {
        /// The length of the file.
        length: u64,
        /// What should follow.
        expected: String,
    },
    /// A heap snapshot that ends before its graph is complete; the caller asked for what could be read.
    #[error(
        "the heap snapshot ends at byte {length}, before the end of its {}: nothing in it says what is alive and what keeps it alive, so no part of it can be read; take the snapshot again",
        cut_part(*nodes)
    )]
    GraphCut {
        /// The length of the file.
        length: u64,
        /// The number of its nodes, if they are complete.
        nodes: Option<u64>,
    },
    /// A heap snapshot together with a module that names none of its objects.
    #[error(
        "this is a heap snapshot of V8, and no program in it is of this module, or the module has no objects of WasmGC to name"
    )]
    OtherModule,
}

impl Coded for SnapshotError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotASnapshot { .. } | Self::Unreadable { .. } => "ERR_SNAPSHOT",
            Self::Truncated { .. } | Self::GraphCut { .. } => "ERR_SNAPSHOT_TRUNCATED",
            Self::OtherModule => "ERR_SNAPSHOT_WITH_MODULE",
        }
    }
}

fn cut_part(nodes: Option<u64>) -> String {
    match nodes {
        Some(nodes) => format!("references (its {nodes} objects are complete)"),
        None => "objects".to_owned(),
    }
}
