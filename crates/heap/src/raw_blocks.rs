//! The used blocks of a heap that hold no object (`heap.alloc`).

use std::ops::Range;

use super::AddressIndex;
use base::columns;
use base::error::Result;
use base::units::Address;

/// All raw blocks, in address order, as columns.
#[derive(Debug, Default)]
pub struct RawTable {
    payloads: Vec<u32>,
    /// Of the whole blocks, in bytes.
    sizes: Vec<u32>,
    index: AddressIndex,
    /// Bytes from the start of a block to the address that `heap.alloc` returned.
    overhead: u32,
    /// The range from the first block to the end of the last.
    extent: Range<u32>,
}

impl RawTable {
    /// No blocks yet, whose headers have this size.
    pub fn new(overhead: u32) -> Self {
        Self {
            overhead,
            ..Self::default()
        }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.payloads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.payloads.is_empty()
    }

    /// The address that `heap.alloc` returned for the `nth` block.
    pub fn payload(&self, nth: u32) -> u32 {
        self.payloads[nth as usize]
    }

    /// The size of the `nth` block in bytes.
    pub fn size(&self, nth: u32) -> u32 {
        self.sizes[nth as usize]
    }

    /// The bytes of all blocks.
    pub fn total_size(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// The block that a word points into, its header included.
    #[inline]
    pub fn containing(&self, word: u32) -> Option<u32> {
        if word.wrapping_sub(self.extent.start) >= self.extent.end - self.extent.start {
            return None;
        }
        // The extent does not reach the last four bytes of the address space.
        let nth = self.index.at_or_below(Address(word + self.overhead))?.0;
        let distance = word + self.overhead - self.payload(nth);
        (distance < self.size(nth)).then_some(nth)
    }

    /// Adds the block at this address, which is above all others.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn push(&mut self, block: u32, size: u32) -> Result<()> {
        columns::push(&mut self.payloads, block + self.overhead)?;
        columns::push(&mut self.sizes, size)
    }

    /// The whole table.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn finish(mut self) -> Result<Self> {
        if let (Some(&first), Some(&last), Some(&size)) = (
            self.payloads.first(),
            self.payloads.last(),
            self.sizes.last(),
        ) {
            let start = first - self.overhead;
            self.extent = start..(last - self.overhead).saturating_add(size);
            self.index = AddressIndex::new(&self.payloads)?;
        }
        Ok(self)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn a_word_points_into_a_block_from_its_header_to_its_last_byte() {
        let mut table = RawTable::new(4);
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
