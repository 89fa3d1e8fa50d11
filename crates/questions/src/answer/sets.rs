//! Answers about sets of objects: merged paths, the dominator tree, suspects.

use serde::Serialize;

use super::paths::{Cut, Path, Root};

/// The paths to a set of objects, merged into a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedPaths {
    /// The classes of the objects, by name.
    pub classes: Vec<String>,
    /// The number of objects.
    pub count: u64,
    /// The sum of their blocks.
    pub shallow_size: u64,
    /// The bytes that they retain together, each byte counted once. Removing all of them frees at least that
    /// much.
    pub retained_set_size: u64,
    /// The bytes that removing all of them frees.
    pub freed_by_removing_all: u64,
    /// Their bytes by the kind of root that reaches them first.
    pub held_by: HeldBy,
    /// The path groups.
    pub tree: Vec<Branch>,
    /// The branches that the limit leaves out.
    pub more: Option<More>,
}

/// Bytes by kind of root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeldBy {
    /// Reached from a global.
    pub global: u64,
    /// Reached from the stack, but from no global.
    pub stack: u64,
    /// Reached from pins only.
    pub pinned: u64,
    /// Of a snapshot: reached from V8's own roots only. Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<u64>,
}

/// The objects of a set whose paths begin with the same steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// The label of the reference; `None` for the first object of a path.
    pub label: Option<String>,
    /// The root of the path, if this is its first object.
    pub root: Option<Root>,
    /// The class at this place of the path.
    pub class_name: String,
    /// The number of objects of the set in this branch, its children included.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The fingerprint of the path up to here.
    pub fingerprint: String,
    /// The next places of the paths.
    pub children: Vec<Branch>,
    /// The branches that the limit leaves out.
    pub more: Option<More>,
}

/// The branches that the limit leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct More {
    /// Their number.
    pub branches: u64,
    /// The number of objects of the set in them.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
}

/// The objects that an object immediately dominates: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dominators {
    /// The object; `None` for the whole heap.
    pub address: Option<u32>,
    /// Their number.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub children: Vec<DominatorChild>,
}

/// An object in the dominator tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DominatorChild {
    /// Its payload.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size.
    pub retained_size: u64,
}

/// The objects that an object immediately dominates, by class: retained size ↓, count ↓, name ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DominatorGroups {
    /// The object; `None` for the whole heap.
    pub address: Option<u32>,
    /// The number of classes.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub groups: Vec<DominatorGroup>,
}

/// Objects of one class in the dominator tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DominatorGroup {
    /// The class.
    pub class_name: String,
    /// Their number.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// Their retained size.
    pub retained_size: u64,
}

/// The objects and classes that retain the most, and where the bytes accumulate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspects {
    /// All live heap objects.
    pub total_live_size: u64,
    /// The least number of bytes that a suspect retains, or by which it has grown.
    pub threshold: u64,
    /// The suspects, largest first.
    pub suspects: Vec<Suspect>,
}

/// The kind of a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuspectKind {
    /// One object.
    Object,
    /// All top-level objects of a class together.
    Class,
    /// A path group that grew.
    Growth,
}

/// Something that retains a large part of the heap, or has grown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspect {
    /// Its kind.
    pub kind: SuspectKind,
    /// Its class.
    pub class_name: String,
    /// Its payload, if it is one object.
    pub address: Option<u32>,
    /// The number of its objects.
    pub count: u64,
    /// Its retained size.
    pub retained_size: u64,
    /// Its retained size in the earlier heap; `None` without an earlier heap.
    pub retained_size_before: Option<u64>,
    /// Its part of the live bytes, from 0 to 1.
    pub share: f64,
    /// Where the bytes are.
    pub accumulation: Option<Accumulation>,
    /// The path from a root.
    pub path: Option<Path>,
    /// The reference to cut.
    pub cut: Option<Cut>,
    /// All of the above as one paragraph.
    pub text: String,
}

/// The object that immediately dominates many small objects of a suspect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accumulation {
    /// The object.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// The field that refers to it, such as `assembly/server/PriceFeed.listeners`.
    pub owner: Option<String>,
    /// The objects that it dominates, by class.
    pub children: Vec<AccumulatedClass>,
}

/// Objects of one class that accumulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccumulatedClass {
    /// The class.
    pub class_name: String,
    /// Their number.
    pub count: u64,
    /// Their retained size.
    pub retained_size: u64,
}
