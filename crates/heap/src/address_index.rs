//! Finds the object at an address, without a hash map: there is one bit for every 16 bytes of memory, because
//! payloads are aligned to 16 bytes. The number of bits set below an address is the number of the object. A 4
//! GiB memory needs 64 MiB.

use super::ranked_bits::RankedBits;
use base::error::Result;
use base::units::{Address, ObjectIndex};

const GRANULE: u32 = 16;

/// Finds the object to which a word refers.
#[derive(Debug, Default)]
pub struct AddressIndex(RankedBits);

impl AddressIndex {
    /// Indexes payload addresses, which must ascend and be multiples of 16. Objects are numbered
    /// in their order.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn new(addresses: &[u32]) -> Result<Self> {
        let granules = addresses.iter().map(|&address| address / GRANULE);
        Ok(Self(RankedBits::new(granules)?))
    }

    /// The size of the index in bytes.
    pub(super) fn memory_size(&self) -> usize {
        self.0.memory_size()
    }

    /// The object whose payload begins exactly at `address`.
    #[inline]
    pub fn get(&self, address: Address) -> Option<ObjectIndex> {
        if !address.0.is_multiple_of(GRANULE) {
            return None;
        }
        self.0.rank(address.0 / GRANULE).map(ObjectIndex)
    }

    /// Asks for what [`get`](Self::get) reads.
    #[inline]
    pub fn prefetch(&self, address: Address) {
        self.0.prefetch(address.0 / GRANULE);
    }

    /// The last object whose payload begins at or below `address`.
    #[inline]
    pub fn at_or_below(&self, address: Address) -> Option<ObjectIndex> {
        let count = self.0.count_up_to(address.0 / GRANULE);
        count.checked_sub(1).map(ObjectIndex)
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
                let below = addresses.partition_point(|&address| address <= probe).checked_sub(1).map(|at| ObjectIndex(at as u32));
                prop_assert_eq!(index.at_or_below(Address(probe)), below);
            }
        }
    }
}
