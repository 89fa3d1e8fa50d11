//! The memory of a dump, read again when a question needs contents.

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use heap::DumpBytes;

/// The number of bytes that are read at once.
const WINDOW: u32 = 1 << 14;
const BYTES_PER_UNIT: u64 = 64;

/// Where the memory of a dump is.
pub(crate) struct DumpMemory {
    contents: Box<dyn DumpBytes>,
    /// The offset of the memory in the dump, and its size in bytes.
    start: u64,
    size: u64,
}

impl DumpMemory {
    pub(crate) fn new(contents: Box<dyn DumpBytes>, start: u64, size: u64) -> Self {
        Self {
            contents,
            start,
            size,
        }
    }
}

/// Reads memory piece by piece.
pub(crate) struct WindowReader<'m> {
    memory: &'m DumpMemory,
    opened: Option<Box<dyn DumpBytes + 'm>>,
    is_open: bool,
    bytes: Vec<u8>,
    start: u64,
    read: u64,
    control: Control,
}

impl<'m> WindowReader<'m> {
    /// A reader that has read nothing. Cancelled work reads nothing more.
    pub(crate) fn new(memory: &'m DumpMemory, control: &Control) -> Self {
        Self {
            memory,
            opened: None,
            is_open: false,
            bytes: Vec::new(),
            start: 0,
            read: 0,
            control: control.clone(),
        }
    }

    /// `length` bytes from `address` on; fewer at the end of the memory, none beyond it.
    ///
    /// # Errors
    /// Those of [`DumpBytes::read_at`].
    pub(crate) fn read(&mut self, address: u32, length: u32) -> Result<&[u8]> {
        let from = u64::from(address);
        let end = (from + u64::from(length)).min(self.memory.size).max(from);
        if end == from {
            return Ok(&[]);
        }
        self.read += 1 + (end - from) / BYTES_PER_UNIT;
        if self.read >= CHECK_INTERVAL as u64 {
            self.control.count(std::mem::take(&mut self.read))?;
        }
        let is_held = self.start <= from && end <= self.start + self.bytes.len() as u64;
        if !is_held {
            self.fill(from, end)?;
        }
        let start = (from - self.start) as usize;
        Ok(&self.bytes[start..start + (end - from) as usize])
    }

    fn fill(&mut self, from: u64, end: u64) -> Result<()> {
        let wanted = (from + u64::from(WINDOW)).min(self.memory.size).max(end);
        let size = (wanted - from) as usize;
        if let Some(more) = size.checked_sub(self.bytes.len()) {
            columns::reserve(&mut self.bytes, more)?;
        }
        self.bytes.resize(size, 0);
        self.start = from;
        if !self.is_open {
            self.opened = self.memory.contents.open()?;
            self.is_open = true;
        }
        let offset = self.memory.start + from;
        let read = match &self.opened {
            Some(opened) => opened.read_at(offset, &mut self.bytes),
            None => self.memory.contents.read_at(offset, &mut self.bytes),
        };
        if read.is_err() {
            self.bytes.clear();
        }
        read
    }
}
