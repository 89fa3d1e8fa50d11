//! The answers to `paths`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::parts::cut::Cut;
use crate::parts::object_name::ObjectName;
use crate::parts::path::Path;
use crate::parts::references::Edge;
use crate::parts::roots::Root;
use heap::{ObjectState, SizeParts};

/// The answer to `Heap.paths` for one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathAnswer {
    /// The object.
    pub address: u64,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: String,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// Bytes that it keeps alive, with its own.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
    /// The path from a root; `None` if no root reaches it.
    pub path: Option<Path>,
    /// The independent references: each of them keeps the object alive even if all others are cut.
    pub independent_referrers: FirstEdges,
    /// The bytes that cutting the independent reference frees. Null if there are several, because then the object
    /// stays alive.
    pub freed_by_cutting: Option<u64>,
    /// The bytes that cutting all independent references together frees.
    pub freed_by_cutting_all: u64,
    /// The reference to cut: the only independent reference to the object, or else to its nearest dominator that has
    /// only one.
    pub cut: Option<Cut>,
    /// The bytes that the same cut frees after the running functions have returned. Null if the stack keeps none of
    /// these bytes alive.
    pub freed_after_return: Option<u64>,
    /// The immediate dominator: the nearest object that is on every path to this one.
    pub dominator: Option<ObjectName>,
}

/// The beginning of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FirstEdges {
    /// Their number.
    pub total: u64,
    /// The first of them.
    pub edges: Vec<Edge>,
}

/// The answer to `Heap.paths` for several objects: their paths, merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MergedPathsAnswer")]
pub struct MergedPaths {
    /// The classes of the objects.
    pub classes: Vec<String>,
    /// The number of objects.
    pub count: u64,
    /// The sum of their blocks.
    pub shallow_size: u64,
    /// Of heaps that were joined: these bytes by heap, here and below. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shallow_parts: Option<SizeParts>,
    /// The bytes that the objects retain together, each byte counted once. Removing all of them frees at least that
    /// much.
    pub retained_set_size: u64,
    /// Of heaps that were joined: these bytes by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_set_parts: Option<SizeParts>,
    /// The bytes that removing all of them frees.
    pub freed_by_removing_all: u64,
    /// Of heaps that were joined: these bytes by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed_parts: Option<SizeParts>,
    /// Bytes by the kind of root that their paths begin with.
    pub held_by: HeldBy,
    /// The path groups.
    pub tree: Vec<Branch>,
    /// The branches that the limit leaves out.
    pub more: Option<More>,
}

/// Bytes by kind of root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
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
    /// Of a native program: what pointers of the host lead to, as the caller says. Absent for other heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<u64>,
    /// Of a native program: what nothing in the memory refers to. Absent for other heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreferenced: Option<u64>,
}

/// The objects of a set whose paths begin with the same steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// The reference, with indexes and keys as `[*]`; null for the first step.
    pub label: Option<String>,
    /// The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is.
    pub label_text: Option<String>,
    /// The root, for the first step.
    pub root: Option<Root>,
    /// The class at this place of the paths.
    pub class_name: String,
    /// Whether paths return to this place, so that steps are listed once that they repeat, as in a linked list.
    pub folded: bool,
    /// The number of objects of the set in this branch, its children included.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// The fingerprint of the path up to this step.
    pub fingerprint: String,
    /// The next places of the paths.
    pub children: Vec<Branch>,
    /// The branches that the limit leaves out.
    pub more: Option<More>,
}

/// Branches that the limit leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct More {
    /// Their number.
    pub branches: u64,
    /// The number of objects of the set in these branches.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
}
