//! Sums over the live heap objects of each class: for the constructor view, in one parallel pass over the
//! columns of all objects, and before there are retained sizes, in one over the objects that were reached.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;

use super::heap::Heap;
use super::huge_sizes::HUGE;
use super::live_class::LiveClass;
use super::objects::ObjectTable;
use base::control::ClassCount;
use base::units::ObjectIndex;

/// The number of objects of one task.
const CHUNK: usize = 1 << 16;

/// The sums of each class slot.
pub fn live_classes(heap: &Heap) -> Vec<LiveClass> {
    let Heap {
        objects,
        retained_sizes,
        ..
    } = heap;
    let none = || vec![LiveClass::default(); objects.classes.len()];
    let slots = objects.class_slots.par_chunks(CHUNK);
    let shallow_sizes = objects.shallow_sizes.par_chunks(CHUNK);
    let retained_sizes = retained_sizes.par_chunks(CHUNK);
    let mut sums = slots
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
        });
    // The columns have a smaller number in place of these sizes.
    let listed = objects.huge_sizes.iter().map(|huge| (huge, true));
    let retained = heap.huge_retained_sizes.iter().map(|huge| (huge, false));
    for (&(object, size), is_shallow) in listed.chain(retained) {
        if !heap.is_live_on_heap(object) {
            continue;
        }
        let sum = &mut sums[objects.class_slots[object.at()] as usize];
        let more = size - u64::from(HUGE);
        if is_shallow {
            sum.shallow_size += more
        } else {
            sum.retained_size += more
        }
    }
    sums
}

/// The counts of these live objects by class name: shallow size ↓, count ↓, name ↑. Static objects do not
/// count.
pub fn class_counts(
    objects: &ObjectTable,
    live: impl IndexedParallelIterator<Item = ObjectIndex> + Clone,
) -> Vec<ClassCount> {
    let none = || vec![(0_u64, 0_u64); objects.classes.len()];
    let mut sums = live
        .clone()
        .with_min_len(CHUNK)
        .fold(none, |mut sums, object| {
            let shallow_size = objects.shallow_sizes[object.at()];
            if shallow_size != 0 {
                let (count, size) = &mut sums[objects.class_slots[object.at()] as usize];
                *count += 1;
                *size += u64::from(shallow_size);
            }
            sums
        })
        .reduce(none, |mut left, right| {
            for ((count, size), more) in left.iter_mut().zip(right) {
                *count += more.0;
                *size += more.1;
            }
            left
        });
    if !objects.huge_sizes.is_empty() {
        // The column has a smaller number in place of these sizes.
        let more: BTreeMap<_, _> = objects.huge_sizes.iter().copied().collect();
        let huge: Vec<_> = live.filter(|object| more.contains_key(object)).collect();
        for object in huge {
            let slot = objects.class_slots[object.at()] as usize;
            sums[slot].1 += more[&object] - u64::from(HUGE);
        }
    }
    // Classes can share a name.
    let mut by_name = BTreeMap::new();
    for (class, (count, size)) in objects.classes.iter().zip(sums) {
        let (all, total) = by_name.entry(&class.name).or_insert((0, 0));
        *all += count;
        *total += size;
    }
    let named = by_name.into_iter().filter(|&(_, (count, _))| count > 0);
    let mut counts: Vec<_> = named
        .map(|(name, (count, shallow_size))| ClassCount {
            class_name: name.clone(),
            count,
            shallow_size,
        })
        .collect();
    // Stable, and so names stay in order.
    counts.sort_by_key(|class| Reverse((class.shallow_size, class.count)));
    counts
}
