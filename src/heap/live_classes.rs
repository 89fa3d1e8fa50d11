//! Sums over the live heap objects of each class, for the constructor view, in one parallel pass over the
//! columns of all objects.

use rayon::prelude::*;

use super::objects::ObjectTable;

/// The number of objects of one task.
const CHUNK: usize = 1 << 16;

/// The live heap objects of one class. Sums are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveClass {
    /// The number of objects.
    pub count: u64,
    /// The sum of their shallow sizes.
    pub shallow_size: u64,
    /// The sum of their retained sizes.
    pub retained_size: u64,
}

impl LiveClass {
    /// Adds other objects.
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.shallow_size += other.shallow_size;
        self.retained_size += other.retained_size;
    }
}

/// The sums of each class slot.
pub(super) fn live_classes(objects: &ObjectTable, retained_sizes: &[u32]) -> Vec<LiveClass> {
    let none = || vec![LiveClass::default(); objects.classes.len()];
    let slots = objects.class_slots.par_chunks(CHUNK);
    let shallow_sizes = objects.shallow_sizes.par_chunks(CHUNK);
    let retained_sizes = retained_sizes.par_chunks(CHUNK);
    slots
        .zip(shallow_sizes)
        .zip(retained_sizes)
        .fold(
            none,
            |mut sums, ((slots, shallow_sizes), retained_sizes)| {
                let sizes = shallow_sizes.iter().zip(retained_sizes);
                for (&slot, (&shallow_size, &retained_size)) in slots.iter().zip(sizes) {
                    // A live heap object retains at least its own block; a static one takes none.
                    if shallow_size != 0 && retained_size != 0 {
                        sums[slot as usize].add(LiveClass {
                            count: 1,
                            shallow_size: u64::from(shallow_size),
                            retained_size: u64::from(retained_size),
                        });
                    }
                }
                sums
            },
        )
        .reduce(none, |mut left, right| {
            let pairs = left.iter_mut().zip(right);
            pairs.for_each(|(left, right)| left.add(right));
            left
        })
}
