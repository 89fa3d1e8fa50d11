//! From an address to the object there, without a hash map: a bitmap with one bit per 16 bytes of
//! memory (payloads are aligned to that), and the number of objects below every 64 bits of it.
//!
//! A lookup costs two loads and a population count; a 4 GiB memory needs 48 MiB.

use crate::units::{Address, ObjectIndex};

const GRANULE: u32 = 16;

/// Answers which object, if any, a word refers to.
#[derive(Debug, Default)]
pub struct AddressIndex {
    bits: Vec<u64>,
    /// Objects below the first bit of each word of `bits`.
    ranks: Vec<u32>,
}

impl AddressIndex {
    /// Indexes payload addresses, which must ascend and be multiples of 16. Objects are numbered
    /// in their order.
    pub fn new(addresses: &[u32]) -> Self {
        let slots = addresses
            .last()
            .map_or(0, |&last| last as usize / GRANULE as usize + 1);
        let mut bits = vec![0u64; slots.div_ceil(64)];
        for &address in addresses {
            let slot = (address / GRANULE) as usize;
            bits[slot / 64] |= 1 << (slot % 64);
        }
        let mut below = 0;
        let ranks = bits
            .iter()
            .map(|word| {
                let rank = below;
                below += word.count_ones();
                rank
            })
            .collect();
        Self { bits, ranks }
    }

    /// The object whose payload begins exactly at `address`.
    #[inline]
    pub fn get(&self, address: Address) -> Option<ObjectIndex> {
        if !address.0.is_multiple_of(GRANULE) {
            return None;
        }
        let slot = (address.0 / GRANULE) as usize;
        let word = *self.bits.get(slot / 64)?;
        let bit = 1u64 << (slot % 64);
        if word & bit == 0 {
            return None;
        }
        let below = (word & (bit - 1)).count_ones();
        Some(ObjectIndex(self.ranks[slot / 64] + below))
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
            let index = AddressIndex::new(&addresses);
            for probe in addresses.iter().copied().chain(probes) {
                let expected = addresses.binary_search(&probe).ok().map(|at| ObjectIndex(at as u32));
                prop_assert_eq!(index.get(Address(probe)), expected);
            }
        }
    }
}
