//! Large columns of numbers, and checks that there is enough memory for them.
//!
//! A column is allocated once, at the largest size that it may need, and on huge pages where the
//! system has them. A column of ten million numbers takes 10,000 ordinary pages: mapping each page
//! costs more than filling it, and random access misses the translation cache nearly every time.
//!
//! A failed allocation of the standard library ends the process. So every allocation that grows with
//! the input is made here, where a failure is an error.

use bytemuck::Zeroable;
use rayon::iter::ParallelExtend;

use crate::control::Step;
use crate::error::{Error, Result};

/// After a column of at least this many bytes was allocated, [`HEADROOM`] must still be free.
const LARGE: u64 = 1 << 20;

/// The purpose of columns in errors.
const PURPOSE: &str = "a table of the analysis";

/// The memory that must stay free for small allocations, which end the process if they fail: those of
/// this crate, and those of the rest of the process. V8's young generation grows by 16 MiB at a time.
const HEADROOM: usize = 32 << 20;

/// Reserves memory for `more` values. Reserved memory that is not used costs nothing on systems that allocate
/// pages when they are first used.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn reserve<T>(column: &mut Vec<T>, more: usize) -> Result<()> {
    let bytes = (column.len() as u64 + more as u64).saturating_mul(size_of::<T>() as u64);
    column
        .try_reserve_exact(more)
        .map_err(|_| Error::OutOfMemory {
            bytes: bytes.into(),
            purpose: PURPOSE,
        })?;
    if bytes >= LARGE {
        check_headroom()?;
    }
    use_huge_pages(column);
    Ok(())
}

/// Checks that the process could still get `bytes` of memory and `HEADROOM`. For work that makes
/// many small allocations, none of which can fail by itself.
///
/// # Errors
/// [`Error::OutOfMemory`] with these bytes and this purpose.
pub fn check_room(bytes: u64, purpose: &'static str) -> Result<()> {
    check_headroom()?;
    if can_map(bytes.saturating_add(HEADROOM as u64)) {
        Ok(())
    } else {
        Err(Error::OutOfMemory {
            bytes: bytes.into(),
            purpose,
        })
    }
}

/// Checks that the process could still get `HEADROOM`.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn check_headroom() -> Result<()> {
    if can_map(HEADROOM as u64) {
        Ok(())
    } else {
        Err(Error::OutOfMemory {
            bytes: (HEADROOM as u64).into(),
            purpose: "small allocations, which must not fail",
        })
    }
}

/// Whether there is this much memory beside what the module has: it may grow to 4 GiB.
#[cfg(target_family = "wasm")]
fn can_map(bytes: u64) -> bool {
    const MOST_PAGES: u64 = 1 << 16;
    let pages = core::arch::wasm32::memory_size::<0>() as u64;
    bytes.div_ceil(1 << 16) <= MOST_PAGES.saturating_sub(pages)
}

/// Whether the system maps this much memory. The allocator is not used for this, because it would keep the
/// memory.
#[cfg(not(target_family = "wasm"))]
fn can_map(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| memmap2::MmapMut::map_anon(bytes).is_ok())
}

/// A column of `length` equal values.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn repeated<T: Clone>(value: T, length: usize) -> Result<Vec<T>> {
    let mut column = with_capacity(length)?;
    column.resize(length, value);
    Ok(column)
}

/// A column of `length` zeros. The system hands out the memory when it is first written, by the thread that does so,
/// and nothing else fills it.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn zeros<T: Zeroable>(length: usize) -> Result<Vec<T>> {
    let bytes = (length as u64).saturating_mul(size_of::<T>() as u64);
    let mut column = bytemuck::allocation::try_zeroed_slice_box(length)
        .map_err(|()| Error::OutOfMemory {
            bytes: bytes.into(),
            purpose: PURPOSE,
        })?
        .into_vec();
    if bytes >= LARGE {
        check_headroom()?;
    }
    use_huge_pages(&mut column);
    Ok(column)
}

