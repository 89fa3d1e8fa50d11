//! The answer about unreachable memory.

use schemars::JsonSchema;
use serde::Serialize;

use super::entries::UnreferencedObjects;
use heap::ObjectState;

/// The answer to `Heap.unreachable`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UnreachableAnswer")]
pub struct Unreachable {
    /// Objects that no root reaches: the collector has not freed them yet.
    pub garbage: Garbage,
    /// Blocks of `heap.alloc`.
    pub raw: RawBlocks,
    /// Of a program of C, C++, Rust or Zig: blocks to which nothing in the memory leads. The host or a local variable
    /// may hold them. Absent for other heaps; such a program has neither garbage nor raw blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "description": "of C, C++, Rust or Zig: blocks to which nothing in the memory leads, by entries" }))]
    pub unreferenced: Option<UnreferencedObjects>,
    /// A graph of the largest of both and the objects to which they refer; only if the question asks for it.
    #[serde(flatten)]
    #[schemars(skip)]
    pub graph: Option<UnreachableGraph>,
}

/// Objects that the collector has not freed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Garbage {
    /// Their number.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The largest classes: shallow size ↓, count ↓, name ↑. The rest of the sums above belongs to other classes.
    pub classes: Vec<GarbageClass>,
    /// The strongly connected components of two or more objects, and single objects that refer to themselves. The
    /// collector frees cycles like all other garbage, so they are not a leak.
    pub cycles: GarbageCycles,
}

/// Unreachable objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct GarbageClass {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// Their number.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
}

/// The cycles among unreachable objects: the strongly connected components of two or more objects, and
/// single objects that refer to themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct GarbageCycles {
    /// The number of cycles.
    pub total: u64,
    /// The number of objects in all cycles.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The largest groups: shallow size ↓, count ↓, names ↑. The rest of the sums above belongs to other groups.
    pub groups: Vec<CycleGroup>,
}

/// All cycles whose objects are of the same classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CycleGroup {
    /// The number of cycles.
    pub cycles: u64,
    /// The number of objects in all of them.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The objects by class: count ↓, name ↑.
    pub classes: Vec<CycleClass>,
    /// The lowest address of each of the largest cycles, the largest first.
    pub addresses: Vec<u64>,
    /// These addresses as text.
    pub address_texts: Vec<String>,
}

/// Objects of a class in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CycleClass {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// Their number.
    pub count: u64,
}

/// Blocks in use that hold no object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct RawBlocks {
    /// Their number.
    pub count: u64,
    /// Their sizes.
    pub size: u64,
    /// Raw blocks into which no word points. The words of live objects, static data, globals, the stack, memory that
    /// the allocator does not own, and other referenced raw blocks are searched. This is an estimate, and a warning
    /// says so: a number, or the old contents of memory, can look like an address; and the host, a local variable or
    /// an i64 global can hold an address. Null if the dump has no global values.
    pub unreferenced: Option<UnreferencedBlocks>,
}

/// Raw blocks to which nothing seems to refer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct UnreferencedBlocks {
    /// Their number.
    pub count: u64,
    /// Their sizes.
    pub size: u64,
    /// The largest: size ↓, address ↑.
    pub blocks: Vec<RawBlock>,
}

/// A raw block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct RawBlock {
    /// The address that `heap.alloc` returned.
    pub address: u64,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The whole block.
    pub size: u32,
}

/// The graph in an answer to `Heap.unreachable` with `maxNodes`: the largest unreachable objects and unreferenced raw
/// blocks. If these are fewer than `maxNodes`, the largest live and static objects to which they refer are added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreachableGraph {
    /// Size ↓, class name ↑, address ↑.
    pub nodes: Vec<UnreachableNode>,
    /// All references between these objects; at most 16 per node of `maxNodes`. Raw blocks have none.
    pub edges: Vec<UnreachableEdge>,
}

/// An object or a raw block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreachableNode {
    /// Its payload.
    pub address: u64,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: String,
    /// Null for a raw block.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// The number of the object's cycle; null if it is in none. The cycles of the graph are numbered from 0, the
    /// largest first.
    pub cycle: Option<u32>,
}

/// A reference between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreachableEdge {
    /// The index in `nodes` of the object that has the reference.
    pub from: u32,
    /// The index in `nodes` of the object to which it refers.
    pub to: u32,
    /// The reference, with indexes and keys as `[*]`.
    pub label: String,
}
