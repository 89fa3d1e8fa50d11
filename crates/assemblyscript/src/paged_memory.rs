//! The memory of the dump, read again in pages, of which the last read ones are kept. Objects that were made
//! together lie together, so most reads find their page. Each reading of the file takes longer than copying a
//! page of it, so where pages are read in their order, more and more of them are read at once.

use std::ops::Range;

use super::DumpSource;
use super::memory::{MemoryInPlace, OpenMemory};
use crate::runtime::objects::{HEADER_SIZE, ObjectHeader};
use base::columns;
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::prefetch;

/// As small as the pages of most systems: one may be read for a single word.
const PAGE: u32 = 1 << 12;

/// Pages that are kept in all, at most: 16 MiB.
const ALL_SLOTS: usize = 1 << 12;

/// Readers of the memory of a dump that work at the same time, at most: each keeps at least 1 MiB.
pub(super) const MOST_READERS: usize = 16;

/// Of the pages that are kept, the part that is read at once, at most.
const PART_AT_ONCE: usize = 8;

/// Pages that may be left out where reading goes on. Copying them takes less time than another reading.
const GAP: u32 = 16;

/// What a system brings into memory around a word that is read in place: 64 KiB, as a power of two.
const SURROUNDINGS: u32 = 16;

/// Surroundings that are read in place before pages are let go of: 32 MiB.
const MOST_SURROUNDINGS: u32 = 1 << 9;

/// Objects in advance for which memory is prefetched.
pub(super) const AHEAD: usize = 8;

/// Orders of pages that are followed side by side.
const RUNS: usize = 4;

/// The memory of a heap's dump.
pub(super) struct PagedMemory<'h> {
    heap: &'h DumpSource,
    /// If it is read where it lies, there are no pages.
    in_place: Option<MemoryInPlace<'h>>,
    /// The last surroundings that were read in place, and how many since pages were let go of.
    surroundings: (u32, u32),
    memory: OpenMemory<'h>,
    size: u64,
    /// The page in each slot. A page has one slot, by the lower bits of its number.
    pages: Vec<u32>,
    bytes: Vec<u8>,
    /// The pages of the part that is read now.
    part: Range<u32>,
    /// In this part.
    inside: PageRun,
    /// Elsewhere. The one that went on last comes first.
    runs: [PageRun; RUNS],
    /// For what lies in several pages.
    joined: Vec<u8>,
}

/// Pages that were read one after the other.
#[derive(Clone, Copy, Default)]
struct PageRun {
    /// The page after the last.
    end: u32,
    /// How many are to be read at once.
    count: u32,
}

impl PageRun {
    /// Whether a page is one of the next ones.
    fn goes_on(&self, page: u32) -> bool {
        page.wrapping_sub(self.end) < self.count.max(GAP)
    }

    /// How many pages to read at once, from this one on.
    fn next(&self, page: u32) -> u32 {
        if self.goes_on(page) {
            (4 * self.count).max(1)
        } else {
            1
        }
    }
}

/// Objects, each with the one for which memory is prefetched then.
pub(super) fn with_ahead(
    objects: impl Iterator<Item = ObjectIndex> + Clone,
) -> impl Iterator<Item = (ObjectIndex, Option<ObjectIndex>)> {
    let ahead = objects.clone().skip(AHEAD).map(Some);
    objects.zip(ahead.chain(std::iter::repeat(None)))
}

/// The payload of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PagedPayload {
    pub(super) address: u32,
    /// Bytes, no more than the block has.
    pub(super) size: u32,
}

const NO_PAGE: u32 = u32::MAX;

impl<'h> PagedMemory<'h> {
    /// For one of this number of readers, which share the memory for pages.
    pub(super) fn new(
        heap: &'h DumpSource,
        in_place: Option<MemoryInPlace<'h>>,
        readers: usize,
    ) -> Result<Self> {
        let share = ALL_SLOTS / readers.clamp(1, MOST_READERS).next_power_of_two();
        Ok(Self {
            heap,
            in_place,
            surroundings: (0, 0),
            memory: OpenMemory::new(heap),
            size: heap.dump_memory_size(),
            pages: columns::repeated(NO_PAGE, share)?,
            bytes: Vec::new(),
            part: 0..0,
            inside: PageRun::default(),
            runs: [PageRun::default(); RUNS],
            joined: Vec::new(),
        })
    }

    /// Begins with a part of the memory. Reading ahead in it ends where it ends: what comes after it is for
    /// another reader.
    pub(super) fn begin(&mut self, addresses: Range<u64>) {
        let page = |address: u64| (address / u64::from(PAGE)) as u32;
        self.part = page(addresses.start)..page(addresses.end + u64::from(PAGE) - 1);
        // As many pages at once as in the part before.
        self.inside.end = self.part.start;
    }

    /// The bytes of a page, fewer at the end of the memory.
    fn page(&mut self, page: u32) -> Result<&[u8]> {
        if self.bytes.is_empty() {
            self.bytes = columns::repeated(0, self.pages.len() * PAGE as usize)?;
        }
        let slot = self.slot(page);
        if self.pages[slot] != page {
            self.read_pages(page)?;
        }
        let length = self.length_of(page, 1);
        Ok(&self.bytes[slot * PAGE as usize..][..length])
    }