/// The same as [`repeated`], filled by all threads: the system hands out the memory when it is first written.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn repeated_in_parallel<T: Clone + Send>(value: T, length: usize) -> Result<Vec<T>> {
    let mut column = with_capacity(length)?;
    column.par_extend(rayon::iter::repeat_n(value, length));
    Ok(column)
}

/// The values of an iterator of known length.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut column = with_capacity(values.len())?;
    column.extend(values);
    Ok(column)
}

/// An empty column with room for `capacity` values.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn with_capacity<T>(capacity: usize) -> Result<Vec<T>> {
    let mut column = Vec::new();
    reserve(&mut column, capacity)?;
    Ok(column)
}

/// Fills a column up to a length. The system allocates the pages here, which can take long, so the work can
/// be cancelled during it.
///
/// # Errors
/// [`Error::OutOfMemory`], [`Error::Aborted`].
pub fn fill<T: Clone>(column: &mut Vec<T>, value: T, length: usize, step: &Step<'_>) -> Result<()> {
    const ROUND: usize = 1 << 20;
    reserve(column, length.saturating_sub(column.len()))?;
    while column.len() < length {
        column.resize((column.len() + ROUND).min(length), value.clone());
        step.advance(0)?;
    }
    Ok(())
}

/// Adds a value to a column whose final length is not known.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[inline]
pub fn push<T>(column: &mut Vec<T>, value: T) -> Result<()> {
    if column.len() == column.capacity() {
        double(column)?;
    }
    column.push(value);
    Ok(())
}

/// Makes room for as many values again.
#[cold]
#[inline(never)]
fn double<T>(column: &mut Vec<T>) -> Result<()> {
    const FIRST: usize = 1 << 10;
    reserve(column, column.len().max(FIRST))
}

/// Adds values to a column whose final length is not known.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[inline]
pub fn extend<T: Copy>(column: &mut Vec<T>, values: &[T]) -> Result<()> {
    make_room(column, values.len())?;
    column.extend_from_slice(values);
    Ok(())
}

/// Makes room for more values, in proportion to those that are there if there is too little.
#[inline]
pub fn make_room<T>(column: &mut Vec<T>, more: usize) -> Result<()> {
    if column.capacity() - column.len() < more {
        reserve(column, column.len().max(more))
    } else {
        Ok(())
    }
}

/// Requests huge pages for the memory of a column, if it is large enough for one.
///
/// The request covers whole pages, and the values as well as the spare capacity. Otherwise one allocation would
/// become several mappings, and the allocator could not move it when the column grows: it would copy it, into
/// small pages.
#[cfg(target_os = "linux")]
fn use_huge_pages<T>(column: &mut Vec<T>) {
    const HUGE_PAGE: usize = 2 << 20;
    let bytes = column.capacity().saturating_mul(size_of::<T>());
    if bytes < HUGE_PAGE {
        return;
    }
    // SAFETY: the call only reads a setting of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = column.as_mut_ptr().cast::<u8>();
    let before = start.addr() % page;
    let pages = (before + bytes).next_multiple_of(page);
    // SAFETY: the range consists of the pages that contain the column. The advice changes the cost of pages, not
    // their contents; if it is refused, nothing happens.
    unsafe {
        libc::madvise(
            start.wrapping_sub(before).cast(),
            pages,
            libc::MADV_HUGEPAGE,
        )
    };
}

#[cfg(not(target_os = "linux"))]
fn use_huge_pages<T>(_: &mut Vec<T>) {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use crate::control::{Control, Phase};

    #[test]
    fn a_column_of_many_huge_pages_keeps_its_values() {
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

    #[test]
    fn a_failed_check_reports_the_requested_size() {
        let error = check_room(1 << 55, "the test").unwrap_err().to_string();
        let expected = "out of memory: cannot allocate 36028797018963968 bytes for the test; ";
        assert!(error.starts_with(expected), "{error}");
    }
}
