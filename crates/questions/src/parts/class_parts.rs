//! The sizes of classes by heap, of heaps that were joined.

use super::joined::{retained_parts, shallow_parts};
use super::sums::{GroupedObjects, retained_sums};
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use heap::SizeParts;
use heap::views::ConstructorView;

/// The sizes of the live objects of a class, each by heap. Classes of both heaps can have one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassParts {
    /// The sum of their shallow sizes.
    pub shallow: SizeParts,
    /// The sum of their retained sizes.
    pub retained: SizeParts,
    /// What they retain together, each byte counted once.
    pub retained_set: SizeParts,
}

/// The sizes of the rows of a view, in order. Empty for one heap.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub fn class_parts(
    loaded: &LoadedHeap,
    view: &ConstructorView,
    control: &Control,
) -> Result<Vec<ClassParts>> {
    if loaded.source.joined().is_none() {
        return Ok(Vec::new());
    }
    let rows = view.rows().len();
    let mut parts = columns::repeated(ClassParts::default(), rows)?;
    let mut objects = Vec::new();
    let mut group_of = Vec::new();
    let step = control.begin(Phase::View, loaded.heap.objects.len() as u64);
    for (nth, object) in loaded.heap.live_heap_objects().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let class_slot = loaded.heap.objects.class_slots[object.at()];
        let Some(row) = view.row_of_slot(class_slot) else {
            continue;
        };
        let sums = &mut parts[row as usize];
        sums.shallow
            .add(shallow_parts(loaded, object).unwrap_or_default());
        sums.retained
            .add(retained_parts(loaded, object).unwrap_or_default());
        columns::push(&mut objects, object)?;
        columns::push(&mut group_of, row)?;
    }
    drop(step);
    let grouped = GroupedObjects {
        objects: &objects,
        group_of: &group_of,
        groups: rows,
    };
    let sets = retained_sums(loaded, grouped, control)?;
    for (parts, set) in parts.iter_mut().zip(sets) {
        parts.retained_set = set.parts.unwrap_or_default();
    }
    Ok(parts)
}
