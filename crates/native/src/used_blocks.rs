//! The blocks of an allocator, and what is wrong with one that cannot be walked.

use std::ops::Range;

use base::error::{Error, Result};
use heap::HeapError;

/// An allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// Of wasi-libc, of emscripten by default, and of Rust.
    #[default]
    Dlmalloc,
    /// Of emscripten with `-sMALLOC=emmalloc`.
    Emmalloc,
}

impl Allocator {
    /// The bytes of a used block that are not the program's: of dlmalloc the size before it, of emmalloc also the
    /// size after it.
    pub(crate) fn overhead(self) -> u32 {
        match self {
            Self::Dlmalloc => 4,
            Self::Emmalloc => 8,
        }
    }
}

/// All used blocks, ascending.
#[derive(Debug, Default)]
pub(crate) struct UsedBlocks {
    /// Whose they are.
    pub(crate) allocator: Allocator,
    /// Their addresses, as `malloc` returned them.
    pub(crate) addresses: Vec<u32>,
    /// The bytes that the program may use of each.
    pub(crate) usable: Vec<u32>,
    /// The segments, ascending. They do not overlap.
    pub(crate) segments: Vec<Range<u32>>,
    /// The bytes of free blocks, the one at the top included.
    pub(crate) free: u64,
    /// The bytes of padding, of records of segments, and of the ends of segments.
    pub(crate) overhead: u64,
    /// The allocator's own state.
    pub(crate) state: Range<u32>,
}

impl UsedBlocks {
    /// The bytes of all segments.
    pub(crate) fn size(&self) -> u64 {
        let sizes = self.segments.iter();
        sizes.map(|range| u64::from(range.end - range.start)).sum()
    }

    /// Puts the segments in order.
    ///
    /// # Errors
    /// [`HeapError::Corrupt`] if two of them overlap.
    pub(crate) fn sort_segments(&mut self) -> Result<()> {
        self.segments.sort_unstable_by_key(|segment| segment.start);
        let mut pairs = self.segments.windows(2);
        let Some(pair) = pairs.find(|pair| pair[0].end > pair[1].start) else {
            return Ok(());
        };
        let found = format!("a segment that ends at {:#x}", pair[0].end);
        Err(corrupt(
            pair[1].start,
            found,
            "segments that do not overlap",
        ))
    }
}

/// What is wrong with a block at an address.
pub(crate) fn corrupt(address: u32, found: String, expected: &'static str) -> Error {
    Error::from(HeapError::Corrupt {
        address: base::units::Address(address),
        found,
        expected,
    })
}

/// Keeps what is wrong with a state that looked sound, and returns all other errors.
pub(crate) fn keep_damage(damage: &mut Option<Error>, error: Error) -> Result<()> {
    if matches!(error, Error::OutOfMemory { .. } | Error::Aborted) {
        return Err(error);
    }
    damage.get_or_insert(error);
    Ok(())
}
