//! What a heap snapshot shows.

use serde::Deserialize;

/// What a heap snapshot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HeapSnapshotOptions {
    /// What strings contain, and the keys of maps.
    pub strings: bool,
    /// Garbage too, in a group of its own.
    pub all: bool,
    /// Whether the file of the dump may be mapped. That takes less time; if another process truncates the file
    /// during the export, a signal ends this process.
    pub may_map: bool,
}

impl Default for HeapSnapshotOptions {
    fn default() -> Self {
        Self {
            strings: true,
            all: false,
            may_map: false,
        }
    }
}
