//! The answer about what no root reaches.

use serde::Serialize;

use super::ObjectState;

/// Objects that no root reaches, and raw blocks to which nothing refers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreachable {
    /// The objects.
    pub garbage: Garbage,
    /// The raw blocks.
    pub raw: RawBlocks,
    /// The largest of both, and what they refer to, as a graph; only if that was asked for.
    #[serde(flatten)]
    pub graph: Option<UnreachableGraph>,
}

/// Objects that the collector has not freed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Garbage {
    /// How many there are.
    pub count: u64,
    /// Their blocks.
    pub shallow_size: u64,
    /// The largest classes: shallow size ↓, count ↓, name ↑.
    pub classes: Vec<GarbageClass>,
    /// Those that refer to each other in a circle, or to themselves. The collector frees them like the
    /// others.
    pub cycles: GarbageCycles,
}

/// Unreachable objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GarbageClass {
    /// The class.
    pub class_name: String,
    /// How many there are.
    pub count: u64,
    /// Their blocks.
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
    /// The blocks of these.
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
    /// The blocks of these.
    pub shallow_size: u64,
    /// The objects by class: count ↓, name ↑.
    pub classes: Vec<CycleClass>,
    /// One object of each of the largest cycles, the one with the lowest address: shallow size of the
    /// cycle ↓, count ↓, address ↑.
    pub addresses: Vec<u32>,
}

/// Objects of a class in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CycleClass {
    /// The class.
    pub class_name: String,
    /// How many there are.
    pub count: u64,
}

/// Blocks in use that hold no object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RawBlocks {
    /// How many there are.
    pub count: u64,
    /// Their sizes.
    pub size: u64,
    /// Those to which nothing refers; `None` if the dump has no global values, which could refer to
    /// them.
    pub unreferenced: Option<UnreferencedBlocks>,
}

/// Raw blocks to which nothing refers, as far as a scan can find that out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreferencedBlocks {
    /// How many there are.
    pub count: u64,
    /// Their sizes.
    pub size: u64,
    /// The largest: size ↓, address ↑.
    pub blocks: Vec<RawBlock>,
}

/// A raw block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RawBlock {
    /// What `heap.alloc` returned.
    pub address: u32,
    /// The whole block.
    pub size: u32,
}

/// Unreachable objects and blocks as a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreachableGraph {
    /// The largest unreachable objects and blocks, then the largest objects that these refer to and a
    /// root reaches or that are static.
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
    /// Its class; `None` for a raw block.
    pub class_name: Option<String>,
    /// What it is.
    pub state: ObjectState,
    /// Its block.
    pub shallow_size: u32,
    /// The number of the cycle that it is in. Cycles of the graph are numbered from 0, the largest
    /// first.
    pub cycle: Option<u32>,
}

/// A reference between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreachableEdge {
    /// The position of the node that refers.
    pub from: u32,
    /// The position of the node that it refers to.
    pub to: u32,
    /// What the reference is called, with indexes and keys as `[*]`.
    pub label: String,
}
