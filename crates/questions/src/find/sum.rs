//! Sums of sizes of objects that were found.

use super::answer::{Size, SizeSum};
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// The sum of the sizes of objects.
pub(super) fn sum(
    loaded: &LoadedHeap,
    size: Size,
    objects: &[ObjectIndex],
    control: &Control,
) -> Result<SizeSum> {
    let group_of = columns::zeros(objects.len())?;
    let sums = sums(loaded, size, objects, &group_of, 1, control)?;
    let bytes = sums.first().copied().unwrap_or_default();
    Ok(SizeSum { size, bytes })
}

/// By group: the sum of the sizes of its objects, given the group of each object. What one object of a group retains of
/// another one of the same group counts once.
pub(super) fn sums(
    loaded: &LoadedHeap,
    size: Size,
    objects: &[ObjectIndex],
    group_of: &[u32],
    groups: usize,
    control: &Control,
) -> Result<Vec<u64>> {
    let heap = &loaded.heap;
    let mut sums = columns::zeros::<u64>(groups)?;
    let step = control.begin(Phase::View, objects.len() as u64);
    if size == Size::Shallow {
        for (nth, (&object, &group)) in objects.iter().zip(group_of).enumerate() {
            sums[group as usize] += heap.shallow_size(object);
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
        }
        return Ok(sums);
    }
    // In preorder, what an object dominates is one range. A range that begins in another one lies in it.
    let index = loaded.dominator_index(control)?;
    let mut positions = columns::with_capacity(objects.len())?;
    let with_group = objects.iter().zip(group_of);
    positions
        .extend(with_group.filter_map(|(&object, &group)| Some((index.position(object)?, group))));
    positions.sort_unstable();
    let mut ends = columns::zeros::<u32>(groups)?;
    for (nth, &(position, group)) in positions.iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let end = &mut ends[group as usize];
        if position >= *end {
            *end = index.end(position);
            sums[group as usize] += heap.retained_size(index.object(position));
        }
    }
    Ok(sums)
}
