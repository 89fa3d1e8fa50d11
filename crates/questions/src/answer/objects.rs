//! Answers about single objects and the heap as a whole.

use serde::Serialize;

use super::paths::{ObjectName, Path, Root};
use crate::accounting::AccountingJson;
use heap::Category;
pub use heap::{FieldValue, ObjectState, Value};

/// Everything about one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectAnswer {
    /// Its payload; for a raw or free block, the address after the block's header.
    pub address: u32,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size; 0 if it is not alive.
    pub retained_size: u64,
    /// Its immediate dominator: the nearest object that is on every path to it.
    pub dominator: Option<ObjectName>,
    /// The roots that refer to it.
    pub roots: Vec<Root>,
    /// A short form of its contents.
    pub preview: Option<String>,
    /// Its fields, by offset.
    pub fields: Vec<FieldValue>,
    /// Of a snapshot: the number of references from a root of the page, as DevTools counts them; greater by
    /// 100,000,000 for what only V8 reaches. Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// The number of references to it from live objects, without roots.
    pub referrer_count: u64,
    /// The path from a root; `None` if no root reaches it.
    pub path: Option<Path>,
}

/// The totals of a heap.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Memory size − first block; absent for a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_heap_size: Option<u64>,
    /// All live heap objects.
    pub total_live_size: u64,
    /// What every byte is used for, and the state of the collector; absent for a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounting: Option<AccountingJson>,
    /// The numbers of objects.
    pub objects: ObjectCounts,
    /// The number of different class names of live heap objects.
    pub classes: u64,
    /// The number of roots of each kind.
    pub roots: RootCounts,
    /// What only objects of each category keep alive; absent for a dump.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<CategorySum>,
}

/// What only objects of a category keep alive, and these themselves. An object can be in several categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CategorySum {
    /// The category.
    pub category: Category,
    /// The number of objects.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub shallow_size: u64,
}

/// Numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
}

/// The objects that were found: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundObjects {
    /// Their number.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub objects: Vec<FoundObject>,
}

/// An object that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// Its payload.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size.
    pub retained_size: u64,
    /// A short form of its contents.
    pub preview: Option<String>,
    /// Of a snapshot: as in [`ObjectAnswer`]. Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}
