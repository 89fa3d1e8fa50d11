//! The search for an allocator in a memory.

use base::control::{CHECK_INTERVAL, Control};
use base::error::{Error, Result};
use dumps::Memory;
use heap::HeapError;

use crate::allocator::UsedBlocks;
use crate::{dlmalloc, emmalloc};

/// Finds the state of an allocator, and walks all its blocks. No names are needed.
///
/// # Errors
/// [`HeapError::Corrupt`] if there is a state, but its blocks contradict it; [`HeapError::AllocatorUnknown`] if there is
/// none; [`Error::OutOfMemory`], [`Error::Aborted`].
pub(crate) fn walk(memory: Memory<'_>, control: &Control) -> Result<UsedBlocks> {
    find(memory, false, control)
}

/// As [`walk`], with the blocks of each segment before its damage. A heap that has its segments, but contradicts itself in
/// them, is no error.
///
/// # Errors
/// As [`walk`].
pub(crate) fn walk_damaged(memory: Memory<'_>, control: &Control) -> Result<UsedBlocks> {
    find(memory, true, control)
}

fn find(memory: Memory<'_>, is_tolerant: bool, control: &Control) -> Result<UsedBlocks> {
    let mut dlmalloc = dlmalloc::StateSearch::new(memory, is_tolerant);
    let mut emmalloc = emmalloc::RootBlockSearch::new(memory, is_tolerant);
    let mut largest: Option<UsedBlocks> = None;
    let mut end = u32::MAX;
    for (nth, word) in memory.words().enumerate() {
        if nth % CHECK_INTERVAL == 0 {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let at = nth as u32 * 4;
        // The state is static data, which is below the heap.
        if at >= end {
            break;
        }
        let is_larger = |found: &UsedBlocks, largest: &Option<UsedBlocks>| {
            largest
                .as_ref()
                .is_none_or(|largest| found.size() > largest.size())
        };
        if let Some(found) = emmalloc.look(at, word, control)?
            && is_larger(&found, &largest)
        {
            end = found.segments.first().map_or(end, |first| first.start);
            largest = Some(found);
        }
        if let Some(found) = dlmalloc.look(at, word, control)? {
            if is_larger(&found, &largest) {
                largest = Some(found);
            }
            break;
        }
    }
    if let Some(found) = largest {
        return Ok(found);
    }
    let damage = dlmalloc.damage.or(emmalloc.damage);
    Err(damage.unwrap_or_else(|| {
        Error::from(HeapError::AllocatorUnknown {
            found: format!(
                "{} word(s) in {} bytes that may be the field `top` of dlmalloc, none beside a segment that ends there, and {} word(s) that may be the first region of emmalloc",
                dlmalloc.candidates,
                memory.size(),
                emmalloc.candidates
            ),
        })
    }))
}

/// Whether there is the state of an allocator. Its blocks are not walked.
///
/// # Errors
/// [`Error::Aborted`].
pub(crate) fn is_present(memory: Memory<'_>, control: &Control) -> Result<bool> {
    for (nth, word) in memory.words().enumerate() {
        if nth % CHECK_INTERVAL == 0 {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let at = nth as u32 * 4;
        if dlmalloc::is_state(memory, at, word) || emmalloc::is_state(memory, at, word) {
            return Ok(true);
        }
    }
    Ok(false)
}
