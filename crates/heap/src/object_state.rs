//! The state of an object or a block.

use serde::Serialize;

/// The state of an object or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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
