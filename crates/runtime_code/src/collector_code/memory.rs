//! The memory of the machine: pages of 4 KiB that exist once they are written, above a base that
//! several runs share.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The memory of a machine.
pub(super) trait MachineMemory {
    /// The 64 KiB pages that `memory.size` reports, and `memory.grow` if it may succeed.
    fn pages(&self) -> Pages;
    /// Reads the `N` bytes from `address` on. `None` if there is no such memory.
    fn read<const N: usize>(&mut self, address: u32) -> Option<[u8; N]>;
    /// Writes bytes from `address` on. `None` if that is not possible.
    fn write(&mut self, address: u32, bytes: &[u8]) -> Option<()>;
}

/// The number of pages of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pages {
    /// So many, and growing always succeeds without a change.
    Enough(u64),
    /// So many, and no run may grow it.
    Exactly(u64),
}

/// The 64 KiB pages that `memory.size` reports.
const MEMORY_PAGES: u64 = 1 << 10;

const PAGE_BITS: u32 = 12;
pub(super) const PAGE: usize = 1 << PAGE_BITS;

type PageBytes = Box<[u8; PAGE]>;

/// The largest number of pages that one memory adds to its base. A collector writes to only a few.
const MOST_PAGES: usize = 1 << 14;

/// Fills in the contents of a page that was never written, given its number. Other bytes are zero.
pub(super) type Background = fn(u32, &mut [u8; PAGE]);

/// A 4 GiB memory.
#[derive(Clone, Debug)]
pub(super) struct SparseMemory {
    base: Arc<HashMap<u32, PageBytes>>,
    own: HashMap<u32, PageBytes>,
    background: Background,
}

impl SparseMemory {
    /// A memory without any page.
    pub(super) fn new(background: Background) -> Self {
        Self {
            base: Arc::default(),
            own: HashMap::new(),
            background,
        }
    }

    /// The same contents, as a base that copies share.
    pub(super) fn frozen(self) -> Self {
        let mut base = Arc::unwrap_or_clone(self.base);
        base.extend(self.own);
        Self {
            base: Arc::new(base),
            own: HashMap::new(),
            background: self.background,
        }
    }

    /// The numbers of all pages that were written, in ascending order.
    pub(super) fn pages(&self) -> BTreeSet<u32> {
        self.base.keys().chain(self.own.keys()).copied().collect()
    }

    pub(super) fn word(&mut self, address: u32) -> Option<u32> {
        self.read(address).map(u32::from_le_bytes)
    }

    /// Changes the word at `address`.
    pub(super) fn set_word(&mut self, address: u32, word: u32) -> Option<()> {
        self.write(address, &word.to_le_bytes())
    }

    fn page(&mut self, address: u32) -> Option<&[u8; PAGE]> {
        let number = address >> PAGE_BITS;
        if self.own.contains_key(&number) || !self.base.contains_key(&number) {
            return self.own_page(address).map(|page| &*page);
        }
        self.base.get(&number).map(|page| &**page)
    }

    fn own_page(&mut self, address: u32) -> Option<&mut [u8; PAGE]> {
        let number = address >> PAGE_BITS;
        if !self.own.contains_key(&number) {
            if self.own.len() == MOST_PAGES {
                return None;
            }
            let page = self.base.get(&number).cloned().unwrap_or_else(|| {
                let mut page = Box::new([0; PAGE]);
                (self.background)(number, &mut page);
                page
            });
            self.own.insert(number, page);
        }
        self.own.get_mut(&number).map(|page| &mut **page)
    }
}

impl MachineMemory for SparseMemory {
    fn pages(&self) -> Pages {
        Pages::Enough(MEMORY_PAGES)
    }

    /// Reads the `N` bytes from `address` on, which wraps.
    fn read<const N: usize>(&mut self, address: u32) -> Option<[u8; N]> {
        let offset = address as usize % PAGE;
        if let Some(bytes) = self.page(address)?.get(offset..offset + N) {
            return bytes.try_into().ok();
        }
        let mut bytes = [0; N];
        for (nth, byte) in bytes.iter_mut().enumerate() {
            let address = address.wrapping_add(nth as u32);
            *byte = self.page(address)?[address as usize % PAGE];
        }
        Some(bytes)
    }

    /// Writes bytes from `address` on, which wraps. `None` if that takes too many pages.
    fn write(&mut self, address: u32, bytes: &[u8]) -> Option<()> {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = address as usize % PAGE;
            let (now, later) = rest.split_at(rest.len().min(PAGE - offset));
            self.own_page(address)?[offset..offset + now.len()].copy_from_slice(now);
            address = address.wrapping_add(now.len() as u32);
            rest = later;
        }
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn values_may_span_two_pages_and_wrap_at_the_end() {
        let mut memory = SparseMemory::new(|_, _| {});
        for address in [0xffe, 0xffff_fffe, 5] {
            memory.set_word(address, 0x0403_0201).unwrap();
            assert_eq!(memory.word(address), Some(0x0403_0201));
        }
        assert_eq!(memory.read::<1>(0), Some([3]));
    }

    #[test]
    fn a_copy_of_a_frozen_memory_does_not_change_the_others() {
        let mut memory = SparseMemory::new(|number, page| page[0] = number as u8);
        memory.set_word(4, 7).unwrap();
        let frozen = memory.frozen();
        let mut copy = frozen.clone();
        copy.set_word(4, 8).unwrap();
        assert_eq!(copy.word(4), Some(8));
        assert_eq!(frozen.clone().word(4), Some(7));
        assert_eq!(copy.word(0x3000), Some(3));
    }
}