    #[inline]
    fn slot(&self, page: u32) -> usize {
        page as usize & (self.pages.len() - 1)
    }

    /// Reads a page, and those after it if that is where reading goes on.
    fn read_pages(&mut self, page: u32) -> Result<()> {
        let slot = self.slot(page);
        let mut most =
            ((self.pages.len() / PART_AT_ONCE) as u32).min((self.pages.len() - slot) as u32);
        let run = if self.part.contains(&page) {
            most = most.min(self.part.end - page);
            &mut self.inside
        } else {
            let nth = self.runs.iter().position(|run| run.goes_on(page));
            self.runs[..=nth.unwrap_or(RUNS - 1)].rotate_right(1);
            &mut self.runs[0]
        };
        let count = run.next(page).min(most);
        *run = PageRun {
            end: page.saturating_add(count),
            count,
        };
        let length = self.length_of(page, count);
        let bytes = &mut self.bytes[slot * PAGE as usize..][..length];
        let pages = &mut self.pages[slot..slot + count as usize];
        pages.fill(NO_PAGE);
        let start = u64::from(page) * u64::from(PAGE);
        self.memory.read(start, bytes)?;
        for (kept, page) in pages.iter_mut().zip(page..) {
            *kept = page;
        }
        Ok(())
    }

    /// Bytes of `count` pages, fewer at the end of the memory.
    fn length_of(&self, page: u32, count: u32) -> usize {
        let start = u64::from(page) * u64::from(PAGE);
        let length = u64::from(count) * u64::from(PAGE);
        self.size.saturating_sub(start).min(length) as usize
    }

    /// `length` bytes from `address` on, fewer at the end of the memory.
    pub(super) fn read(&mut self, address: u32, length: u32) -> Result<&[u8]> {
        let end = (u64::from(address) + u64::from(length)).min(self.size);
        let length = end.saturating_sub(address.into()) as usize;
        if let Some(memory) = self.in_place {
            self.count_surroundings(memory, address);
            let start = address as usize;
            return Ok(memory.bytes.get(start..start + length).unwrap_or_default());
        }
        let (page, offset) = (address / PAGE, (address % PAGE) as usize);
        if offset + length <= PAGE as usize {
            if length == 0 {
                return Ok(&[]);
            }
            return Ok(&self.page(page)?[offset..offset + length]);
        }
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        columns::reserve(&mut joined, length)?;
        let mut offset = offset;
        for page in page.. {
            let bytes = &self.page(page)?[offset..];
            let part = bytes.len().min(length - joined.len());
            joined.extend_from_slice(&bytes[..part]);
            offset = 0;
            if joined.len() == length || part == 0 {
                break;
            }
        }
        self.joined = joined;
        Ok(&self.joined)
    }

    /// Lets go of pages after many reads in place. What an object refers to may lie anywhere.
    #[inline]
    fn count_surroundings(&mut self, memory: MemoryInPlace<'_>, address: u32) {
        let (last, count) = &mut self.surroundings;
        if address >> SURROUNDINGS != *last {
            *last = address >> SURROUNDINGS;
            *count += 1;
            if *count == MOST_SURROUNDINGS {
                *count = 0;
                memory.release_pages();
            }
        }
    }

    /// Asks for the header of an object and the bytes after it, if they are read in place.
    #[inline]
    pub(super) fn prefetch(&self, object: Option<ObjectIndex>) {
        if let (Some(memory), Some(object)) = (self.in_place, object) {
            let address = self.heap.heap().memory_address(object).0;
            for near in [address.saturating_sub(HEADER_SIZE), address] {
                prefetch(memory.bytes, near);
            }
        }
    }

    /// The word at `address`; 0 outside of the memory.
    #[inline]
    pub(super) fn word(&mut self, address: u32) -> Result<u32> {
        let bytes = self.read(address, 4)?.first_chunk::<4>();
        Ok(bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// The payload of the object at `address`.
    pub(super) fn payload(&mut self, address: u32) -> Result<PagedPayload> {
        let header = match address.checked_sub(HEADER_SIZE) {
            Some(block) => {
                let memory = dumps::Memory::new(self.read(block, HEADER_SIZE)?);
                ObjectHeader::read(memory, Address(0))
            }
            None => None,
        };
        Ok(PagedPayload {
            address,
            size: header.map_or(0, |header| header.size.min(header.capacity())),
        })
    }

    pub(super) fn payload_of(&mut self, object: ObjectIndex) -> Result<PagedPayload> {
        self.payload(self.heap.heap().memory_address(object).0)
    }

    /// A word of a payload; 0 outside of it.
    pub(super) fn field(&mut self, payload: PagedPayload, offset: u32) -> Result<u32> {
        match offset.checked_add(4) {
            Some(end) if end <= payload.size => self.word(payload.address + offset),
            _ => Ok(0),
        }
    }
}
