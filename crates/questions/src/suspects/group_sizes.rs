//! The objects of each path group, in numbers.

use std::cmp::Reverse;
use std::ops::Range;

use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use heap::PathTree;

/// The number and the retained size of the objects of a path group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupSize {
    pub(super) count: u64,
    /// The retained size of those that no other object of the group dominates.
    pub(super) retained: u64,
    /// The same without what the engine makes for itself, such as compiled code, which grows in any program.
    pub(super) of_program: u64,
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

/// The bytes of what the engine makes for itself, by position in the dominator tree: those of all positions before.
pub(super) struct EngineBytes(Vec<u64>);

impl EngineBytes {
    pub(super) fn new(loaded: &LoadedHeap, control: &Control) -> Result<Self> {
        let names = loaded.source.facts().classes.engine;
        let index = loaded.dominator_index(control)?;
        if names.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let classes = loaded.heap.objects.classes.iter();
        let is_engine =
            columns::collected(classes.map(|class| names.contains(&class.name.as_str())))?;
        let mut sums = columns::with_capacity(index.len() + 1)?;
        let mut sum = 0;
        sums.push(sum);
        for &object in index.objects() {
            if is_engine[loaded.heap.objects.class_slots[object.at()] as usize] {
                sum += loaded.heap.shallow_size(object);
            }
            sums.push(sum);
        }
        Ok(Self(sums))
    }

    /// Those of some positions.
    pub(super) fn below(&self, positions: Range<u32>) -> u64 {
        let at = |position: u32| self.0.get(position as usize).copied().unwrap_or_default();
        at(positions.end).saturating_sub(at(positions.start))
    }

    /// All of them.
    pub(super) fn total(&self) -> u64 {
        self.0.last().copied().unwrap_or_default()
    }
}

/// Whether an object is the storage of an owner, whose group it has.
pub(super) fn is_storage(
    loaded: &LoadedHeap,
    tree: &PathTree,
    first_slots: &[u32],
    object: ObjectIndex,
) -> bool {
    let first = |slot: u32| first_slots[slot as usize];
    let class = first(tree.groups().info(tree.group(object)).class_slot);
    tree.has_storage() && class != first(loaded.heap.objects.place_slot(object))
}

/// By path group: the number and the retained size of its objects.
pub(super) fn group_sizes(loaded: &LoadedHeap, control: &Control) -> Result<Vec<GroupSize>> {
    let tree = loaded.path_tree(control)?;
    let index = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, index.len() as u64);
    let first_slots = loaded.heap.objects.first_slots();
    let of_engine = EngineBytes::new(loaded, control)?;
    let mut sizes = columns::repeated(GroupSize::default(), tree.groups().len())?;
    for (position, &object) in (0u32..).zip(index.objects()) {
        let size = &mut sizes[tree.group(object).0 as usize];
        let is_storage = is_storage(loaded, tree, &first_slots, object);
        size.count += u64::from(!is_storage);
        // What an owner does not dominate, others share.
        if !is_storage && position >= size.end {
            let retained = loaded.heap.retained_size(object);
            size.retained += retained;
            size.of_program +=
                retained.saturating_sub(of_engine.below(position..index.end(position)));
            size.largest = size.largest.max(Some((retained, Reverse(object))));
            size.end = index.end(position);
        }
        if (position as usize).is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
    }
    Ok(sizes)
}
