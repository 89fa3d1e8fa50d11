//! Answers about sets of objects: merged paths, the dominator tree, suspects.

use serde::Serialize;

use super::{Cut, Path, Root};

/// The paths to a set of objects, merged into a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedPaths {
    /// The classes of the objects, by name.
    pub classes: Vec<String>,
    /// How many objects there are.
    pub count: u64,
    /// The sum of their blocks.
    pub shallow_size: u64,
    /// What they keep alive, each byte counted once: at least what removing all of them frees.
    pub retained_set_size: u64,
    /// What removing all of them frees.
    pub freed_by_removing_all: u64,
    /// Their bytes by the kind of root that reaches them first.
    pub held_by: HeldBy,
    /// The path groups.
    pub tree: Vec<Branch>,
    /// What is too small for the limit.
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
}

/// Objects of a set whose paths begin alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// What the reference is called; `None` for the first object of a path.
    pub label: Option<String>,
    /// Where the path begins, if this is its first object.
    pub root: Option<Root>,
    /// The class at this place of the path.
    pub class_name: String,
    /// How many objects of the set are here and below.
    pub count: u64,
    /// Their blocks.
    pub shallow_size: u64,
    /// The fingerprint of the path up to here.
    pub fingerprint: String,
    /// The next places of the paths.
    pub children: Vec<Branch>,
    /// What is too small for the limit.
    pub more: Option<More>,
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct More {
    /// How many branches.
    pub branches: u64,
    /// How many objects of the set they have.
    pub count: u64,
    /// The blocks of these.
    pub shallow_size: u64,
}

/// What an object dominates immediately: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dominators {
    /// The object; `None` for the whole heap.
    pub address: Option<u32>,
    /// How many there are.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
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
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive.
    pub retained_size: u32,
}

/// What an object dominates immediately, by class: retained size ↓, count ↓, name ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DominatorGroups {
    /// The object; `None` for the whole heap.
    pub address: Option<u32>,
    /// How many classes there are.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
    pub groups: Vec<DominatorGroup>,
}

/// Objects of one class in the dominator tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DominatorGroup {
    /// The class.
    pub class_name: String,
    /// How many there are.
    pub count: u64,
    /// Their blocks.
    pub shallow_size: u64,
    /// What they keep alive.
    pub retained_size: u64,
}

/// What retains the most, and where it accumulates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspects {
    /// All live heap objects.
    pub total_live_size: u64,
    /// What a suspect retains, or has grown by, at least.
    pub threshold: u64,
    /// The suspects, largest first.
    pub suspects: Vec<Suspect>,
}

/// What a suspect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuspectKind {
    /// One object.
    Object,
    /// All top objects of a class together.
    Class,
    /// A path group that grew.
    Growth,
}

/// Something that retains a large part of the heap, or has grown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspect {
    /// What it is.
    pub kind: SuspectKind,
    /// Its class.
    pub class_name: String,
    /// Its payload, if it is one object.
    pub address: Option<u32>,
    /// How many objects it is.
    pub count: u64,
    /// What it keeps alive.
    pub retained_size: u64,
    /// What it kept alive before; `None` without a heap to compare with.
    pub retained_size_before: Option<u64>,
    /// Its part of the live bytes, from 0 to 1.
    pub share: f64,
    /// Where the bytes are.
    pub accumulation: Option<Accumulation>,
    /// How a root reaches it.
    pub path: Option<Path>,
    /// What to cut.
    pub cut: Option<Cut>,
    /// All that as a paragraph.
    pub text: String,
}

/// The object below which what a suspect retains is spread over many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accumulation {
    /// The object.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// The place by its owner's field: `assembly/server/PriceFeed.listeners`.
    pub owner: Option<String>,
    /// What it dominates, by class.
    pub children: Vec<AccumulatedClass>,
}

/// Objects of one class that accumulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccumulatedClass {
    /// The class.
    pub class_name: String,
    /// How many there are.
    pub count: u64,
    /// What they keep alive.
    pub retained_size: u64,
}
