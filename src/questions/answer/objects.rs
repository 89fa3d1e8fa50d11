//! Answers about single objects and the heap as a whole.

use serde::Serialize;

use super::{ObjectName, Path, Root};
use crate::questions::accounting::AccountingJson;

/// What a part of the memory is.
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

/// The value of a field. 64-bit integers and what is no finite number are strings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A null reference, or a field that cannot be read.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of at most 32 bits.
    Integer(i64),
    /// A finite f32.
    Single(f32),
    /// A finite f64.
    Double(f64),
    /// Anything else.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            // Debug writes large numbers with an exponent.
            Self::Single(value) => write!(f, "{value:?}"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldValue {
    /// Its name in the source, or its offset (`+8`).
    pub name: String,
    /// Its declared type; `?` if that is not known.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value; of a reference the preview of what it refers to.
    pub value: Value,
    /// What it refers to.
    pub address: Option<u32>,
    /// The class of that.
    pub class_name: Option<String>,
}

/// Everything about one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectAnswer {
    /// Its payload; of a raw or free block what follows the block's size.
    pub address: u32,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// What it is.
    pub state: ObjectState,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive; 0 if it is not alive.
    pub retained_size: u32,
    /// The nearest object on every path to it.
    pub dominator: Option<ObjectName>,
    /// The roots that refer to it.
    pub roots: Vec<Root>,
    /// Its contents in a few words.
    pub preview: Option<String>,
    /// Its fields, by offset.
    pub fields: Vec<FieldValue>,
    /// How many live references lead to it, roots not counted.
    pub referrer_count: u64,
    /// How a root reaches it; `None` if none does.
    pub path: Option<Path>,
}

/// The totals of a heap.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Memory size − first block.
    pub total_heap_size: u64,
    /// All live heap objects.
    pub total_live_size: u64,
    /// Where every byte is, and what the collector was doing.
    pub accounting: AccountingJson,
    /// How many objects there are.
    pub objects: ObjectCounts,
    /// How many class names live heap objects have.
    pub classes: u64,
    /// How many roots of each kind there are.
    pub roots: RootCounts,
}

/// Numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObjectCounts {
    /// Heap objects that a root reaches.
    pub live: u64,
    /// Heap objects that no root reaches.
    pub garbage: u64,
    /// Objects below the heap, reachable or not.
    #[serde(rename = "static")]
    pub statics: u64,
}

/// Numbers of roots. Every global, stack word and pin that holds an object counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RootCounts {
    /// Global variables and static fields.
    pub global: u64,
    /// Words of the shadow stack.
    pub stack: u64,
    /// Pinned objects.
    pub pinned: u64,
}

/// Objects that were looked for: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundObjects {
    /// How many there are.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
    pub objects: Vec<FoundObject>,
}

/// An object that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// Its payload.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive.
    pub retained_size: u32,
    /// Its contents in a few words.
    pub preview: Option<String>,
}
