//! The memory and the globals of one moment.

use std::ops::Range;
use std::time::Duration;

use base::columns;
use base::control::Control;
use base::error::Result;

use crate::layout::HeaderValues;
use crate::space::AddressSpace;

/// A copy of a memory and its globals.
#[derive(Debug)]
pub struct CopiedMoment {
    /// The size of the memory in bytes.
    pub size: u64,
    /// The parts that are not only zeros, as offsets in the memory.
    parts: Vec<Range<u64>>,
    /// Their bytes, one part after the other.
    bytes: Vec<u8>,
    /// The values of the header.
    pub values: HeaderValues,
    /// How long all threads stood still.
    pub pause: Duration,
}

/// How a dump was taken.
#[derive(Debug)]
pub struct Taken {
    /// The memory and the globals.
    pub moment: CopiedMoment,
    /// Which engine's order the globals have.
    pub engine: &'static str,
    /// How many moments were tried.
    pub tries: u32,
}

/// What a copy is made into: memory that the system has given already, so that it need not while threads stand still.
pub struct Prepared {
    bytes: Vec<u8>,
}

/// How much more there may be than before.
const SLACK: u64 = 1 << 20;

impl Prepared {
    /// Room for these parts.
    pub fn new(parts: &[Range<u64>]) -> Result<Self> {
        let size: u64 = parts.iter().map(|part| part.end - part.start).sum();
        let size = size + size / 16 + SLACK;
        let mut bytes = columns::with_capacity::<u8>(usize::try_from(size).unwrap_or(usize::MAX))?;
        // Other values than zero, so that the pages exist.
        bytes.resize(size as usize, 1);
        Ok(Self { bytes })
    }

    /// Copies parts of a memory; `None` if one cannot be read.
    pub fn copy(
        mut self,
        space: &dyn AddressSpace,
        memory: &Range<u64>,
        parts: Vec<Range<u64>>,
        values: HeaderValues,
    ) -> Result<Option<CopiedMoment>> {
        let size: u64 = parts.iter().map(|part| part.end - part.start).sum();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > self.bytes.len() {
            let more = size - self.bytes.len();
            columns::reserve(&mut self.bytes, more)?;
            self.bytes.resize(size, 0);
        }
        let mut at = 0;
        for part in &parts {
            let end = at + (part.end - part.start) as usize;
            if space.read(part.start, &mut self.bytes[at..end]) < end - at {
                return Ok(None);
            }
            at = end;
        }
        self.bytes.truncate(at);
        let offset = |part: &Range<u64>| part.start - memory.start..part.end - memory.start;
        Ok(Some(CopiedMoment {
            size: memory.end - memory.start,
            parts: parts.iter().map(offset).collect(),
            bytes: self.bytes,
            values,
            pause: Duration::ZERO,
        }))
    }
}

/// The pieces of a dump file: each an offset, and bytes. What lies between them is zero.
impl CopiedMoment {
    /// How large the file of the dump is.
    pub fn file_size(&self) -> u64 {
        self.header().len() as u64 + self.size
    }

    /// The header of the dump.
    pub fn header(&self) -> Vec<u8> {
        let HeaderValues {
            boundaries,
            globals,
        } = &self.values;
        let magic = base::file_kind::DUMP_MAGIC;
        let version = 2_u32;
        let mut header = magic.to_vec();
        let words = [version]
            .into_iter()
            .chain(*boundaries)
            .chain([globals.len() as u32])
            .chain(globals.iter().copied());
        header.extend(words.flat_map(u32::to_le_bytes));
        header
    }

    /// Calls `write` with pieces of the file, and their offsets.
    pub fn write(
        &self,
        control: &Control,
        mut write: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let header = self.header();
        write(0, &header)?;
        let mut at = 0;
        for part in &self.parts {
            control.check()?;
            let size = (part.end - part.start) as usize;
            write(header.len() as u64 + part.start, &self.bytes[at..at + size])?;
            at += size;
        }
        Ok(())
    }
}

/// How many bytes of a memory are in pages of 4 KiB that are not zero.
pub fn used_bytes(
    space: &dyn AddressSpace,
    parts: &[Range<u64>],
    control: &Control,
) -> Result<u64> {
    const PAGE: usize = 4096;
    let mut buffer = columns::zeros::<u8>(1 << 20)?;
    let mut used = 0;
    for part in parts {
        let mut at = part.start;
        while at < part.end {
            control.check()?;
            let size = (part.end - at).min(buffer.len() as u64) as usize;
            let read = space.read(at, &mut buffer[..size]);
            let pages = buffer[..read].chunks(PAGE);
            let is_used = |page: &&[u8]| page.iter().any(|&byte| byte != 0);
            used += pages
                .filter(is_used)
                .map(|page| page.len() as u64)
                .sum::<u64>();
            at += size as u64;
        }
    }
    Ok(used)
}
