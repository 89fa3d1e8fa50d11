//! A set of numbers that counts: a bitmap, and beside every 32 bits of it how many numbers of the set
//! are below them.
//!
//! Bits and number share a word, so a lookup costs one load and a population count. Keeping 64 bits
//! to a number instead would save a quarter of the memory, but cost a second load from another place.

use super::prefetch::prefetch;
use base::columns;
use base::error::Result;

/// Numbers, of which each knows how many are smaller.
#[derive(Debug, Default)]
pub struct RankedBits {
    /// In the low half 32 bits of the bitmap, in the high half the number of members below them.
    words: Vec<u64>,
}

impl RankedBits {
    /// A set of ascending numbers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn new(numbers: impl DoubleEndedIterator<Item = u32> + Clone) -> Result<Self> {
        let end = numbers
            .clone()
            .next_back()
            .map_or(0, |last| last as usize + 1);
        let mut words = columns::repeated(0u64, end.div_ceil(32))?;
        for number in numbers {
            words[(number / 32) as usize] |= 1 << (number % 32);
        }
        let mut below = 0;
        for word in &mut words {
            let bits = *word;
            *word |= below << 32;
            below += u64::from(bits.count_ones());
        }
        Ok(Self { words })
    }

    /// The size of the set in bytes.
    pub fn memory_size(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// How many members are smaller than this one; `None` if it is no member.
    #[inline]
    pub fn rank(&self, number: u32) -> Option<u32> {
        let word = *self.words.get((number / 32) as usize)?;
        let bit = 1u32 << (number % 32);
        let (bits, below) = (word as u32, (word >> 32) as u32);
        match bits & bit {
            0 => None,
            _ => Some(below + (bits & (bit - 1)).count_ones()),
        }
    }

    /// Asks for what [`rank`](Self::rank) reads.
    #[inline]
    pub(super) fn prefetch(&self, number: u32) {
        prefetch(&self.words, number / 32);
    }

    /// How many members are not greater than a number.
    #[inline]
    pub fn count_up_to(&self, number: u32) -> u32 {
        let at = (number / 32) as usize;
        let Some(&word) = self.words.get(at.min(self.words.len().saturating_sub(1))) else {
            return 0;
        };
        let (bits, below) = (word as u32, (word >> 32) as u32);
        let counted = if at < self.words.len() {
            bits & (u32::MAX >> (31 - number % 32))
        } else {
            bits
        };
        below + counted.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_and_counts_as_a_sorted_list(
            members in prop::collection::btree_set(0u32..2000, 0..200),
            probes in prop::collection::vec(0u32..2200, 100),
        ) {
            let members: Vec<u32> = members.into_iter().collect();
            let bits = RankedBits::new(members.iter().copied())?;
            for probe in members.iter().copied().chain(probes) {
                let rank = members.binary_search(&probe).ok().map(|rank| rank as u32);
                prop_assert_eq!(bits.rank(probe), rank);
                let count = members.partition_point(|&member| member <= probe) as u32;
                prop_assert_eq!(bits.count_up_to(probe), count);
            }
        }
    }
}
