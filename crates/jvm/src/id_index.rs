//! Finds an object by its id: a bitmap where objects are dense, otherwise the sorted ids.

use base::columns;
use base::error::Result;
use base::units::ObjectIndex;

/// Granules in a page, as a power of two: 64 KiB of a heap whose objects lie at multiples of 8.
const PAGE: u32 = 13;
const WORDS: usize = 1 << (PAGE - 6);
/// In the place of a page without objects.
const NO_PAGE: u32 = u32::MAX;
/// Bytes that the bitmap may take for each object: as many as two ids.
const MOST_BYTES: usize = 16;
const PAGE_BYTES: usize = WORDS * (size_of::<u64>() + size_of::<u16>()) + size_of::<u32>();

/// Which object has an id.
pub(crate) struct IdIndex<'i> {
    ids: Ids<'i>,
    pages: Option<IdPages>,
}

/// Ids, ascending.
#[derive(Clone, Copy)]
pub(crate) struct Ids<'i>(pub(crate) &'i heap::Addresses);

impl Ids<'_> {
    fn get(self, nth: usize) -> u64 {
        self.0.get(nth).0
    }

    fn len(self) -> usize {
        self.0.len()
    }
}

struct IdPages {
    base: u64,
    shift: u32,
    /// By number of a page: its place, or [`NO_PAGE`].
    places: Vec<u32>,
    /// By place: [`WORDS`] words with a bit for each granule at which an object is.
    bits: Vec<u64>,
    /// By word: the objects of the page before it.
    ranks: Vec<u16>,
    /// By place: the first object of the page.
    firsts: Vec<u32>,
}

impl<'i> IdIndex<'i> {
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn new(ids: Ids<'i>) -> Result<Self> {
        Ok(Self {
            ids,
            pages: IdPages::new(ids)?,
        })
    }

    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<ObjectIndex> {
        match &self.pages {
            Some(pages) => pages.get(id),
            None => {
                let position = self.ids.0.position(base::units::ObjectAddress(id))?;
                Some(ObjectIndex(position as u32))
            }
        }
    }
}

impl IdPages {
    /// `None` if it would take more memory than the ids are worth.
    fn new(ids: Ids<'_>) -> Result<Option<Self>> {
        let count = ids.len();
        let Some(last) = count.checked_sub(1) else {
            return Ok(None);
        };
        let base = ids.get(0);
        let span = ids.get(last) - base;
        let shift = (0..count)
            .fold(0, |bits, nth| bits | (ids.get(nth) - base))
            .trailing_zeros()
            .min(PAGE);
        let directory = (span >> shift >> PAGE) + 1;
        let most = (count * MOST_BYTES + PAGE_BYTES) as u64;
        if directory.saturating_mul(size_of::<u32>() as u64) > most {
            return Ok(None);
        }
        let page_of = |nth: usize| ((ids.get(nth) - base) >> shift) >> PAGE;
        let mut used = 0;
        let mut previous = None;
        for nth in 0..count {
            let page = Some(page_of(nth));
            used += u64::from(page != previous);
            previous = page;
        }
        if used.saturating_mul(PAGE_BYTES as u64) > most {
            return Ok(None);
        }
        let mut pages = Self {
            base,
            shift,
            places: columns::repeated(NO_PAGE, directory as usize)?,
            bits: columns::zeros(used as usize * WORDS)?,
            ranks: columns::zeros(used as usize * WORDS)?,
            firsts: columns::with_capacity(used as usize)?,
        };
        for nth in 0..count {
            pages.add(ids.get(nth), nth as u32);
        }
        pages.rank();
        Ok(Some(pages))
    }

    fn add(&mut self, id: u64, nth: u32) {
        let granule = (id - self.base) >> self.shift;
        let page = (granule >> PAGE) as usize;
        if self.places[page] == NO_PAGE {
            self.places[page] = self.firsts.len() as u32;
            self.firsts.push(nth);
        }
        let place = self.places[page] as usize;
        let bit = granule as usize & ((1 << PAGE) - 1);
        self.bits[place * WORDS + bit / 64] |= 1 << (bit % 64);
    }

    fn rank(&mut self) {
        let words = self.bits.chunks_exact(WORDS);
        for (bits, ranks) in words.zip(self.ranks.chunks_exact_mut(WORDS)) {
            let mut before = 0;
            for (bits, rank) in bits.iter().zip(ranks) {
                *rank = before;
                before += bits.count_ones() as u16;
            }
        }
    }

    #[inline]
    fn get(&self, id: u64) -> Option<ObjectIndex> {
        let distance = id.wrapping_sub(self.base);
        let granule = distance >> self.shift;
        if granule << self.shift != distance {
            return None;
        }
        let place = *self.places.get(usize::try_from(granule >> PAGE).ok()?)?;
        if place == NO_PAGE {
            return None;
        }
        let bit = granule as usize & ((1 << PAGE) - 1);
        let word = place as usize * WORDS + bit / 64;
        let bits = self.bits[word];
        let mask = 1u64 << (bit % 64);
        if bits & mask == 0 {
            return None;
        }
        let before = (bits & (mask - 1)).count_ones();
        Some(ObjectIndex(
            self.firsts[place as usize] + u32::from(self.ranks[word]) + before,
        ))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;
    use heap::Addresses;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_object_is_found_by_its_id_and_by_no_other(
            steps in prop::collection::vec(prop_oneof![4 => 1u64..20, 1 => 1u64..100_000], 1..400),
            shift in 0u32..4,
            probes in prop::collection::vec(0u64..1 << 24, 20),
        ) {
            let mut next = 0x7_0000_0000;
            let ids: Vec<u64> = steps.iter().map(|step| { next += step << shift; next }).collect();
            let addresses = Addresses::of_wide(ids.clone()).unwrap();
            let index = IdIndex::new(Ids(&addresses)).unwrap();
            let probes = probes.iter().map(|probe| 0x7_0000_0000 + probe);
            for id in ids.iter().copied().chain(probes).chain([0, u64::MAX]) {
                let expected = ids.binary_search(&id).ok().map(|nth| ObjectIndex(nth as u32));
                prop_assert_eq!(index.get(id), expected, "{:#x}", id);
            }
        }
    }

    #[test]
    fn ids_that_are_far_apart_take_no_bitmap() {
        let ids: Vec<u64> = (0..100).map(|nth| 8 + (nth << 40)).collect();
        let addresses = Addresses::of_wide(ids).unwrap();
        let index = IdIndex::new(Ids(&addresses)).unwrap();
        assert!(index.pages.is_none());
        assert_eq!(index.get(8 + (7 << 40)), Some(ObjectIndex(7)));
        assert_eq!(index.get(7 << 40), None);
    }

    #[test]
    fn objects_that_are_close_together_take_few_bytes() {
        let ids: Vec<u64> = (0..100_000).map(|nth| 0x1000 + nth * 24).collect();
        let addresses = Addresses::of_wide(ids).unwrap();
        assert!(IdIndex::new(Ids(&addresses)).unwrap().pages.is_some());
    }
}
