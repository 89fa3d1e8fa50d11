//! The references to an object, and why it is alive.

use serde::Serialize;

use super::paths::{Cut, Edge, Edges, ObjectName, Path};
use heap::ObjectState;

/// The references to an object: roots first, then by address and label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Referrers {
    /// The object.
    pub address: u32,
    /// The number of references, roots included.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub referrers: Vec<Edge>,
}

/// Why an object is alive, and which cuts would free it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathAnswer {
    /// The object.
    pub address: u32,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size.
    pub retained_size: u64,
    /// The path from a root; `None` if no root reaches it.
    pub path: Option<Path>,
    /// The references of which each keeps it alive without the others.
    pub independent_referrers: Edges,
    /// The bytes that cutting the one independent reference frees; `None` if there are several.
    pub freed_by_cutting: Option<u64>,
    /// The bytes that cutting all independent references together frees.
    pub freed_by_cutting_all: u64,
    /// The independent reference to the nearest dominator that has only one, and the bytes that cutting it
    /// frees.
    pub cut: Option<Cut>,
    /// The bytes that the same cut frees after the running functions have returned; `None` if the stack does
    /// not keep the object alive.
    pub freed_after_return: Option<u64>,
    /// Its immediate dominator: the nearest object that is on every path to it.
    pub dominator: Option<ObjectName>,
}
