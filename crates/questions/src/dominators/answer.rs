//! The answers to `dominators`.

use schemars::JsonSchema;
use serde::Serialize;

use heap::SizeParts;

/// The answer to `Heap.dominators`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DominatorsAnswer")]
pub struct Dominators {
    /// The object; null for the whole heap.
    pub address: Option<u64>,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: Option<String>,
    /// Their number.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// What it dominates immediately.
    pub children: Vec<DominatorChild>,
}

/// An object in the dominator tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DominatorChild {
    /// Its payload.
    pub address: u64,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Bytes that it keeps alive, with its own.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
}

/// The answer to `Heap.dominators` by class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DominatorGroupsAnswer")]
pub struct DominatorGroups {
    /// The object; null for the whole heap.
    pub address: Option<u64>,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: Option<String>,
    /// The number of classes.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// What it dominates immediately, by class.
    pub groups: Vec<DominatorGroup>,
}

/// Objects of one class in the dominator tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DominatorGroup {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// Their number.
    pub count: u64,
    /// The sum of the sizes of their blocks.
    pub shallow_size: u64,
    /// Of heaps that were joined: these sizes by heap.
    #[serde(skip)]
    pub shallow_parts: Option<SizeParts>,
    /// Their retained size.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
}
