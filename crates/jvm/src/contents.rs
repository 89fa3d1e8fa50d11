//! Reads records of objects again: out of the bytes of the file, or by positioned reads.

use crate::HprofError;
use crate::bytes::{IdSize, RecordCursor};
use crate::heap_records::{LONGEST_HEADER, ObjectRecord, object_at};
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::DumpBytes;

/// The bytes that are read at once.
const WINDOW: usize = 1 << 16;

/// Where the records of objects are: 5 bytes each, or 4 in a file of less than 4 GiB.
#[derive(Debug, Default)]
pub(crate) struct RecordOffsets {
    low: Vec<u32>,
    high: Vec<u8>,
}

/// The largest offset that is kept, plus one: 1 TiB.
pub(crate) const MOST_BYTES: u64 = 1 << 40;

impl RecordOffsets {
    pub(crate) fn new(offsets: impl ExactSizeIterator<Item = u64> + Clone) -> Result<Self> {
        let is_small = offsets.clone().all(|at| at <= u32::MAX.into());
        let high = if is_small {
            Vec::new()
        } else {
            columns::collected(offsets.clone().map(|at| (at >> 32) as u8))?
        };
        let low = columns::collected(offsets.map(|at| at as u32))?;
        Ok(Self { low, high })
    }

    #[inline]
    pub(crate) fn get(&self, object: ObjectIndex) -> u64 {
        let high = self.high.get(object.at()).copied().unwrap_or(0);
        u64::from(high) << 32 | u64::from(self.low[object.at()])
    }

    pub(crate) fn memory_size(&self) -> u64 {
        (self.low.capacity() * size_of::<u32>() + self.high.capacity()) as u64
    }
}

/// Reads parts of a file. What was read last is kept.
pub(crate) struct FileReader<'f> {
    file: FilePart<'f>,
    length: u64,
    ids: IdSize,
    start: u64,
    window: Vec<u8>,
}

enum FilePart<'f> {
    InMemory(&'f [u8]),
    Elsewhere(&'f dyn DumpBytes),
}

/// A record, and where its contents begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundRecord {
    pub(crate) record: ObjectRecord,
    pub(crate) contents: u64,
}

impl<'f> FileReader<'f> {
    /// Of bytes that are there.
    pub(crate) fn of_bytes(file: &'f [u8], ids: IdSize) -> Self {
        Self {
            file: FilePart::InMemory(file),
            length: file.len() as u64,
            ids,
            start: 0,
            window: Vec::new(),
        }
    }

    /// Of a file with this length.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](heap::HeapError::DumpChanged), [`Error::Io`](base::Error::Io).
    pub(crate) fn of_dump(dump: &'f dyn DumpBytes, length: u64, ids: IdSize) -> Result<Self> {
        let file = match dump.bytes(false)? {
            Some(bytes) if bytes.len() as u64 == length => FilePart::InMemory(bytes),
            _ => FilePart::Elsewhere(dump),
        };
        Ok(Self {
            file,
            length,
            ids,
            start: 0,
            window: Vec::new(),
        })
    }

    /// These bytes, as far as the file has them.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](heap::HeapError::DumpChanged), [`Error::Io`](base::Error::Io),
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn bytes(&mut self, at: u64, length: usize) -> Result<&[u8]> {
        let at = at.min(self.length);
        let length = (length as u64).min(self.length - at) as usize;
        let dump = match self.file {
            FilePart::InMemory(bytes) => {
                return Ok(bytes
                    .get(at as usize..at as usize + length)
                    .unwrap_or_default());
            }
            FilePart::Elsewhere(dump) => dump,
        };
        let end = self.start + self.window.len() as u64;
        if at < self.start || at + length as u64 > end {
            let wanted = (length.max(WINDOW) as u64).min(self.length - at) as usize;
            self.window.clear();
            columns::reserve(&mut self.window, wanted)?;
            self.window.resize(wanted, 0);
            self.start = at;
            if let Err(error) = dump.read_at(at, &mut self.window) {
                self.window.clear();
                return Err(error);
            }
        }
        let from = (at - self.start) as usize;
        Ok(self.window.get(from..from + length).unwrap_or_default())
    }

    /// The record of an object.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(crate) fn record(&mut self, at: u64) -> Result<FoundRecord> {
        let ids = self.ids;
        let header = self.bytes(at, LONGEST_HEADER)?;
        let mut cursor = RecordCursor::new(header, 0, ids);
        let read = object_at(&mut cursor);
        let record = read.ok_or_else(|| HprofError::at(at, "the record of an object changed"))?;
        Ok(FoundRecord {
            record,
            contents: at + cursor.at as u64,
        })
    }
}
