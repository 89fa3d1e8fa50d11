//! Categories of objects that a host makes.

use serde::{Deserialize, Serialize};

/// Objects of a host that often keep more alive than a program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Nodes that are not in the document.
    DetachedNodes,
    /// Functions that listen to events.
    EventHandlers,
    /// The variables of functions.
    Contexts,
    /// What the console or an inspector shows.
    Console,
}

impl Category {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::DetachedNodes,
        Self::EventHandlers,
        Self::Contexts,
        Self::Console,
    ];
}
