//! The allocators whose blocks can be read, and their blocks.

use std::ops::Range;

use base::error::{Error, Result};
use heap::{BlockSizes, HeapError};

/// An allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// Of wasi-libc, of emscripten by default, and of Rust.
    #[default]
    Dlmalloc,
    /// Of emscripten with `-sMALLOC=emmalloc`.
    Emmalloc,
    /// `wasm_allocator` of Zig.
    ZigBrk,
    /// `malloc` of Zig's libc.
    ZigLibc,
}

impl Allocator {
    /// The bytes of a used block that are not the program's: of dlmalloc the size before it, of emmalloc also the
    /// size after it; of Zig a place for the list of free slots.
    pub(crate) fn overhead(self) -> u32 {
        match self {
            Self::Dlmalloc => 4,
            Self::Emmalloc => 8,
            Self::ZigBrk => 4,
            Self::ZigLibc => 0,
        }
    }

    /// Which sizes blocks can have, if `alignment` is that of their addresses.
    pub(crate) fn sizes(self, alignment: u32) -> BlockSizes {
        match self {
            Self::Dlmalloc | Self::Emmalloc => BlockSizes::MultiplesOf(alignment.max(8)),
            Self::ZigBrk => BlockSizes::PowersOfTwo,
            Self::ZigLibc => BlockSizes::MultiplesOf(1),
        }
    }

    /// A program asked for less than these bytes fewer than a block has that it may use. Zig's slots are powers of two,
    /// and its libc notes what was asked for.
    pub(crate) fn slack(self, usable: u32) -> u32 {
        match self {
            Self::Dlmalloc => 16,
            // What is too small for a free region, a word by which the next one was aligned, and rounding.
            Self::Emmalloc => 20,
            Self::ZigBrk => usable / 2 + 2,
            Self::ZigLibc => 1,
        }
    }
}

/// All used blocks, ascending.
#[derive(Debug, Default)]
pub(crate) struct UsedBlocks {
    /// Whose they are.
    pub(crate) allocator: Allocator,
    /// What their addresses are multiples of; 0 if that is not known.
    pub(crate) alignment: u32,
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
    /// Pages of Zig's allocator that are full, so that nothing says which blocks they hold.
    pub(crate) unknown_pages: u64,
    /// What is wrong with the first segment that was not read to its end, if that is tolerated.
    pub(crate) damage: Option<Error>,
}

impl UsedBlocks {
    /// The bytes of all segments.
    pub(crate) fn size(&self) -> u64 {
        let sizes = self.segments.iter();
        sizes.map(|range| u64::from(range.end - range.start)).sum()
    }

    /// Keeps what is wrong with a segment, if that is tolerated. Its blocks before the damage are known.
    ///
    /// # Errors
    /// The damage, if it is not tolerated; all other errors.
    pub(crate) fn tolerate(&mut self, read: Result<()>, is_tolerant: bool) -> Result<()> {
        match read {
            Err(error) if is_tolerant => keep_damage(&mut self.damage, error),
            read => read,
        }
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
