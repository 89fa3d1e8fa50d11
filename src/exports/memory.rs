//! The memory of the dump, read again in pages of which the last used ones are kept. Objects that were
//! made together lie together, so most reads find their page.

use crate::columns;
use crate::error::Result;
use crate::questions::LoadedHeap;
use crate::runtime::objects::{HEADER_SIZE, ObjectHeader};
use crate::units::{Address, ObjectIndex};

const PAGE: u32 = 1 << 16;

/// Pages that are kept: 16 MiB.
const SLOTS: usize = 1 << 8;

/// The memory of a heap's dump.
pub(super) struct PagedMemory<'h> {
    heap: &'h LoadedHeap,
    size: u64,
    /// The page in each slot.
    pages: Vec<u32>,
    bytes: Vec<u8>,
    /// For what lies in several pages.
    joined: Vec<u8>,
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
            joined: Vec::new(),
        })
    }

    /// The bytes of a page, fewer at the end of the memory.
    fn page(&mut self, page: u32) -> Result<&[u8]> {
        if self.bytes.is_empty() {
            self.bytes = columns::repeated(0, SLOTS * PAGE as usize)?;
        }
        let slot = page as usize % SLOTS;
        let start = u64::from(page) * u64::from(PAGE);
        let length = self.size.saturating_sub(start).min(PAGE.into()) as usize;
        let bytes = &mut self.bytes[slot * PAGE as usize..][..length];
        if self.pages[slot] != page {
            self.pages[slot] = NO_PAGE;
            self.heap.read_memory(start, bytes)?;
            self.pages[slot] = page;
        }
        Ok(bytes)
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
