//! Finds the block around an address.

use base::error::Result;
use base::units::ObjectIndex;
use heap::RankedBits;

use crate::allocator::UsedBlocks;

/// Blocks begin at different multiples of this.
const GRANULE: u32 = 8;

/// Finds the block around an address: a bit for each multiple of [`GRANULE`] says whether a block begins there, and the
/// number of bits below it which block that is. So a word that is no address of a block costs a comparison or one load.
pub(crate) struct BlockIndex<'w> {
    walk: &'w UsedBlocks,
    starts: RankedBits,
    /// The number of the first granule.
    first: u32,
    /// The range of all blocks.
    lowest: u32,
    end: u32,
}

impl<'w> BlockIndex<'w> {
    pub(crate) fn new(walk: &'w UsedBlocks) -> Result<Self> {
        let lowest = walk.addresses.first().copied().unwrap_or(0);
        let first = lowest / GRANULE;
        let last = walk.addresses.last().zip(walk.usable.last());
        let end = last.map_or(0, |(&address, &usable)| address.saturating_add(usable));
        let starts = walk.addresses.iter();
        let starts = starts.map(|&address| address / GRANULE - first);
        Ok(Self {
            walk,
            starts: RankedBits::new(starts)?,
            first,
            lowest,
            end,
        })
    }

    /// The block whose usable bytes contain this address.
    #[inline]
    pub(crate) fn around(&self, address: u32) -> Option<ObjectIndex> {
        if address < self.lowest || address >= self.end {
            return None;
        }
        let below = self.starts.count_up_to(address / GRANULE - self.first);
        let mut nth = below.checked_sub(1)? as usize;
        // Blocks are counted by multiples of `GRANULE`. With an allocator that aligns less, this one may begin after the
        // address.
        if self.walk.addresses[nth] > address {
            nth = nth.checked_sub(1)?;
        }
        let is_inside = address - self.walk.addresses[nth] < self.walk.usable[nth];
        is_inside.then_some(ObjectIndex(nth as u32))
    }

    /// The block whose usable bytes begin at this address.
    #[inline]
    pub(crate) fn starting_at(&self, address: u32) -> Option<ObjectIndex> {
        let granule = (address / GRANULE).checked_sub(self.first)?;
        let nth = self.starts.rank(granule)?;
        (self.walk.addresses[nth as usize] == address).then_some(ObjectIndex(nth))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_found_as_a_search_from_the_start_finds_it() {
        let walk = UsedBlocks {
            addresses: vec![4104, 4120, 4148, 4400, 8192],
            usable: vec![12, 20, 16, 1000, 8],
            ..UsedBlocks::default()
        };
        let index = BlockIndex::new(&walk).unwrap();
        for address in (4000..8300).chain([0, 1, u32::MAX]) {
            let blocks = walk.addresses.iter().zip(&walk.usable);
            let mut containing = blocks.map(|(&start, &size)| start..start + size);
            let expected = containing.position(|range| range.contains(&address));
            let found = index.around(address).map(|object| object.0 as usize);
            assert_eq!(found, expected, "{address}");
            let starting = walk.addresses.iter().position(|&start| start == address);
            let found = index.starting_at(address);
            assert_eq!(found.map(ObjectIndex::at), starting, "{address}");
        }
        let none = UsedBlocks::default();
        assert!(BlockIndex::new(&none).unwrap().around(0).is_none());
    }
}
