//! The state of an object or a block.

use schemars::JsonSchema;
use serde::Serialize;

/// What is at an address. `raw` and `free` blocks contain no object and have no class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-agent" = { "type": "string" }))]
pub enum ObjectState {
    /// A heap object that a root reaches.
    Live,
    /// A heap object that the collector has not freed yet.
    Garbage,
    /// An object below the heap.
    Static,
    /// A block in use that holds no object.
    Raw,
    /// A block that is not in use.
    Free,
}

impl ObjectState {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Garbage => "garbage",
            Self::Static => "static",
            Self::Raw => "raw",
            Self::Free => "free",
        }
    }
}
