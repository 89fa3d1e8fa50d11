//! The answer to `summary`.

use schemars::JsonSchema;
use serde::Serialize;

use super::accounting::AccountingJson;
use base::trap::Trap;
use heap::{Category, JoinedSums};

/// The answer to `Heap.summary`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SummaryAnswer")]
pub struct Summary {
    /// Absent for a heap snapshot of V8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_heap_size: Option<u64>,
    /// All live heap objects, and `outsideSize`.
    pub total_live_size: u64,
    /// Of a heap snapshot of Node 26, Chrome 144 and newer: the bytes outside of V8's heap that are of no object, which
    /// DevTools counts as well. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_size: Option<u64>,
    /// Of a program of C, C++, Rust or Zig: what nothing in the memory leads to. Absent for other heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreferenced: Option<UnreferencedCounts>,
    /// Absent for a heap snapshot of V8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounting: Option<AccountingJson>,
    /// Heap objects, live and not, and objects in static memory. A heap snapshot of V8 has only live ones.
    pub objects: ObjectCounts,
    /// The number of different class names of live heap objects.
    pub classes: u64,
    /// The number of globals and stack words that refer to an object, and of pinned objects. Of a heap snapshot of
    /// V8: `global` counts the roots of the page or the program, `system` those of V8 itself.
    pub roots: RootCounts,
    /// Of a heap snapshot of V8: what only objects of each category keep alive, these objects included. An object can
    /// be in several categories. Objects of no size do not count. Absent for a dump.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-agent" = { "description": "of a heap snapshot of V8: what only objects of each category keep alive" }))]
    pub categories: Vec<CategorySum>,
    /// The sums of two heaps that were joined. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "description": "of a dump with its host: both heaps, and the pinned objects by what holds them" }))]
    pub joined: Option<Box<JoinedSums>>,
    /// The trap at which the memory was taken. Absent for what is no coredump.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "description": "of a coredump: the functions that were running, the innermost first" }))]
    pub trap: Option<Trap>,
}

/// What only objects of a category keep alive, and these themselves. An object can be in several categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CategorySum {
    /// The category.
    pub category: Category,
    /// The number of objects.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub shallow_size: u64,
}

/// Blocks to which nothing in the memory leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct UnreferencedCounts {
    /// Their number.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub shallow_size: u64,
    /// The single blocks and cycles among them to which no other of them refers.
    pub entries: u64,
}

/// Numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ObjectCounts {
    /// Heap objects that a root reaches.
    pub live: u64,
    /// Heap objects that no root reaches; absent for a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub garbage: Option<u64>,
    /// Objects below the heap, reachable or not; absent for a snapshot.
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    pub statics: Option<u64>,
}

/// Numbers of roots: globals and stack words that refer to an object, and pinned objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RootCounts {
    /// Global variables and static fields.
    pub global: u64,
    /// Words of the shadow stack.
    pub stack: u64,
    /// Pinned objects.
    pub pinned: u64,
    /// Of a snapshot: V8's own roots. Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<u64>,
    /// Of a native program: what pointers of the host lead to, as the caller says. Absent for other heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<u64>,
    /// Of a native program: what nothing in the memory refers to. Absent for other heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreferenced: Option<u64>,
}
