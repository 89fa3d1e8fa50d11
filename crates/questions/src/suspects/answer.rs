//! The answer to `suspects`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::parts::cut::Cut;
use crate::parts::path::Path;
use heap::SizeParts;

/// The answer to `Heap.suspects`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SuspectsAnswer")]
pub struct Suspects {
    /// All live heap objects.
    pub total_live_size: u64,
    /// Of heaps that were joined: the same by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_live_parts: Option<SizeParts>,
    /// The least number of bytes that a suspect retains, or by which it has grown.
    pub threshold: u64,
    /// The suspects, largest first.
    pub suspects: Vec<Suspect>,
}

/// The kind of a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline, extend("x-agent" = { "type": "string" }))]
pub enum SuspectKind {
    /// One object.
    Object,
    /// All top-level objects of a class together.
    Class,
    /// A path group that grew.
    Growth,
}

/// Something that retains a large part of the heap, or has grown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suspect {
    /// One object; all top-level objects of a class together; or objects with equal paths whose number or size grew.
    pub kind: SuspectKind,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
    /// The address, if the suspect is one object.
    pub address: Option<u64>,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: Option<String>,
    /// The number of its objects.
    pub count: u64,
    /// Bytes that it keeps alive, with its own.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
    /// With an earlier heap: the retained size there.
    pub retained_size_before: Option<u64>,
    /// The suspect's part of the live bytes, from 0 to 1.
    pub share: f64,
    /// The object that immediately dominates many small ones.
    pub accumulation: Option<Accumulation>,
    /// The path from a root.
    pub path: Option<Path>,
    /// The reference to cut.
    pub cut: Option<Cut>,
    /// All of the above as one paragraph.
    #[schemars(extend("x-agent" = { "description": "all of this as a paragraph for a ticket" }))]
    pub text: String,
}

/// The object that immediately dominates many small objects of a suspect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Accumulation {
    /// The object.
    pub address: u64,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
    /// The field that refers to this object, such as `assembly/server/PriceFeed.listeners`.
    pub owner: Option<String>,
    /// The objects of one place of which it is the largest, if there are several: what accumulates is in all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// The objects that it dominates, by class.
    pub children: Vec<AccumulatedClass>,
}

/// The objects of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct Together {
    /// Their number.
    pub count: u64,
    /// What is freed at least if the program lets go of all of them.
    pub retained_size: u64,
}

/// Objects of one class that accumulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AccumulatedClass {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// Their number.
    pub count: u64,
    /// Their retained size.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
}
