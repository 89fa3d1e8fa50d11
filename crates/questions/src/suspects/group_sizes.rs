//! The objects of each path group, in numbers.

use std::cmp::Reverse;

use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// The number and the retained size of the objects of a path group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupSize {
    pub(super) count: u64,
    /// The retained size of those that no other object of the group dominates.
    pub(super) retained: u64,
    /// The end of the range of the last of these in the dominator tree.
    end: u32,
    /// The object that retains the most, the first of several, and its retained size.
    largest: Option<(u64, Reverse<ObjectIndex>)>,
}

impl GroupSize {
    pub(super) fn largest(self) -> Option<ObjectIndex> {
        self.largest.map(|(_, Reverse(object))| object)
    }
}

/// By path group: the number and the retained size of its objects.
pub(super) fn group_sizes(loaded: &LoadedHeap, control: &Control) -> Result<Vec<GroupSize>> {
    let tree = loaded.path_tree(control)?;
    let index = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, index.len() as u64);
    let first_slots = loaded.heap.objects.first_slots();
    let mut sizes = columns::repeated(GroupSize::default(), tree.groups().len())?;
    for (position, &object) in (0u32..).zip(index.objects()) {
        let size = &mut sizes[tree.group(object).0 as usize];
        // Storage is of the group of its owner.
        let first = |slot: u32| first_slots[slot as usize];
        let class = first(tree.groups().info(tree.group(object)).class_slot);
        let is_storage =
            tree.has_storage() && class != first(loaded.heap.objects.place_slot(object));
        size.count += u64::from(!is_storage);
        if position >= size.end {
            let retained = loaded.heap.retained_size(object);
            size.retained += retained;
            size.largest = size.largest.max(Some((retained, Reverse(object))));
            size.end = index.end(position);
        }
        if (position as usize).is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
    }
    Ok(sizes)
}
