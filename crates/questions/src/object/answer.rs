//! The answer to `object`.

use serde::Serialize;

use crate::parts::object_name::ObjectName;
use crate::parts::path::Path;
use crate::parts::roots::Root;
use base::frame::Frame;
use heap::{ContainerPage, FieldValue, ObjectState};

/// Everything about one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectAnswer {
    /// Its payload; for a raw or free block, the address after the block's header.
    pub address: u32,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// The line that allocated it, if there is a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_at: Option<Frame>,
    /// The bytes that the program asked for, if there is a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_size: Option<u32>,
    /// Its retained size; 0 if it is not alive.
    pub retained_size: u64,
    /// Its immediate dominator: the nearest object that is on every path to it.
    pub dominator: Option<ObjectName>,
    /// The roots that refer to it.
    pub roots: Vec<Root>,
    /// A short form of its contents.
    pub preview: Option<String>,
    /// Its fields, by offset.
    pub fields: Vec<FieldValue>,
    /// A page of what it holds; absent if that was not asked for, and for what is no container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<ContainerPage>,
    /// Of a snapshot: the number of references from a root of the page, as DevTools counts them; greater by
    /// 100,000,000 for what only V8 reaches. Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
    /// The number of references to it from live objects, without roots.
    pub referrer_count: u64,
    /// The path from a root; `None` if no root reaches it.
    pub path: Option<Path>,
}
