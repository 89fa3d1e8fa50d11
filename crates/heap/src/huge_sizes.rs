//! Sizes in columns of 32 bits, and beside them the few that need more.

use base::units::ObjectIndex;

/// In a column of sizes, stands for a size of at least this many bytes, which is in a list beside it. Blocks of
/// a dump are multiples of 16 bytes, so none has this size.
pub const HUGE: u32 = u32::MAX;

#[inline]
pub(super) fn size_of_object(
    column: &[u32],
    huge: &[(ObjectIndex, u64)],
    object: ObjectIndex,
) -> u64 {
    match column[object.at()] {
        HUGE => huge_size(huge, object),
        size => u64::from(size),
    }
}

#[cold]
fn huge_size(huge: &[(ObjectIndex, u64)], object: ObjectIndex) -> u64 {
    let position = huge.binary_search_by_key(&object, |&(object, _)| object);
    position.map_or(u64::from(HUGE), |position| huge[position].1)
}
