//! The columns of the objects of both heaps, and their roots.

use crate::JoinError;
use base::columns;
use base::error::Result;
use base::units::{FIRST_ID, ObjectIndex};
use heap::{Heap, ObjectTable, Opened, RootKind, RootSlot};

/// Ids from this one on are not those of the snapshot.
const FIRST_NEW_ID: u32 = FIRST_ID - (1 << 24);

/// The objects of both heaps. Those that are the memory itself take no space: its objects are counted.
pub(crate) fn joined_objects(
    [wasm, js]: [&Heap; 2],
    memory_data: &[ObjectIndex],
) -> Result<ObjectTable> {
    let count = wasm.objects.len();
    let mut addresses = columns::with_capacity(count + js.objects.len())?;
    if let Some(&last) = wasm
        .objects
        .addresses
        .words()
        .last()
        .filter(|last| **last >= FIRST_ID)
    {
        return Err(JoinError::TooLarge {
            what: "last address",
            found: last.into(),
            limit: FIRST_ID.into(),
        }
        .into());
    }
    addresses.extend_from_slice(wasm.objects.addresses.words());
    add_ids(js.objects.addresses.words(), &mut addresses)?;
    let first_class = wasm.objects.classes.len() as u32;
    let mut class_slots = columns::with_capacity(addresses.len())?;
    class_slots.extend_from_slice(&wasm.objects.class_slots);
    class_slots.extend(js.objects.class_slots.iter().map(|slot| first_class + slot));
    let mut shallow_sizes = columns::with_capacity(addresses.len())?;
    shallow_sizes.extend_from_slice(&wasm.objects.shallow_sizes);
    shallow_sizes.extend_from_slice(&js.objects.shallow_sizes);
    for data in memory_data {
        shallow_sizes[count + data.at()] = 0;
    }
    let mut huge_sizes = wasm.objects.huge_sizes.clone();
    let js_huge = js.objects.huge_sizes.iter();
    let js_huge = js_huge.filter(|(object, _)| !memory_data.contains(object));
    huge_sizes.extend(js_huge.map(|&(object, size)| (ObjectIndex(count as u32 + object.0), size)));
    let mut classes = wasm.objects.classes.clone();
    classes.extend(js.objects.classes.iter().cloned());
    Ok(ObjectTable {
        addresses: addresses.into(),
        class_slots,
        shallow_sizes,
        statics: None,
        huge_sizes,
        classes,
        pinned: wasm.objects.pinned.clone(),
        plain_fields: wasm.objects.plain_fields.clone(),
        ..ObjectTable::default()
    })
}

/// Adds the addresses of objects of the snapshot, whose ids ascend. V8 gives objects outside of its heap ids of any size:
/// those that do not fit are numbered anew.
fn add_ids(ids: &[u32], addresses: &mut Vec<u32>) -> Result<()> {
    let fitting = ids.partition_point(|&id| id < FIRST_NEW_ID);
    let new = ids.len() - fitting;
    if new as u64 > u64::from(FIRST_ID - FIRST_NEW_ID) {
        return Err(JoinError::TooLarge {
            what: "number of objects with large ids",
            found: new as u64,
            limit: (FIRST_ID - FIRST_NEW_ID).into(),
        }
        .into());
    }
    addresses.extend(ids[..fitting].iter().map(|id| FIRST_ID + id));
    addresses.extend((0..new as u32).map(|nth| FIRST_ID + FIRST_NEW_ID + nth));
    Ok(())
}

/// The roots of both heaps, each with its first kind that is still a root.
pub(crate) fn joined_roots(
    wasm: &Opened,
    js: &Opened,
    is_wanted: impl Fn(RootSlot) -> bool,
) -> Result<Vec<(ObjectIndex, RootKind)>> {
    let mut roots = Vec::new();
    for slot in wasm.roots.all().iter().filter(|slot| is_wanted(**slot)) {
        columns::push(&mut roots, (slot.object, slot.kind))?;
    }
    let first_js = wasm.heap.objects.len() as u32;
    for &(object, kind) in &js.heap.roots {
        columns::push(&mut roots, (ObjectIndex(first_js + object.0), kind))?;
    }
    roots.sort_unstable();
    roots.dedup_by_key(|&mut (object, _)| object);
    Ok(roots)
}
