//! From an address to the object there, without a hash map: a bitmap with one bit per 16 bytes of
//! memory (payloads are aligned to that), and beside every 32 bits of it the number of objects below
//! them.
//!
//! Bits and number share a word, so a lookup costs one load and a population count. Keeping 64 bits
//! to a number instead would save a quarter of the 64 MiB that a 4 GiB memory needs, but cost a second
//! load from another place.

use crate::columns;
use crate::error::Result;
use crate::units::{Address, ObjectIndex};

const GRANULE: u32 = 16;

/// Answers which object, if any, a word refers to.
#[derive(Debug, Default)]
pub struct AddressIndex {
    /// In the low half 32 bits of the bitmap, in the high half the number of objects below them.
    words: Vec<u64>,
}

impl AddressIndex {
    /// Indexes payload addresses, which must ascend and be multiples of 16. Objects are numbered
    /// in their order.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(addresses: &[u32]) -> Result<Self> {
        let granules = addresses
            .last()
            .map_or(0, |&last| last as usize / GRANULE as usize + 1);
        let mut words = columns::with_capacity(granules.div_ceil(32))?;
        words.resize(granules.div_ceil(32), 0u64);
        for &address in addresses {
            let granule = address / GRANULE;
            words[(granule / 32) as usize] |= 1 << (granule % 32);
        }
        let mut below = 0;
        for word in &mut words {
            let bits = *word;
            *word |= below << 32;
            below += u64::from(bits.count_ones());
        }
        Ok(Self { words })
    }

    /// How many bytes the index takes.
    pub(super) fn memory_size(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// The object whose payload begins exactly at `address`.
    #[inline]
    pub fn get(&self, address: Address) -> Option<ObjectIndex> {
        if !address.0.is_multiple_of(GRANULE) {
            return None;
        }
        let granule = address.0 / GRANULE;
        let word = *self.words.get((granule / 32) as usize)?;
        let bit = 1u32 << (granule % 32);
        let (bits, below) = (word as u32, (word >> 32) as u32);
        if bits & bit == 0 {
            return None;
        }
        Some(ObjectIndex(below + (bits & (bit - 1)).count_ones()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_exactly_the_addresses_it_was_made_from(
            slots in prop::collection::btree_set(0u32..5000, 0..300),
            probes in prop::collection::vec(0u32..100_000, 100),
        ) {
            let addresses: Vec<u32> = slots.iter().map(|slot| slot * GRANULE).collect();
            let index = AddressIndex::new(&addresses)?;
            for probe in addresses.iter().copied().chain(probes) {
                let expected = addresses.binary_search(&probe).ok().map(|at| ObjectIndex(at as u32));
                prop_assert_eq!(index.get(Address(probe)), expected);
            }
        }
    }
}
