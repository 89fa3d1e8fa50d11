//! The live objects by path: how many there are on each, and their size.

use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use heap::PathGroup;
use questions::LoadedHeap;

/// Objects between two reports.
const REPORT: usize = 1 << 12;

/// Some objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PathSum {
    pub(super) count: u64,
    /// The sum of their blocks, in bytes.
    pub(super) size: u64,
}

/// All live heap objects. Each is counted once.
pub(super) struct PathSums {
    pub(super) groups: Vec<PathSum>,
    /// Those on paths that are not told apart, by class slot.
    pub(super) rest: Vec<PathSum>,
}

impl PathSums {
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn of(heap: &LoadedHeap, control: &Control) -> Result<Self> {
        let tree = heap.path_tree(control)?;
        let objects = &heap.heap().objects;
        let step = control.begin(Phase::View, objects.len() as u64);
        let mut groups = columns::repeated(PathSum::default(), tree.groups().len())?;
        let mut rest = columns::repeated(PathSum::default(), objects.classes.len())?;
        for (nth, object) in heap.heap().live_heap_objects().enumerate() {
            let sum = match tree.group(object) {
                PathGroup::REST => &mut rest[objects.class_slots[object.at()] as usize],
                PathGroup(group) => &mut groups[group as usize],
            };
            sum.count += 1;
            sum.size += heap.heap().shallow_size(object);
            if nth.is_multiple_of(REPORT) {
                step.advance(REPORT as u64)?;
            }
        }
        Ok(Self { groups, rest })
    }
}
