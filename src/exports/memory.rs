//! The memory of the dump, read again in pages, of which the last read ones are kept. Objects that were made
//! together lie together, so most reads find their page. Each reading of the file takes longer than copying a
//! page of it, so where pages are read in their order, more and more of them are read at once.

use crate::columns;
use crate::error::Result;
use crate::questions::LoadedHeap;
use crate::runtime::objects::{HEADER_SIZE, ObjectHeader};
use crate::units::{Address, ObjectIndex};

/// As small as the pages of most systems: one may be read for a single word.
const PAGE: u32 = 1 << 12;

/// Pages that are kept: 16 MiB. Each has one slot, by the lower bits of its number.
const SLOTS: usize = 1 << 12;

/// Pages that are read at once, at most.
const MOST_AT_ONCE: u32 = 1 << 8;

/// Orders of pages that are followed side by side.
const RUNS: usize = 4;

/// The memory of a heap's dump.
pub(super) struct PagedMemory<'h> {
    heap: &'h LoadedHeap,
    size: u64,
    /// The page in each slot.
    pages: Vec<u32>,
    bytes: Vec<u8>,
    /// The one that went on last comes first.
    runs: [Run; RUNS],
    /// For what lies in several pages.
    joined: Vec<u8>,
}

/// Pages that were read one after the other.
#[derive(Clone, Copy, Default)]
struct Run {
    /// The page after the last.
    end: u32,
    /// How many are to be read at once.
    count: u32,
}

/// The payload of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Payload {
    pub(super) address: u32,
    /// Bytes, no more than the block has.
    pub(super) size: u32,
}

const NO_PAGE: u32 = u32::MAX;

impl<'h> PagedMemory<'h> {
    pub(super) fn new(heap: &'h LoadedHeap) -> Result<Self> {
        Ok(Self {
            heap,
            size: heap.dump_memory_size(),
            pages: columns::repeated(NO_PAGE, SLOTS)?,
            bytes: Vec::new(),
            runs: [Run::default(); RUNS],
            joined: Vec::new(),
        })
    }

    /// The bytes of a page, fewer at the end of the memory.
    fn page(&mut self, page: u32) -> Result<&[u8]> {
        if self.bytes.is_empty() {
            self.bytes = columns::repeated(0, SLOTS * PAGE as usize)?;
        }
        let slot = page as usize % SLOTS;
        if self.pages[slot] != page {
            self.read_pages(page)?;
        }
        let length = self.length_of(page, 1);
        Ok(&self.bytes[slot * PAGE as usize..][..length])
    }

    /// Reads a page, and those after it if that is where reading goes on.
    fn read_pages(&mut self, page: u32) -> Result<()> {
        let goes_on = |run: &Run| page.wrapping_sub(run.end) < run.count;
        let nth = self.runs.iter().position(goes_on);
        let count = nth.map_or(1, |nth| (2 * self.runs[nth].count).min(MOST_AT_ONCE));
        let slot = page as usize % SLOTS;
        let count = count.min((SLOTS - slot) as u32);
        self.runs[..=nth.unwrap_or(RUNS - 1)].rotate_right(1);
        self.runs[0] = Run {
            end: page.saturating_add(count),
            count,
        };
        let length = self.length_of(page, count);
        let bytes = &mut self.bytes[slot * PAGE as usize..][..length];
        let pages = &mut self.pages[slot..slot + count as usize];
        pages.fill(NO_PAGE);
        let start = u64::from(page) * u64::from(PAGE);
        self.heap.read_memory(start, bytes)?;
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

    /// The word at `address`; 0 outside of the memory.
    #[inline]
    pub(super) fn word(&mut self, address: u32) -> Result<u32> {
        let bytes = self.read(address, 4)?.first_chunk::<4>();
        Ok(bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// The payload of the object at `address`.
    pub(super) fn payload(&mut self, address: u32) -> Result<Payload> {
        let header = match address.checked_sub(HEADER_SIZE) {
            Some(block) => {
                let memory = crate::dump::Memory::new(self.read(block, HEADER_SIZE)?);
                ObjectHeader::read(memory, Address(0))
            }
            None => None,
        };
        Ok(Payload {
            address,
            size: header.map_or(0, |header| header.size.min(header.capacity())),
        })
    }

    /// The payload of this object.
    pub(super) fn payload_of(&mut self, object: ObjectIndex) -> Result<Payload> {
        self.payload(self.heap.heap().address(object).0)
    }

    /// A word of a payload; 0 outside of it.
    pub(super) fn field(&mut self, payload: Payload, offset: u32) -> Result<u32> {
        match offset.checked_add(4) {
            Some(end) if end <= payload.size => self.word(payload.address + offset),
            _ => Ok(0),
        }
    }
}
