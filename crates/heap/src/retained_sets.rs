//! The retained size of groups of objects, each byte counted once. For example, each node of a list retains
//! all later nodes; the group of all nodes retains as much as the first node, and not the sum.

use std::collections::HashMap;

use super::group_sets::{GroupSets, SetNumber};
use super::{HUGE, Heap, LiveClass};
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// Objects after which progress is reported.
const CHUNK: usize = 1 << 16;

/// A live object at its position in preorder of the dominator tree.
#[derive(Clone, Copy, Default)]
struct PreorderPosition {
    /// See [`Owners::of`].
    owner: u32,
    /// The end of the range of the objects that it dominates.
    end: u32,
    /// [`HUGE`] stands for a size of 32 bits or more.
    retained_size: u32,
}

impl Heap {
    /// Per group of class slots, in bytes: the sum of the retained sizes of those live heap objects that no
    /// other of the group dominates. That is at least what removing all objects of the group frees, and
    /// never more than the live size.
    ///
    /// Groups whose objects dominate nothing, such as strings, are left out: for them the result is the sum.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn retained_set_sizes(
        &self,
        group_of_slot: &[u32],
        groups: usize,
        control: &Control,
    ) -> Result<Vec<u64>> {
        let owners = Owners::new(self, group_of_slot, groups);
        if let Some(sums) = self.retained_sums_by_sets(&owners, control)? {
            return Ok(sums);
        }
        self.retained_sums_by_positions(&owners, control)
    }

    /// An object counts if its group is not among the groups of its dominators. These are a set that each
    /// object takes over from its immediate dominator, which has a lower search number, so this takes one
    /// pass. Nothing if there are too many sets of groups.
    fn retained_sums_by_sets(
        &self,
        owners: &Owners<'_>,
        control: &Control,
    ) -> Result<Option<Vec<u64>>> {
        let live = self.dominators.live();
        let parents = self.dominators.immediate_dominators();
        let step = control.begin(Phase::View, live.len() as u64);
        let Some(mut sets) = GroupSets::new(owners.groups.len()) else {
            return Ok(None);
        };
        let mut retained = vec![0u64; owners.groups.len()];
        // By search number.
        let mut set_of = columns::repeated(SetNumber::default(), live.len() + 1)?;
        for (number, &object) in (1..).zip(live) {
            let owner = owners.of(object);
            if owner != Owners::LEFT_OUT {
                let above = set_of[parents[number] as usize];
                set_of[number] = match owner {
                    Owners::STATIC => above,
                    owner => {
                        let Some(set) = sets.with(above, owner) else {
                            return Ok(None);
                        };
                        if set != above {
                            retained[owner as usize] += self.retained_size(object);
                        }
                        set
                    }
                };
            }
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64)?;
            }
        }
        Ok(Some(owners.with_retained(&retained)))
    }

    /// The objects that an object dominates are one range of positions in preorder of the dominator tree. So
    /// one pass over the positions, which stores the end of the last counted range of each group, finds the
    /// objects to count.
    fn retained_sums_by_positions(
        &self,
        owners: &Owners<'_>,
        control: &Control,
    ) -> Result<Vec<u64>> {
        let live = self.dominators.live();
        let parents = self.dominators.immediate_dominators();
        let step = control.begin(Phase::View, 2 * live.len() as u64);
        // An object that is left out dominates only its own bytes, so the objects below it are not needed
        // either.
        let is_left_out = |object: ObjectIndex| match owners.of(object) {
            Owners::STATIC => self.retained_size(object) == 0,
            owner => owner == Owners::LEFT_OUT,
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
        // By position.
        let mut huge: HashMap<u32, u64> = HashMap::new();
        let mut positions = columns::repeated(PreorderPosition::default(), sizes[0] as usize - 1)?;
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
            let retained_size = self.retained_sizes[object.at()];
            if retained_size == HUGE {
                huge.insert(position, self.retained_size(object));
            }
            positions[position as usize] = PreorderPosition {
                owner: owners.of(object),
                end: position + size,
                retained_size,
            };
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64)?;
            }
        }
        let mut retained = vec![0u64; owners.groups.len()];
        let mut ends = vec![0u32; owners.groups.len()];
        for (position, entry) in (0..).zip(positions) {
            let owner = entry.owner as usize;
            if owner < ends.len() && position >= ends[owner] {
                retained[owner] += match entry.retained_size {
                    HUGE => huge[&position],
                    size => size.into(),
                };
                ends[owner] = entry.end;
            }
        }
        Ok(owners.with_retained(&retained))
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

/// The groups with objects that dominate others.
struct Owners<'a> {
    heap: &'a Heap,
    /// The sums over the live heap objects of each group.
    sums: Vec<LiveClass>,
    /// The groups, ascending.
    groups: Vec<u32>,
    /// For each class slot the position in `groups`.
    of_slot: Vec<u32>,
}

impl<'a> Owners<'a> {
    /// Stands for an object without a group that may dominate others.
    const STATIC: u32 = u32::MAX;
    /// Stands for an object whose group dominates nothing.
    const LEFT_OUT: u32 = u32::MAX - 1;

    fn new(heap: &'a Heap, group_of_slot: &[u32], groups: usize) -> Self {
        let sums = heap.sums_of_groups(group_of_slot, groups);
        let mut position_of = vec![Self::LEFT_OUT; groups];
        let mut owners = Vec::new();
        for (group, sum) in sums.iter().enumerate() {
            if sum.retained_size > sum.shallow_size {
                position_of[group] = owners.len() as u32;
                owners.push(group as u32);
            }
        }
        let of_slot = group_of_slot.iter().map(|&group| {
            // A slot without a group counts nowhere, but may dominate others.
            position_of
                .get(group as usize)
                .copied()
                .unwrap_or(Self::STATIC)
        });
        Self {
            heap,
            groups: owners,
            of_slot: of_slot.collect(),
            sums,
        }
    }

    /// The position of the object's group in `groups`, or one of the constants.
    #[inline]
    fn of(&self, object: ObjectIndex) -> u32 {
        let objects = &self.heap.objects;
        if objects.is_without_size(object) {
            Self::STATIC
        } else {
            self.of_slot[objects.class_slots[object.at()] as usize]
        }
    }

    /// Per group: what its objects retain as a set, from the sums of the owners.
    fn with_retained(&self, retained: &[u64]) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.sums.iter().map(|sum| sum.retained_size).collect();
        for (&group, &size) in self.groups.iter().zip(retained) {
            sizes[group as usize] = size;
        }
        sizes
    }
}
