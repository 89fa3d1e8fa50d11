//! Big columns of numbers: allocated once, at the size that they may need, and on huge pages where
//! the system has them.
//!
//! A column of ten million numbers is 10,000 ordinary pages. Entering each of them into the page
//! tables costs more than filling it, and random access to them misses the table's cache nearly
//! every time.

use crate::control::Step;
use crate::error::{Error, Result};

/// A column that takes so many bytes must leave some for others.
const BIG: u64 = 1 << 20;

/// What must be left for small allocations, which end the process if they fail: ours, and those of
/// whoever else lives in the process. The young generation of V8 grows by 16 MiB at a time.
const HEADROOM: usize = 32 << 20;

/// Makes room for so many more values. Room that is not used costs no memory where the system hands
/// out pages when they are touched.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn reserve<T>(column: &mut Vec<T>, more: usize) -> Result<()> {
    let bytes = (column.len() as u64 + more as u64).saturating_mul(size_of::<T>() as u64);
    column
        .try_reserve_exact(more)
        .map_err(|_| Error::OutOfMemory { bytes })?;
    if bytes >= BIG {
        check_room(0)?;
    }
    use_huge_pages(column);
    Ok(())
}

/// Checks that the system would give so many bytes, and still have some for small allocations. For
/// work whose own allocations are many and small, and cannot fail one by one.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn check_room(bytes: usize) -> Result<()> {
    let bytes = bytes.saturating_add(HEADROOM);
    // Not from the allocator: it keeps what it is given back.
    memmap2::MmapMut::map_anon(bytes)
        .map(drop)
        .map_err(|_| Error::OutOfMemory {
            bytes: bytes as u64,
        })
}

/// A column of so many equal values.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn repeated<T: Clone>(value: T, length: usize) -> Result<Vec<T>> {
    let mut column = with_capacity(length)?;
    column.resize(length, value);
    Ok(column)
}

/// What an iterator of known length gives.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut column = with_capacity(values.len())?;
    column.extend(values);
    Ok(column)
}

/// An empty column with room for so many values.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn with_capacity<T>(capacity: usize) -> Result<Vec<T>> {
    let mut column = Vec::new();
    reserve(&mut column, capacity)?;
    Ok(column)
}

/// Fills a column up to a length. It is here that the system hands out the memory, which may take its
/// time.
///
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Aborted`].
pub(crate) fn fill<T: Clone>(
    column: &mut Vec<T>,
    value: T,
    length: usize,
    step: &Step<'_>,
) -> Result<()> {
    const ROUND: usize = 1 << 20;
    reserve(column, length.saturating_sub(column.len()))?;
    while column.len() < length {
        column.resize((column.len() + ROUND).min(length), value.clone());
        step.advance(0)?;
    }
    Ok(())
}

/// Adds a value to a column whose length nobody knows beforehand.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[inline]
pub(crate) fn push<T>(column: &mut Vec<T>, value: T) -> Result<()> {
    if column.len() == column.capacity() {
        const FIRST: usize = 1 << 10;
        reserve(column, column.len().max(FIRST))?;
    }
    column.push(value);
    Ok(())
}

/// Adds values to a column whose length nobody knows beforehand.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn extend<T: Copy>(column: &mut Vec<T>, values: &[T]) -> Result<()> {
    if column.capacity() - column.len() < values.len() {
        reserve(column, column.len().max(values.len()))?;
    }
    column.extend_from_slice(values);
    Ok(())
}

/// Asks for huge pages behind the whole ones of a column's spare room.
#[cfg(target_os = "linux")]
fn use_huge_pages<T>(column: &mut Vec<T>) {
    const HUGE_PAGE: usize = 2 << 20;
    let room = column.spare_capacity_mut();
    let start = room.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(HUGE_PAGE);
    let whole = size_of_val(room).saturating_sub(skipped) / HUGE_PAGE * HUGE_PAGE;
    if whole > 0 {
        // SAFETY: the range lies inside the room, which is owned and borrowed exclusively. The
        // advice changes what the pages cost, not what they hold; if it is refused, nothing
        // happens.
        unsafe { libc::madvise(start.add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn use_huge_pages<T>(_: &mut Vec<T>) {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::control::{Control, Phase};

    #[test]
    fn a_column_of_many_huge_pages_holds_what_it_is_filled_with_and_what_is_written_afterwards() {
        let length = 3 << 20;
        let control = Control::default();
        let mut column = vec![7u32];
        fill(&mut column, 7, length, &control.begin(Phase::Objects, 1)).unwrap();
        assert_eq!(column.len(), length);
        assert!(column.iter().all(|&value| value == 7));
        for (value, nth) in column.iter_mut().zip(0..) {
            *value = nth;
        }
        assert!(column.iter().copied().eq(0..length as u32));
    }

    #[test]
    fn more_than_the_address_space_is_an_error() {
        let result = with_capacity::<u64>(usize::MAX / 4);
        assert!(matches!(result, Err(Error::OutOfMemory { .. })));
    }
}
