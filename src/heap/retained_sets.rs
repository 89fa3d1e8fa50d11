//! The retained size of groups of objects as sets: a list of a million nodes, each of which retains all
//! that follow, retains what its first node does, and not the sum.

use super::Heap;
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;

/// Objects after which progress is reported.
const CHUNK: usize = 1 << 16;

/// A live object at its position in preorder of the dominator tree.
#[derive(Clone, Copy, Default)]
struct Place {
    group: u32,
    /// Where the objects that it dominates end.
    end: u32,
    retained_size: u32,
}

impl Heap {
    /// Per group of class slots, in bytes: the sum of the retained sizes of those live heap objects that no
    /// other of the group dominates. That is at least what removing all objects of the group frees, and
    /// never more than the live size.
    ///
    /// What an object dominates is one range of positions in preorder of the dominator tree. So one pass
    /// over the positions, which remembers for each group where the last counted range ends, finds the
    /// objects to count.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Aborted`](crate::Error::Aborted).
    pub fn retained_set_sizes(
        &self,
        group_of_slot: &[u32],
        groups: usize,
        control: &Control,
    ) -> Result<Vec<u64>> {
        let live = self.dominators.live();
        let parents = self.dominators.immediate_dominators();
        let step = control.begin(Phase::View, live.len() as u64);
        // By search number, the virtual root first: how many objects each dominates, itself included.
        let mut sizes = columns::repeated(1u32, live.len() + 1)?;
        for number in (1..sizes.len()).rev() {
            sizes[parents[number] as usize] += sizes[number];
        }
        let mut places = columns::repeated(Place::default(), live.len())?;
        // Each size is replaced by the position of the next child.
        let mut next_positions = sizes;
        next_positions[0] = 0;
        for (number, &object) in (1..).zip(live) {
            let parent = parents[number] as usize;
            let size = next_positions[number];
            let position = next_positions[parent];
            next_positions[parent] += size;
            next_positions[number] = position + 1;
            let slot = self.objects.class_slots[object.at()];
            places[position as usize] = Place {
                // Static objects belong to no group.
                group: match self.objects.is_on_heap(object) {
                    true => group_of_slot[slot as usize],
                    false => u32::MAX,
                },
                end: position + size,
                retained_size: self.retained_size(object),
            };
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64)?;
            }
        }
        let mut sums = vec![0u64; groups];
        let mut ends = vec![0u32; groups];
        for (position, place) in (0..).zip(places) {
            let group = place.group as usize;
            if group < groups && position >= ends[group] {
                sums[group] += u64::from(place.retained_size);
                ends[group] = place.end;
            }
        }
        Ok(sums)
    }
}
