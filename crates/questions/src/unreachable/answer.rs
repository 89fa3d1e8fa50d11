//! The answer about unreachable memory.

use serde::Serialize;

use heap::ObjectState;

/// Objects that no root reaches, and raw blocks to which nothing refers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreachable {
    /// The objects.
    pub garbage: Garbage,
    /// The raw blocks.
    pub raw: RawBlocks,
    /// A graph of the largest of both and the objects to which they refer; only if the question asks for it.
    #[serde(flatten)]
    pub graph: Option<UnreachableGraph>,
}

/// Objects that the collector has not freed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Garbage {
    /// Their number.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The largest classes: shallow size ↓, count ↓, name ↑.
    pub classes: Vec<GarbageClass>,
    /// Objects that refer to each other in a cycle, or to themselves. The collector frees them like the
    /// others.
    pub cycles: GarbageCycles,
}

/// Unreachable objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GarbageCycles {
    /// How many cycles there are.
    pub total: u64,
    /// How many objects they have.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The largest groups of cycles of the same classes: shallow size ↓, count ↓, names ↑.
    pub groups: Vec<CycleGroup>,
}

/// All cycles whose objects are of the same classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CycleGroup {
    /// How many cycles there are.
    pub cycles: u64,
    /// How many objects they have.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The objects by class: count ↓, name ↑.
    pub classes: Vec<CycleClass>,
    /// The object with the lowest address of each of the largest cycles. Order: shallow size of the cycle ↓,
    /// count ↓, address ↑.
    pub addresses: Vec<u32>,
    /// These addresses as text.
    pub address_texts: Vec<String>,
}

/// Objects of a class in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CycleClass {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// Their number.
    pub count: u64,
}

/// Blocks in use that hold no object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RawBlocks {
    /// Their number.
    pub count: u64,
    /// Their sizes.
    pub size: u64,
    /// The blocks to which nothing refers; `None` if the dump has no global values, because globals could
    /// refer to them.
    pub unreferenced: Option<UnreferencedBlocks>,
}

/// Raw blocks to which nothing seems to refer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreferencedBlocks {
    /// Their number.
    pub count: u64,
    /// Their sizes.
    pub size: u64,
    /// The largest: size ↓, address ↑.
    pub blocks: Vec<RawBlock>,
}

/// A raw block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RawBlock {
    /// The address that `heap.alloc` returned.
    pub address: u32,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The whole block.
    pub size: u32,
}

/// Unreachable objects and blocks as a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreachableGraph {
    /// The largest unreachable objects and blocks, then the largest live and static objects to which they
    /// refer.
    pub nodes: Vec<UnreachableNode>,
    /// The references between these objects.
    pub edges: Vec<UnreachableEdge>,
}

/// An object or a block of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreachableNode {
    /// Its payload.
    pub address: u32,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// Its class; `None` for a raw block.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// The number of its cycle; `None` if it is in none. The cycles of the graph are numbered from 0, the
    /// largest first.
    pub cycle: Option<u32>,
}

/// A reference between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreachableEdge {
    /// The index of the node that has the reference.
    pub from: u32,
    /// The index of the node to which it refers.
    pub to: u32,
    /// The label of the reference, with indexes and keys as `[*]`.
    pub label: String,
}
