//! A set of block addresses: one bit per 16 bytes of a range of memory.

use base::columns;
use base::error::Result;
use base::units::Address;

const GRANULE: u32 = 16;
/// Granules in a word of bits.
const WORD: u32 = u64::BITS;

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
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn between(start: Address, end: Address) -> Result<Self> {
        let base = start.0 / GRANULE;
        let granules = (end.0 / GRANULE).saturating_sub(base) + 1;
        Ok(Self {
            base,
            bits: columns::repeated(0, granules.div_ceil(WORD) as usize)?,
        })
    }

    /// Adds a block. `None` if no block can be at this address or it is outside of the range, otherwise
    /// whether it is new.
    pub fn insert(&mut self, block: Address) -> Option<bool> {
        let (word, bit) = self.position(block)?;
        let word = self.bits.get_mut(word)?;
        let is_new = *word & bit == 0;
        *word |= bit;
        Some(is_new)
    }

    /// Whether a block is in the set.
    pub fn contains(&self, block: Address) -> bool {
        let found = self.position(block).and_then(|(word, bit)| {
            let word = self.bits.get(word)?;
            Some(word & bit != 0)
        });
        found == Some(true)
    }

    fn position(&self, block: Address) -> Option<(usize, u64)> {
        // Four bytes below an aligned payload.
        if block.0 % GRANULE != GRANULE - 4 {
            return None;
        }
        let granule = (block.0 / GRANULE).checked_sub(self.base)? as usize;
        Some((granule / 64, 1 << (granule % 64)))
    }
}

/// A set that is complete.
#[derive(Debug)]
pub struct CompleteSet {
    set: BlockSet,
    /// For each word of bits, the next word, from itself on, in which there is a block.
    next: Vec<u32>,
}

impl CompleteSet {
    /// A set to which no more blocks are added.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn new(set: BlockSet) -> Result<Self> {
        let mut next = columns::repeated(u32::MAX, set.bits.len())?;
        let mut nearest = u32::MAX;
        for (word, next) in next.iter_mut().enumerate().rev() {
            if set.bits[word] != 0 {
                nearest = word as u32;
            }
            *next = nearest;
        }
        Ok(Self { set, next })
    }

    /// Whether a block is in the set.
    pub fn contains(&self, block: Address) -> bool {
        self.set.contains(block)
    }

    /// Whether a block of the set begins between two blocks, both excluded. This takes two reads for any
    /// distance: it is called for each block of a region, and a block may be as large as the memory.
    pub fn any_between(&self, low: Address, high: Address) -> bool {
        let granule = |block: Address| (block.0 / GRANULE).saturating_sub(self.set.base);
        let first = granule(low) + 1;
        let word = (first / WORD) as usize;
        let Some(&bits) = self.set.bits.get(word) else {
            return false;
        };
        let nearest = match bits & (u64::MAX << (first % WORD)) {
            0 => self.next.get(word + 1).copied().and_then(|word| {
                let bits = self.set.bits.get(word as usize)?;
                Some(word * WORD + bits.trailing_zeros())
            }),
            bits => Some(first / WORD * WORD + bits.trailing_zeros()),
        };
        nearest.is_some_and(|nearest| nearest < granule(high))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
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
            let set = CompleteSet::new(set)?;
            for (low, high) in ranges {
                prop_assert_eq!(set.contains(block(low)), expected.contains(&low));
                let any = low < high && expected.range(low + 1..).any(|&nth| nth < high);
                prop_assert_eq!(set.any_between(block(low), block(high)), any);
            }
        }
    }

    #[test]
    fn finds_blocks_between_two_blocks_in_two_reads() {
        // Reading the words between them one by one would take hours.
        let set = BlockSet::between(Address(0), Address(u32::MAX)).unwrap();
        let set = CompleteSet::new(set).unwrap();
        for low in (12..).step_by(16).take(1 << 20) {
            assert!(!set.any_between(Address(low), Address(u32::MAX - 3)));
        }
    }

    #[test]
    fn refuses_impossible_blocks() {
        let mut set = BlockSet::between(Address(1024), Address(2048)).unwrap();
        for address in [0, 1000, 1024, 1032, 1035, 4092, u32::MAX - 3] {
            assert_eq!(set.insert(Address(address)), None);
            assert!(!set.contains(Address(address)));
        }
    }
}
