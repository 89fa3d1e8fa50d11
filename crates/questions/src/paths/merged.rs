//! The paths of many objects, merged: they show which places of the program hold a class or new objects.

use std::collections::BTreeSet;

use super::answer::{HeldBy, MergedPaths};
use super::group_tree::{GroupTree, ObjectSum};
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{HUGE, RootKind, reached_from};

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
        unreferenced: heap.has_root_kind(RootKind::Unreferenced).then_some(0),
        ..HeldBy::default()
    };
    let mut has_class = columns::repeated(false, heap.objects.classes.len())?;
    for (nth, &object) in set.iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let sum = ObjectSum {
            size: heap.shallow_size(object),
            count: 1,
        };
        own[tree.group(object).0 as usize].add(sum);
        total.add(sum);
        *match tree.root_kind(object) {
            Some(RootKind::Stack) => &mut held_by.stack,
            Some(RootKind::Pinned) => &mut held_by.pinned,
            Some(RootKind::System) => held_by.system.get_or_insert(0),
            Some(RootKind::Unreferenced) => held_by.unreferenced.get_or_insert(0),
            Some(RootKind::Global) | None => &mut held_by.global,
        } += sum.size;
        has_class[heap.objects.class_slots[object.at()] as usize] = true;
    }
    let slots = (0..has_class.len()).filter(|&slot| has_class[slot]);
    let classes: BTreeSet<&str> = slots.map(|slot| loaded.slot_name(slot as u32)).collect();
    let (branches, more) = GroupTree::new(loaded, own, limit, control)?.branches()?;
    Ok(MergedPaths {
        classes: classes.into_iter().map(str::to_owned).collect(),
        count: total.count,
        shallow_size: total.size,
        retained_set_size: retained_set_size(loaded, &set, control)?,
        freed_by_removing_all: freed_by_removing(loaded, &set, control)?,
        held_by,
        tree: branches,
        more,
    })
}

/// The sum of the retained sizes of those live objects that no other of them dominates.
fn retained_set_size(loaded: &LoadedHeap, set: &[ObjectIndex], control: &Control) -> Result<u64> {
    let index = loaded.dominator_index(control)?;
    let mut positions = columns::with_capacity(set.len())?;
    positions.extend(set.iter().filter_map(|&object| index.position(object)));
    positions.sort_unstable();
    let mut sum = 0;
    let mut end = 0;
    for (nth, position) in positions.into_iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        if position >= end {
            sum += loaded.heap.retained_size(index.object(position));
            end = index.end(position);
        }
    }
    Ok(sum)
}

/// The bytes that are not reachable without these objects, these included.
fn freed_by_removing(loaded: &LoadedHeap, set: &[ObjectIndex], control: &Control) -> Result<u64> {
    let heap = &loaded.heap;
    let roots = loaded.heap.roots.iter().map(|&(object, _)| object);
    let reached = reached_from(&loaded.heap, roots, set, control)?;
    let rest: u64 = reached
        .iter()
        .zip(heap.objects.shallow_sizes.chunks(64))
        .map(|(bits, sizes)| {
            let sizes = sizes.iter().enumerate();
            let kept = sizes.filter(|&(bit, _)| bits >> bit & 1 != 0);
            kept.map(|(_, &size)| u64::from(size)).sum::<u64>()
        })
        .sum();
    // The column has a smaller number in place of these sizes.
    let huge = heap
        .objects
        .huge_sizes
        .iter()
        .filter(|(object, _)| reached[object.at() / 64] >> (object.at() % 64) & 1 != 0);
    let rest = rest + huge.map(|&(_, size)| size - u64::from(HUGE)).sum::<u64>();
    let removed = set.iter().map(|&object| heap.shallow_size(object));
    // The search counts removed objects as reached.
    Ok(heap.live_size - (rest - removed.sum::<u64>()))
}
