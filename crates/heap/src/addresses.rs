//! The addresses of objects as a column: 4 bytes each, as far as they fit.

use base::columns;
use base::error::Result;
use base::units::{Address, ObjectAddress};

/// The addresses of objects, ascending. Each is kept as its offset from a base, in units of a granule: an object takes 4
/// bytes. Only a heap whose addresses are further apart takes 8.
#[derive(Clone, Debug)]
pub struct Addresses {
    column: AddressColumn,
    base: u64,
    /// The granule, as a power of two.
    shift: u32,
}

#[derive(Clone, Debug)]
enum AddressColumn {
    Offsets(Vec<u32>),
    Wide(Vec<u64>),
}

impl Default for Addresses {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

/// Addresses in a memory of 32 bits, or ids of 32 bits.
impl From<Vec<u32>> for Addresses {
    fn from(offsets: Vec<u32>) -> Self {
        Self {
            column: AddressColumn::Offsets(offsets),
            base: 0,
            shift: 0,
        }
    }
}

impl Addresses {
    /// Addresses of 64 bits, which ascend.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn of_wide(addresses: Vec<u64>) -> Result<Self> {
        let base = addresses.first().copied().unwrap_or(0);
        let last = addresses.last().copied().unwrap_or(0);
        let bits = addresses
            .iter()
            .fold(0, |bits, address| bits | address.wrapping_sub(base));
        let shift = bits.trailing_zeros().min(u64::BITS - 1);
        if last.wrapping_sub(base) >> shift > u64::from(u32::MAX) {
            return Ok(Self {
                column: AddressColumn::Wide(addresses),
                base: 0,
                shift: 0,
            });
        }
        let offsets = addresses
            .iter()
            .map(|address| (address.wrapping_sub(base) >> shift) as u32);
        Ok(Self {
            column: AddressColumn::Offsets(columns::collected(offsets)?),
            base,
            shift,
        })
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        match &self.column {
            AddressColumn::Offsets(offsets) => offsets.len(),
            AddressColumn::Wide(addresses) => addresses.len(),
        }
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The address of the `nth` object.
    #[inline]
    pub fn get(&self, nth: usize) -> ObjectAddress {
        ObjectAddress(match &self.column {
            AddressColumn::Offsets(offsets) => self.base + (u64::from(offsets[nth]) << self.shift),
            AddressColumn::Wide(addresses) => addresses[nth],
        })
    }

    /// All addresses.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = ObjectAddress> + '_ {
        (0..self.len()).map(|nth| self.get(nth))
    }

    /// The addresses as 32-bit numbers, if they were made of such; empty otherwise. For sources, which know what they made.
    #[inline]
    pub fn words(&self) -> &[u32] {
        match &self.column {
            AddressColumn::Offsets(offsets) if self.base == 0 && self.shift == 0 => offsets,
            _ => &[],
        }
    }

    /// The address of the `nth` object, in a memory of 32 bits.
    #[inline]
    pub fn word(&self, nth: usize) -> Address {
        Address(self.words()[nth])
    }

    /// Whether all addresses fit 32 bits.
    pub fn fit_32_bits(&self) -> bool {
        let last = self.len().checked_sub(1).map(|last| self.get(last));
        last.is_none_or(|last| u32::try_from(last.0).is_ok())
    }

    /// The first object of a range that is not below an address.
    pub fn first_from(&self, address: ObjectAddress, range: std::ops::Range<usize>) -> usize {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle) < address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The object at an address.
    pub fn position(&self, address: ObjectAddress) -> Option<usize> {
        let nth = self.first_from(address, 0..self.len());
        (nth < self.len() && self.get(nth) == address).then_some(nth)
    }

    /// Asks for the memory of the address of an object.
    #[inline]
    pub fn prefetch(&self, nth: u32) {
        match &self.column {
            AddressColumn::Offsets(offsets) => crate::prefetch(offsets, nth),
            AddressColumn::Wide(addresses) => crate::prefetch(addresses, nth),
        }
    }

    /// The size of the column in bytes.
    pub(crate) fn memory_size(&self) -> usize {
        match &self.column {
            AddressColumn::Offsets(offsets) => offsets.capacity() * size_of::<u32>(),
            AddressColumn::Wide(addresses) => addresses.capacity() * size_of::<u64>(),
        }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        match &mut self.column {
            AddressColumn::Offsets(offsets) => offsets.shrink_to_fit(),
            AddressColumn::Wide(addresses) => addresses.shrink_to_fit(),
        }
    }

    /// The same column.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn copied(&self) -> Result<Self> {
        let column = match &self.column {
            AddressColumn::Offsets(offsets) => {
                AddressColumn::Offsets(columns::collected(offsets.iter().copied())?)
            }
            AddressColumn::Wide(addresses) => {
                AddressColumn::Wide(columns::collected(addresses.iter().copied())?)
            }
        };
        Ok(Self { column, ..*self })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Addresses above 4 GiB in multiples of 8.
    const BASE: u64 = 0x7_0000_0000;

    proptest! {
        #[test]
        fn addresses_of_64_bits_are_those_they_were_made_of(
            granules in prop::collection::btree_set(0u64..1 << 36, 0..200),
            probe in 0u64..1 << 36,
        ) {
            let expected: Vec<u64> = granules.iter().map(|granule| BASE + granule * 8).collect();
            let addresses = Addresses::of_wide(expected.clone()).unwrap();
            let found: Vec<u64> = addresses.iter().map(|address| address.0).collect();
            prop_assert_eq!(&found, &expected);
            let probe = BASE + probe * 8;
            for address in expected.iter().copied().chain([probe, 0, u64::MAX]) {
                let position = expected.binary_search(&address).ok();
                prop_assert_eq!(addresses.position(ObjectAddress(address)), position);
            }
        }
    }

    #[test]
    fn a_heap_of_32_gib_in_multiples_of_8_takes_4_bytes_an_object() {
        let addresses = vec![BASE, BASE + 8, BASE + (8 << 32) - 8];
        let addresses = Addresses::of_wide(addresses).unwrap();
        assert_eq!(addresses.memory_size(), 3 * 4);
        assert!(!addresses.fit_32_bits());
    }

    #[test]
    fn only_addresses_that_are_further_apart_take_8_bytes() {
        let addresses = vec![BASE, BASE + 8, BASE + (8 << 32)];
        let addresses = Addresses::of_wide(addresses).unwrap();
        assert_eq!(addresses.memory_size(), 3 * 8);
        assert_eq!(addresses.get(2), ObjectAddress(BASE + (8 << 32)));
    }

    #[test]
    fn the_numbers_of_a_32_bit_memory_are_kept_as_they_are() {
        let addresses = Addresses::from(vec![16, 48]);
        assert_eq!(addresses.words(), [16, 48]);
        assert!(addresses.fit_32_bits());
        assert_eq!(addresses.position(ObjectAddress(48)), Some(1));
        assert_eq!(addresses.position(ObjectAddress(47)), None);
        assert_eq!(addresses.position(ObjectAddress((1 << 32) + 48)), None);
    }
}
