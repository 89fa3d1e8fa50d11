//! The retained size of groups of objects, each byte counted once. For example, each node of a list retains
//! all later nodes; the group of all nodes retains as much as the first node, and not the sum.

use super::{Heap, LiveClass};
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::units::ObjectIndex;

/// Objects after which progress is reported.
const CHUNK: usize = 1 << 16;

/// The group of objects that belong to none.
const NO_GROUP: u32 = u32::MAX;

/// A live object at its position in preorder of the dominator tree.
#[derive(Clone, Copy, Default)]
struct Place {
    group: u32,
    /// The end of the range of the objects that it dominates.
    end: u32,
    retained_size: u32,
}

impl Heap {
    /// Per group of class slots, in bytes: the sum of the retained sizes of those live heap objects that no
    /// other of the group dominates. That is at least what removing all objects of the group frees, and
    /// never more than the live size.
    ///
    /// The objects that an object dominates are one range of positions in preorder of the dominator tree. So
    /// one pass over the positions, which stores the end of the last counted range of each group, finds the
    /// objects to count. Groups whose objects dominate nothing, such as strings, are left out of this pass,
    /// because for them the result is the sum.
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
        let step = control.begin(Phase::View, 2 * live.len() as u64);
        let mut sums = self.sums_of_groups(group_of_slot, groups);
        let dominates = |sum: &LiveClass| sum.retained_size > sum.shallow_size;
        let has_owners: Vec<bool> = sums.iter().map(dominates).collect();
        // Static objects come first. They belong to no group, but may dominate others.
        let statics = self
            .objects
            .shallow_sizes
            .partition_point(|&size| size == 0) as u32;
        let group_of = |object: ObjectIndex| match object.0 < statics {
            true => NO_GROUP,
            false => group_of_slot[self.objects.class_slots[object.at()] as usize],
        };
        // An object that is left out dominates only its own bytes, so the objects below it are not needed
        // either.
        let is_left_out = |object: ObjectIndex| match group_of(object) {
            NO_GROUP => self.retained_size(object) == 0,
            group => has_owners.get(group as usize) == Some(&false),
        };

        // By search number, the virtual root first: the number of objects that each dominates, itself
        // included.
        let mut sizes = columns::repeated(1u32, live.len() + 1)?;
        for (nth, &object) in live.iter().enumerate().rev() {
            let number = nth + 1;
            if is_left_out(object) {
                sizes[number] = 0;
            } else {
                sizes[parents[number] as usize] += sizes[number];
            }
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64)?;
            }
        }
        let mut places = columns::repeated(Place::default(), sizes[0] as usize - 1)?;
        // Each size is replaced by the position of the next child.
        let mut next_positions = sizes;
        next_positions[0] = 0;
        for (number, &object) in (1..).zip(live) {
            let size = next_positions[number];
            if size == 0 {
                continue;
            }
            let parent = parents[number] as usize;
            let position = next_positions[parent];
            next_positions[parent] += size;
            next_positions[number] = position + 1;
            places[position as usize] = Place {
                group: group_of(object),
                end: position + size,
                retained_size: self.retained_size(object),
            };
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64)?;
            }
        }
        for (sum, _) in sums.iter_mut().zip(&has_owners).filter(|(_, has)| **has) {
            sum.retained_size = 0;
        }
        let mut ends = vec![0u32; groups];
        for (position, place) in (0..).zip(places) {
            let group = place.group as usize;
            if group < groups && position >= ends[group] {
                sums[group].retained_size += u64::from(place.retained_size);
                ends[group] = place.end;
            }
        }
        Ok(sums.iter().map(|sum| sum.retained_size).collect())
    }

    /// The sums over the live heap objects of each group.
    fn sums_of_groups(&self, group_of_slot: &[u32], groups: usize) -> Vec<LiveClass> {
        let mut sums = vec![LiveClass::default(); groups];
        for (&group, &class) in group_of_slot.iter().zip(&self.live_classes) {
            if let Some(sum) = sums.get_mut(group as usize) {
                sum.add(class);
            }
        }
        sums
    }
}
