//! A set of block addresses: one bit per 16 bytes of a stretch of memory.

use crate::columns;
use crate::error::Result;
use crate::units::Address;

const GRANULE: u32 = 16;

/// Blocks whose payloads are aligned, as all blocks of a heap are.
#[derive(Debug)]
pub struct BlockSet {
    /// The first granule.
    base: u32,
    bits: Vec<u64>,
}

impl BlockSet {
    /// An empty set for blocks between two addresses.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn between(start: Address, end: Address) -> Result<Self> {
        let base = start.0 / GRANULE;
        let granules = (end.0 / GRANULE).saturating_sub(base) as usize + 1;
        Ok(Self {
            base,
            bits: columns::repeated(0, granules.div_ceil(64))?,
        })
    }

    /// Adds a block. `None` if no block can be there or it lies outside of the stretch, otherwise
    /// whether it is new.
    pub fn insert(&mut self, block: Address) -> Option<bool> {
        let (word, bit) = self.place(block)?;
        let word = self.bits.get_mut(word)?;
        let is_new = *word & bit == 0;
        *word |= bit;
        Some(is_new)
    }

    /// Whether a block is in the set.
    pub fn contains(&self, block: Address) -> bool {
        let found = self.place(block).and_then(|(word, bit)| {
            let word = self.bits.get(word)?;
            Some(word & bit != 0)
        });
        found == Some(true)
    }

    /// Whether a block of the set begins between two blocks, both excluded.
    pub fn any_between(&self, low: Address, high: Address) -> bool {
        let granule = |block: Address| (block.0 / GRANULE).saturating_sub(self.base) as usize;
        let (first, last) = (granule(low) + 1, granule(high));
        if first >= last {
            return false;
        }
        let (first_word, last_word) = (first / 64, (last - 1) / 64);
        let words = self.bits.iter().take(last_word + 1).skip(first_word);
        words.enumerate().any(|(nth, &word)| {
            let mut word = word;
            if nth == 0 {
                word &= u64::MAX << (first % 64);
            }
            if first_word + nth == last_word {
                word &= u64::MAX >> (63 - (last - 1) % 64);
            }
            word != 0
        })
    }

    fn place(&self, block: Address) -> Option<(usize, u64)> {
        // Four bytes below an aligned payload.
        if block.0 % GRANULE != GRANULE - 4 {
            return None;
        }
        let granule = (block.0 / GRANULE).checked_sub(self.base)? as usize;
        Some((granule / 64, 1 << (granule % 64)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const START: u32 = 996;

    fn block(nth: u32) -> Address {
        Address((START / GRANULE + nth) * GRANULE + 12)
    }

    proptest! {
        #[test]
        fn answers_as_an_ordinary_set(
            inserted in prop::collection::vec(0u32..300, 0..40),
            ranges in prop::collection::vec((0u32..310, 0u32..310), 40),
        ) {
            let mut set = BlockSet::between(Address(START), block(299))?;
            let mut expected = BTreeSet::new();
            for nth in inserted {
                prop_assert_eq!(set.insert(block(nth)), Some(expected.insert(nth)));
            }
            for (low, high) in ranges {
                prop_assert_eq!(set.contains(block(low)), expected.contains(&low));
                let any = low < high && expected.range(low + 1..).any(|&nth| nth < high);
                prop_assert_eq!(set.any_between(block(low), block(high)), any);
            }
        }
    }

    #[test]
    fn takes_no_block_that_cannot_be_there() {
        let mut set = BlockSet::between(Address(1024), Address(2048)).unwrap();
        for address in [0, 1000, 1024, 1032, 1035, 4092, u32::MAX - 3] {
            assert_eq!(set.insert(Address(address)), None);
            assert!(!set.contains(Address(address)));
        }
    }
}
