//! The answer to `object`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::parts::joined::PossibleReferences;
use crate::parts::object_name::ObjectName;
use crate::parts::path::Path;
use crate::parts::roots::Root;
use base::frame::Frame;
use heap::{ContainerPage, FieldValue, ObjectState, SizeParts};

/// The answer to `Heap.object`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectAnswer {
    /// Its payload; for a raw or free block, the address after the block's header.
    pub address: u64,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: String,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// The line that allocated it: only if the heap was opened with a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "hidden": true }))]
    pub allocated_at: Option<Frame>,
    /// The bytes that the program asked for: only if the heap was opened with a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "hidden": true }))]
    pub requested_size: Option<u32>,
    /// 0 if the object is not live.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
    /// The immediate dominator: the nearest object that is on every path to this one.
    pub dominator: Option<ObjectName>,
    /// The roots that refer to the object.
    pub roots: Vec<Root>,
    /// The contents of the object, shortened.
    pub preview: Option<String>,
    /// Its fields, by offset.
    pub fields: Vec<FieldValue>,
    /// A page of what a container holds. Absent unless the option `entries` is given, and for objects that are no
    /// containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<ContainerPage>,
    /// As in `FoundObject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// The number of references to the object from live objects; roots are not counted.
    pub referrer_count: u64,
    /// Of heaps that were joined: the slots of JavaScript whose number equals the address, and for which nothing more
    /// speaks. They are not followed. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible_holders: Option<PossibleReferences>,
    /// Of a pinned object in heaps that were joined: the stack of JavaScript that pinned it, the innermost frame
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned_by: Option<Vec<String>>,
    /// Null if no root reaches it.
    pub path: Option<Path>,
}
