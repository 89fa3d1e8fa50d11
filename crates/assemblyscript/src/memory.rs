//! The memory of the dump, read again when a question needs contents.

use super::dump_source::DumpSource;
use crate::runtime::objects::{HEADER_SIZE, ObjectHeader};
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::DumpBytes;

/// The memory of the dump where it lies, without copying it.
#[derive(Clone, Copy)]
pub(super) struct MemoryInPlace<'m> {
    pub(crate) bytes: &'m [u8],
    source: &'m dyn DumpBytes,
}

impl<'m> MemoryInPlace<'m> {
    /// `opened` is what [`DumpBytes::open`] returned. `None` if the memory has to be copied.
    ///
    /// # Errors
    /// Those of [`DumpBytes::bytes`].
    pub(crate) fn new(
        heap: &'m DumpSource,
        opened: Option<&'m dyn DumpBytes>,
        may_map: bool,
    ) -> Result<Option<Self>> {
        let source = opened.unwrap_or(&*heap.contents);
        let memory = heap.memory_start..heap.memory_start + heap.memory_size;
        let (start, end) = (memory.start as usize, memory.end as usize);
        // A shorter file has changed: reading it is an error.
        let bytes = source
            .bytes(may_map)?
            .and_then(|bytes| bytes.get(start..end));
        Ok(bytes.map(|bytes| Self { bytes, source }))
    }

    /// Whether the bytes are still those of the dump.
    ///
    /// # Errors
    /// Those of [`DumpBytes::check`].
    pub(crate) fn check(self) -> Result<()> {
        self.source.check()
    }

    /// Lets go of the pages that were read, if they are many.
    pub(crate) fn release_pages(self) {
        self.source.release_pages();
    }
}

/// The memory of the dump, for many reads in a row.
pub(super) struct OpenMemory<'h> {
    heap: &'h DumpSource,
    opened: OpenedFile<'h>,
}

/// What the first read opens.
enum OpenedFile<'h> {
    /// Nothing was read yet.
    NotYet,
    /// Nothing needs to be opened.
    InPlace,
    /// The file, which stays open.
    File(Box<dyn DumpBytes + 'h>),
}

impl<'h> OpenMemory<'h> {
    pub(crate) fn new(heap: &'h DumpSource) -> Self {
        Self {
            heap,
            opened: OpenedFile::NotYet,
        }
    }

    /// Fills `into` with the memory from `address` on.
    ///
    /// # Errors
    /// Those of [`DumpBytes::read_at`].
    pub(crate) fn read(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        let source = &self.heap.contents;
        if matches!(self.opened, OpenedFile::NotYet) {
            self.opened = source.open()?.map_or(OpenedFile::InPlace, OpenedFile::File);
        }
        let offset = self.heap.memory_start + address;
        match &self.opened {
            OpenedFile::File(file) => file.read_at(offset, into),
            OpenedFile::InPlace | OpenedFile::NotYet => source.read_at(offset, into),
        }
    }
}

/// The number of bytes that are read at once.
const WINDOW: u32 = 1 << 12;
/// The same for sequential reading.
pub(super) const LONG_WINDOW: u32 = 1 << 18;

/// Reads memory piece by piece.
pub(super) struct MemoryReader<'h> {
    heap: &'h DumpSource,
    memory: OpenMemory<'h>,
    bytes: Vec<u8>,
    start: u64,
    window: u32,
    /// The address at which reading ahead ends.
    end: u64,
    control: Control,
    /// The position of a word that was found last, so that the next of many equal words is not searched from the start.
    pub(super) last_found: Option<FoundWord>,
    /// The units of reading that are not counted yet.
    read: u64,
}

const BYTES_PER_UNIT: u64 = 64;

/// A word that was found in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundWord {
    /// The address of the buffer, the offset from which it was searched, and the word.
    pub(super) searched: (u32, u32, u32),
    /// The number of equal words before it.
    pub(super) skipped: usize,
    /// Where the search goes on.
    pub(super) next: u32,
}

impl FoundWord {
    /// Where to search for the word after `skipped` equal ones, and how many of them are left to skip, if this is the
    /// same search.
    pub(super) fn resume(self, searched: (u32, u32, u32), skipped: usize) -> Option<(u32, usize)> {
        let left = skipped.checked_sub(self.skipped + 1)?;
        (self.searched == searched).then_some((self.next, left))
    }
}

/// The payload of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct PayloadReader {
    pub(super) address: u32,
    /// The size in bytes, limited by the block.
    pub(super) size: u32,
}

impl<'h> MemoryReader<'h> {
    /// A reader that has read nothing. Cancelled work reads nothing more.
    pub(super) fn new(heap: &'h DumpSource, control: &Control) -> Self {
        Self {
            control: control.clone(),
            last_found: None,
            read: 0,
            heap,
            memory: OpenMemory::new(heap),
            bytes: Vec::new(),
            start: 0,
            window: WINDOW,
            end: heap.memory_size,
        }
    }

    /// For reading a large part of the memory from its start to its end.
    pub(super) fn sequential(heap: &'h DumpSource, control: &Control) -> Self {
        Self {
            window: LONG_WINDOW,
            ..Self::new(heap, control)
        }
    }

    /// From now on, does not read ahead beyond the block of this object.
    pub(super) fn stop_after(&mut self, object: ObjectIndex) {
        let heap = &self.heap.heap;
        let size = heap.block_size(object).saturating_sub(HEADER_SIZE);
        self.end = u64::from(heap.memory_address(object).0) + u64::from(size);
    }

    pub(super) fn heap(&self) -> &'h DumpSource {
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
        self.read += 1 + (end - from) / BYTES_PER_UNIT;
        if self.read >= CHECK_INTERVAL as u64 {
            self.control.count(std::mem::take(&mut self.read))?;
        }
        let is_held = self.start <= from && end <= self.start + self.bytes.len() as u64;
        if !is_held {
            let wanted = (from + u64::from(self.window)).min(self.end);
            let size = wanted.max(end).saturating_sub(from) as usize;
            // Only the additional bytes are cleared.
            if let Some(more) = size.checked_sub(self.bytes.len()) {
                columns::reserve(&mut self.bytes, more)?;
            }
            self.bytes.resize(size, 0);
            self.start = from;
            let read = self.memory.read(from, &mut self.bytes);
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
    pub(super) fn payload(&mut self, address: u32) -> Result<PayloadReader> {
        let header = match address.checked_sub(HEADER_SIZE) {
            Some(block) => {
                let memory = dumps::Memory::new(self.read(block, HEADER_SIZE)?);
                ObjectHeader::read(memory, Address(0))
            }
            None => None,
        };
        Ok(PayloadReader {
            address,
            size: header.map_or(0, |header| header.size.min(header.capacity())),
        })
    }

    /// A word of a payload; `None` outside of it.
    pub(super) fn field(&mut self, payload: PayloadReader, offset: u32) -> Result<Option<u32>> {
        match offset.checked_add(4) {
            Some(end) if end <= payload.size => self.word(payload.address + offset),
            _ => Ok(None),
        }
    }

    /// Bytes of a payload; fewer at its end.
    pub(super) fn part(
        &mut self,
        payload: PayloadReader,
        offset: u32,
        length: u32,
    ) -> Result<&[u8]> {
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
