//! The paths of many objects, merged: they show which places of the program hold a class or new objects.

use std::collections::BTreeSet;

use super::answer::{HeldBy, MergedPaths};
use super::group_tree::{GroupTree, ObjectSum};
use crate::loaded_heap::LoadedHeap;
use crate::parts::joined::shallow_parts as shallow_parts_of;
use crate::parts::sums::{ByteSum, retained_sum};
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{HUGE, Heap, RootKind, SizeParts, reached_from};

/// The paths of a set of live objects as one tree, with the `limit` largest groups.
pub(crate) fn merged_paths(
    loaded: &LoadedHeap,
    mut set: Vec<ObjectIndex>,
    limit: usize,
    control: &Control,
) -> Result<MergedPaths> {
    set.sort_unstable();
    set.dedup();
    let heap = &loaded.heap;
    let tree = loaded.path_tree(control)?;
    let groups = tree.groups();
    let mut own = columns::repeated(ObjectSum::default(), groups.len())?;
    let mut total = ObjectSum::default();
    let mut held_by = HeldBy {
        system: heap.has_root_kind(RootKind::System).then_some(0),
        host: heap.has_root_kind(RootKind::Host).then_some(0),
        unreferenced: heap.has_root_kind(RootKind::Unreferenced).then_some(0),
        ..HeldBy::default()
    };
    let mut shallow_parts = loaded.source.joined().map(|_| SizeParts::default());
    let mut has_class = columns::repeated(false, heap.objects.classes.len())?;
    for (nth, &object) in set.iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let sum = ObjectSum {
            size: heap.shallow_size(object),
            count: 1,
        };
        if let Some(parts) = &mut shallow_parts {
            parts.add(shallow_parts_of(loaded, object).unwrap_or_default());
        }
        own[tree.group(object).0 as usize].add(sum);
        total.add(sum);
        *match tree.root_kind(object) {
            Some(RootKind::Stack) => &mut held_by.stack,
            Some(RootKind::Pinned) => &mut held_by.pinned,
            Some(RootKind::System) => held_by.system.get_or_insert(0),
            Some(RootKind::Host) => held_by.host.get_or_insert(0),
            Some(RootKind::Unreferenced) => held_by.unreferenced.get_or_insert(0),
            Some(RootKind::Global) | None => &mut held_by.global,
        } += sum.size;
        has_class[heap.objects.class_slots[object.at()] as usize] = true;
    }
    let slots = (0..has_class.len()).filter(|&slot| has_class[slot]);
    let classes: BTreeSet<&str> = slots.map(|slot| loaded.slot_name(slot as u32)).collect();
    let (branches, more) = GroupTree::new(loaded, own, limit, control)?.branches()?;
    let retained = retained_sum(loaded, &set, control)?;
    let freed = freed_by_removing(loaded, &set, control)?;
    Ok(MergedPaths {
        classes: classes.into_iter().map(str::to_owned).collect(),
        count: total.count,
        shallow_size: total.size,
        shallow_parts,
        retained_set_size: retained.bytes,
        retained_set_parts: retained.parts,
        freed_by_removing_all: freed.bytes,
        freed_parts: freed.parts,
        held_by,
        tree: branches,
        more,
    })
}

/// The bytes that are not reachable without these objects, these included.
fn freed_by_removing(
    loaded: &LoadedHeap,
    set: &[ObjectIndex],
    control: &Control,
) -> Result<ByteSum> {
    let heap = &loaded.heap;
    let roots = loaded.heap.roots.iter().map(|&(object, _)| object);
    let reached = reached_from(&loaded.heap, roots, set, control)?;
    // What remains of the objects before this one. The search counts removed objects as reached.
    let rest = |end: usize| {
        let removed = set.iter().filter(|object| object.at() < end);
        let removed = removed.map(|&object| heap.shallow_size(object));
        reached_size(heap, &reached, end) - removed.sum::<u64>()
    };
    let joined = loaded.source.joined();
    let wasm =
        joined.map(|heaps| heaps.sums().wasm.live_size - rest(heaps.wasm_objects() as usize));
    Ok(ByteSum::new(
        heap.live_size - rest(heap.objects.len()),
        wasm,
    ))
}

/// The shallow sizes of those objects before this one that were reached.
fn reached_size(heap: &Heap, reached: &[u64], end: usize) -> u64 {
    let sizes: u64 = reached
        .iter()
        .zip(heap.objects.shallow_sizes[..end].chunks(64))
        .map(|(bits, sizes)| {
            let sizes = sizes.iter().enumerate();
            let kept = sizes.filter(|&(bit, _)| bits >> bit & 1 != 0);
            kept.map(|(_, &size)| u64::from(size)).sum::<u64>()
        })
        .sum();
    // The column has a smaller number in place of these sizes.
    let huge = heap.objects.huge_sizes.iter().filter(|(object, _)| {
        object.at() < end && reached[object.at() / 64] >> (object.at() % 64) & 1 != 0
    });
    sizes + huge.map(|&(_, size)| size - u64::from(HUGE)).sum::<u64>()
}
