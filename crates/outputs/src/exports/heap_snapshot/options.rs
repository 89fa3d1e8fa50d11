//! What a heap snapshot shows.

use schemars::JsonSchema;
use serde::Deserialize;

/// What a heap snapshot of Chrome's format shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HeapSnapshotOptions {
    /// Name strings by what they contain, and map entries by their keys (default: true).
    pub strings: bool,
    /// Add garbage, in a group of its own (default: false).
    pub all: bool,
    /// Whether the file of the dump may be mapped. That takes less time; if another process truncates the file
    /// during the export, a signal ends this process.
    #[schemars(skip)]
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
