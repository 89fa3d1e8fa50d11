//! The memory of the dump, read again when a question needs contents.

use std::sync::Arc;

use super::LoadedHeap;
use crate::columns;
use crate::error::{Error, Result};
use crate::runtime::objects::{HEADER_SIZE, ObjectHeader};
use crate::units::{Address, ObjectIndex};

/// A source from which the bytes of a dump can be read again.
pub trait Contents: Send + Sync {
    /// Fills `into` with the bytes of the dump from `offset` on.
    ///
    /// # Errors
    /// [`Error::DumpChanged`] if the dump was changed or replaced after it was opened, [`Error::Io`].
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()>;
}

/// A dump in memory.
pub struct InMemory<Bytes>(pub Bytes);

impl<Bytes: AsRef<[u8]> + Send + Sync> Contents for InMemory<Bytes> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let bytes = self.0.as_ref();
        let range = usize::try_from(offset)
            .ok()
            .and_then(|start| Some(start..start.checked_add(into.len())?));
        match range.and_then(|range| bytes.get(range)) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => {
                return Err(Error::DumpChanged {
                    found: format!("{} bytes", bytes.len()),
                });
            }
        }
        Ok(())
    }
}

impl<C: Contents + ?Sized> Contents for Arc<C> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        (**self).read_at(offset, into)
    }
}

/// The number of bytes that are read at once.
const WINDOW: u32 = 1 << 12;
/// The same for sequential reading.
pub(super) const LONG_WINDOW: u32 = 1 << 18;

/// Reads memory piece by piece.
pub(super) struct Reader<'h> {
    heap: &'h LoadedHeap,
    bytes: Vec<u8>,
    start: u64,
    window: u32,
    /// The address at which reading ahead ends.
    end: u64,
}

/// The payload of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload {
    pub(super) address: u32,
    /// The size in bytes, limited by the block.
    pub(super) size: u32,
}

impl<'h> Reader<'h> {
    pub(super) fn new(heap: &'h LoadedHeap) -> Self {
        Self {
            heap,
            bytes: Vec::new(),
            start: 0,
            window: WINDOW,
            end: heap.memory_size,
        }
    }

    /// For reading a large part of the memory from its start to its end.
    pub(super) fn sequential(heap: &'h LoadedHeap) -> Self {
        Self {
            window: LONG_WINDOW,
            ..Self::new(heap)
        }
    }

    /// From now on, does not read ahead beyond the block of this object.
    pub(super) fn stop_after(&mut self, object: ObjectIndex) {
        let heap = &self.heap.heap;
        let size = heap.shallow_size(object).saturating_sub(HEADER_SIZE);
        self.end = u64::from(heap.address(object).0) + u64::from(size);
    }

    /// Whether these bytes are available without reading the dump.
    pub(super) fn holds(&self, address: u32, length: u32) -> bool {
        let from = u64::from(address);
        let end = from + u64::from(length);
        self.start <= from && end <= self.start + self.bytes.len() as u64
    }

    pub(super) fn heap(&self) -> &'h LoadedHeap {
        self.heap
    }

    /// `length` bytes from `address` on; fewer at the end of the memory, none beyond it.
    pub(super) fn read(&mut self, address: u32, length: u32) -> Result<&[u8]> {
        let from = u64::from(address);
        let end = (from + u64::from(length))
            .min(self.heap.memory_size)
            .max(from);
        if end == from {
            return Ok(&[]);
        }
        if !self.holds(address, (end - from) as u32) {
            let wanted = (from + u64::from(self.window)).min(self.end);
            let size = wanted.max(end).saturating_sub(from) as usize;
            // Only the additional bytes are cleared.
            if let Some(more) = size.checked_sub(self.bytes.len()) {
                columns::reserve(&mut self.bytes, more)?;
            }
            self.bytes.resize(size, 0);
            self.start = from;
            let offset = self.heap.memory_start + from;
            let read = self.heap.contents.read_at(offset, &mut self.bytes);
            if read.is_err() {
                self.bytes.clear();
            }
            read?;
        }
        let start = (from - self.start) as usize;
        Ok(&self.bytes[start..start + (end - from) as usize])
    }

    /// The word at `address`; `None` outside of the memory.
    pub(super) fn word(&mut self, address: u32) -> Result<Option<u32>> {
        Ok(word_at(self.read(address, 4)?, 0))
    }

    /// The payload of the object at `address`.
    pub(super) fn payload(&mut self, address: u32) -> Result<Payload> {
        let header = address.checked_sub(HEADER_SIZE);
        let header = match header {
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

    /// A word of a payload; `None` outside of it.
    pub(super) fn field(&mut self, payload: Payload, offset: u32) -> Result<Option<u32>> {
        match offset.checked_add(4) {
            Some(end) if end <= payload.size => self.word(payload.address + offset),
            _ => Ok(None),
        }
    }

    /// Bytes of a payload; fewer at its end.
    pub(super) fn part(&mut self, payload: Payload, offset: u32, length: u32) -> Result<&[u8]> {
        let offset = offset.min(payload.size);
        let length = length.min(payload.size - offset);
        self.read(payload.address + offset, length)
    }

    /// The object that a word refers to.
    pub(super) fn object_at(&self, word: u32) -> Option<ObjectIndex> {
        self.heap.heap.objects.index.get(Address(word))
    }
}

/// A word of some bytes.
pub(super) fn word_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}
