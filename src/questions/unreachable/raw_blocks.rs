//! The used blocks of the heap that hold no object (`heap.alloc`).

use std::ops::Range;

use super::super::LoadedHeap;
use super::super::memory::Reader;
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::heap::AddressIndex;
use crate::runtime::blocks::{BLOCK_OVERHEAD, BlockInfo};
use crate::runtime::objects::HEADER_SIZE;
use crate::units::Address;

/// The number of blocks between two checks for cancellation.
const CHECK_INTERVAL: u32 = 1 << 16;

/// All raw blocks, in address order, as columns.
#[derive(Debug, Default)]
pub(in crate::questions) struct RawTable {
    payloads: Vec<u32>,
    /// Of the whole blocks, in bytes.
    sizes: Vec<u32>,
    index: AddressIndex,
    /// The range from the first block to the end of the last.
    extent: Range<u32>,
}

impl RawTable {
    pub(in crate::questions) fn len(&self) -> usize {
        self.payloads.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.payloads.is_empty()
    }

    /// The address that `heap.alloc` returned for the `nth` block.
    pub(super) fn payload(&self, nth: u32) -> u32 {
        self.payloads[nth as usize]
    }

    /// The size of the `nth` block in bytes.
    pub(super) fn size(&self, nth: u32) -> u32 {
        self.sizes[nth as usize]
    }

    pub(in crate::questions) fn total_size(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// The block that a word points into, its header included.
    #[inline]
    pub(super) fn containing(&self, word: u32) -> Option<u32> {
        if word.wrapping_sub(self.extent.start) >= self.extent.end - self.extent.start {
            return None;
        }
        // The extent does not reach the last four bytes of the address space.
        let nth = self.index.at_or_below(Address(word + BLOCK_OVERHEAD))?.0;
        let distance = word + BLOCK_OVERHEAD - self.payload(nth);
        (distance < self.size(nth)).then_some(nth)
    }

    fn push(&mut self, block: u32, size: u32) -> Result<()> {
        columns::push(&mut self.payloads, block + BLOCK_OVERHEAD)?;
        columns::push(&mut self.sizes, size)
    }

    fn finish(mut self) -> Result<Self> {
        if let (Some(&first), Some(&last), Some(&size)) = (
            self.payloads.first(),
            self.payloads.last(),
            self.sizes.last(),
        ) {
            let start = first - BLOCK_OVERHEAD;
            self.extent = start..(last - BLOCK_OVERHEAD).saturating_add(size);
            self.index = AddressIndex::new(&self.payloads)?;
        }
        Ok(self)
    }
}

impl LoadedHeap {
    /// Finds the raw blocks: the used blocks that are not objects. Only the memory between objects is read.
    pub(in crate::questions) fn raw_blocks(&self, control: &Control) -> Result<RawTable> {
        let mut table = RawTable::default();
        let heap = &self.heap;
        if (heap.accounting.as_ref()).is_none_or(|accounting| accounting.raw == 0) {
            return Ok(table);
        }
        let objects = &heap.objects;
        let step = control.begin(Phase::Blocks, objects.len() as u64);
        let mut reader = Reader::sequential(self);
        let mut nth = objects.shallow_sizes.partition_point(|&size| size == 0);
        let mut looked_at = 0u32;
        for region in &self.names.memory_map.regions {
            let mut block = region.start;
            while block < region.end {
                looked_at = looked_at.wrapping_add(1);
                if looked_at.is_multiple_of(CHECK_INTERVAL) {
                    step.advance(u64::from(CHECK_INTERVAL))?;
                }
                while let Some(&payload) = objects.addresses.get(nth)
                    && payload - HEADER_SIZE < block
                {
                    nth += 1;
                }
                let object = objects.addresses.get(nth);
                let size = match object {
                    Some(&payload) if payload - HEADER_SIZE == block => objects.shallow_sizes[nth],
                    _ => {
                        let Some(info) = reader.word(block)?.map(BlockInfo) else {
                            break;
                        };
                        if info.ends_region() {
                            break;
                        }
                        if !info.is_free() {
                            table.push(block, info.block_size())?;
                        }
                        info.block_size()
                    }
                };
                let Some(next) = block.checked_add(size).filter(|_| size > 0) else {
                    break;
                };
                block = next;
            }
        }
        table.finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn a_word_points_into_a_block_from_its_header_to_its_last_byte() {
        let mut table = RawTable::default();
        for (block, size) in [(1020, 32), (1068, 16), (1084, 48)] {
            table.push(block, size).unwrap();
        }
        let table = table.finish().unwrap();
        let blocks = [
            (1019, None),
            (1020, Some(0)),
            (1051, Some(0)),
            (1052, None),
            (1067, None),
            (1068, Some(1)),
            (1083, Some(1)),
            (1084, Some(2)),
            (1131, Some(2)),
            (1132, None),
            (0, None),
            (u32::MAX, None),
        ];
        for (word, expected) in blocks {
            assert_eq!(table.containing(word), expected, "{word}");
        }
    }
}
