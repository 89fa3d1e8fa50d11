//! Sums of the sizes of objects; of heaps that were joined also by heap.

use super::joined::{retained_parts, shallow_parts};
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use heap::SizeParts;

/// A sum of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteSum {
    /// All of them.
    pub(crate) bytes: u64,
    /// Of heaps that were joined: these bytes by heap.
    pub(crate) parts: Option<SizeParts>,
}

impl ByteSum {
    /// Of heaps that were joined, `wasm` of these bytes are those of the memory.
    pub(crate) fn new(bytes: u64, wasm: Option<u64>) -> Self {
        Self {
            bytes,
            parts: wasm.map(|wasm| SizeParts {
                javascript: bytes.saturating_sub(wasm),
                wasm,
            }),
        }
    }
}

/// Some objects, each with the number of its group.
#[derive(Clone, Copy)]
pub(crate) struct GroupedObjects<'o> {
    pub(crate) objects: &'o [ObjectIndex],
    pub(crate) group_of: &'o [u32],
    /// The number of groups.
    pub(crate) groups: usize,
}

/// By group: the sum of the shallow sizes of its objects.
pub(crate) fn shallow_sums(
    loaded: &LoadedHeap,
    grouped: GroupedObjects<'_>,
    control: &Control,
) -> Result<Vec<ByteSum>> {
    let joined = loaded.source.joined();
    let mut sums = columns::repeated(ByteSum::new(0, joined.map(|_| 0)), grouped.groups)?;
    let step = control.begin(Phase::View, grouped.objects.len() as u64);
    for (nth, (&object, &group)) in grouped.objects.iter().zip(grouped.group_of).enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let size = ByteSum {
            bytes: loaded.heap.shallow_size(object),
            parts: shallow_parts(loaded, object),
        };
        add(&mut sums[group as usize], size);
    }
    Ok(sums)
}

/// By group: the sum of the retained sizes of its objects. What one object of a group retains of another one of the same
/// group counts once.
pub(crate) fn retained_sums(
    loaded: &LoadedHeap,
    grouped: GroupedObjects<'_>,
    control: &Control,
) -> Result<Vec<ByteSum>> {
    let heap = &loaded.heap;
    let joined = loaded.source.joined();
    let mut sums = columns::repeated(ByteSum::new(0, joined.map(|_| 0)), grouped.groups)?;
    let step = control.begin(Phase::View, grouped.objects.len() as u64);
    // In preorder, what an object dominates is one range. A range that begins in another one lies in it.
    let index = loaded.dominator_index(control)?;
    let mut positions = columns::with_capacity(grouped.objects.len())?;
    let with_group = grouped.objects.iter().zip(grouped.group_of);
    positions
        .extend(with_group.filter_map(|(&object, &group)| Some((index.position(object)?, group))));
    positions.sort_unstable();
    let mut ends = columns::zeros::<u32>(grouped.groups)?;
    for (nth, &(position, group)) in positions.iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let end = &mut ends[group as usize];
        if position >= *end {
            *end = index.end(position);
            let object = index.object(position);
            let size = ByteSum {
                bytes: heap.retained_size(object),
                parts: retained_parts(loaded, object),
            };
            add(&mut sums[group as usize], size);
        }
    }
    Ok(sums)
}

/// The sum of the retained sizes of those objects that no other of them dominates.
pub(crate) fn retained_sum(
    loaded: &LoadedHeap,
    objects: &[ObjectIndex],
    control: &Control,
) -> Result<ByteSum> {
    let group_of = columns::zeros(objects.len())?;
    let grouped = GroupedObjects {
        objects,
        group_of: &group_of,
        groups: 1,
    };
    let sums = retained_sums(loaded, grouped, control)?;
    Ok(sums.first().copied().unwrap_or_default())
}

fn add(sum: &mut ByteSum, more: ByteSum) {
    sum.bytes += more.bytes;
    if let Some(more) = more.parts {
        sum.parts.get_or_insert_default().add(more);
    }
}
