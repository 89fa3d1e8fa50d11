//! Categories of objects that a host makes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Objects that often keep more alive than a program needs: DOM nodes that are not in the document, functions that
/// listen to events, the variables of functions, and what the console or an inspector shows. The same objects as in
/// the filters of DevTools: functions that listen to events are those that a browser calls through a
/// `V8EventListener`, so listeners of Node's `EventEmitter` are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
