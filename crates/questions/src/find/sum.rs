//! Sums of sizes of objects that were found.

use super::answer::{Size, SizeSum};
use crate::loaded_heap::LoadedHeap;
use crate::parts::sums::{ByteSum, GroupedObjects, retained_sums, shallow_sums};
use base::columns;
use base::control::Control;
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
    let grouped = GroupedObjects {
        objects,
        group_of: &group_of,
        groups: 1,
    };
    let sums = sums(loaded, size, grouped, control)?;
    let ByteSum { bytes, parts } = sums.first().copied().unwrap_or_default();
    Ok(SizeSum { size, bytes, parts })
}

/// By group: the sum of the sizes of its objects. What one object of a group retains of another one of the same group
/// counts once.
pub(super) fn sums(
    loaded: &LoadedHeap,
    size: Size,
    grouped: GroupedObjects<'_>,
    control: &Control,
) -> Result<Vec<ByteSum>> {
    match size {
        Size::Shallow => shallow_sums(loaded, grouped, control),
        Size::Retained => retained_sums(loaded, grouped, control),
    }
}
