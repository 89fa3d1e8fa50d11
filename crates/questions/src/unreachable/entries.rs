//! Blocks of a native program to which no root leads, by the entries that hold them.

use schemars::JsonSchema;
use std::cmp::Reverse;

use serde::Serialize;

use super::keep_first::keep_first;
use crate::loaded_heap::LoadedHeap;
use base::control::Control;
use base::error::Result;
use base::frame::Frame;
use base::units::ObjectIndex;
use heap::RootKind;

/// Blocks to which nothing in the memory leads. The host or a local variable may hold them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct UnreferencedObjects {
    /// Their number.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub shallow_size: u64,
    /// The number of entries: single blocks and cycles to which no other of these blocks refers.
    pub total: u64,
    /// The largest: retained size ↓, address ↑.
    pub entries: Vec<UnreferencedEntry>,
}

/// A block, or a cycle of blocks, to which nothing refers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreferencedEntry {
    /// The block, or one of the cycle.
    pub address: u64,
    /// The address as text.
    pub address_text: String,
    /// Its class.
    pub class_name: String,
    /// The line that allocated it: only if the heap was opened with a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "hidden": true }))]
    pub allocated_at: Option<Frame>,
    /// The bytes that the program asked for: only if the heap was opened with a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "hidden": true }))]
    pub requested_size: Option<u32>,
    /// Its size, in bytes.
    pub shallow_size: u64,
    /// The blocks that only it holds, itself included.
    pub retained_count: u64,
    /// The sum of their sizes, in bytes.
    pub retained_size: u64,
}

/// The entries that retain most; `None` if such a heap has none.
pub(super) fn unreferenced_objects(
    loaded: &LoadedHeap,
    limit: usize,
    control: &Control,
) -> Result<Option<UnreferencedObjects>> {
    let heap = &loaded.heap;
    let Some(totals) = heap.unreferenced else {
        return Ok(None);
    };
    let dominators = loaded.dominator_index(control)?;
    let slots = loaded.roots.all().iter();
    let slots = slots.filter(|slot| slot.kind == RootKind::Unreferenced);
    let mut largest: Vec<ObjectIndex> = slots.map(|slot| slot.object).collect();
    keep_first(&mut largest, limit, |left, right| {
        let key = |&object: &ObjectIndex| (Reverse(heap.retained_size(object)), object);
        key(left).cmp(&key(right))
    });
    let entry = |object: ObjectIndex| {
        let position = dominators.position(object);
        let count = position.map_or(0, |position| dominators.end(position) - position);
        let address = heap.address(object);
        let slot = heap.objects.class_slots[object.at()];
        UnreferencedEntry {
            address: address.0,
            address_text: heap.address_form.of(address.0).to_string(),
            class_name: loaded.slot_name(slot).to_owned(),
            allocated_at: loaded.allocated_at(object),
            requested_size: loaded.requested_size(object),
            shallow_size: heap.shallow_size(object),
            retained_count: u64::from(count),
            retained_size: heap.retained_size(object),
        }
    };
    Ok(Some(UnreferencedObjects {
        count: totals.count,
        shallow_size: totals.size,
        total: totals.entries,
        entries: largest.into_iter().map(entry).collect(),
    }))
}
