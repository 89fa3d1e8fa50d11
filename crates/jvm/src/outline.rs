//! The records of a file, without what is in the segments of the heap: names, classes, frames, and where segments are.

use std::collections::HashMap;
use std::ops::Range;

use crate::HprofError;
use crate::bytes::{IdSize, RecordCursor};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

const MAGIC: &[u8] = b"JAVA PROFILE 1.0.";
/// Where the text of the header ends, at most.
const LONGEST_VERSION: usize = 32;

const UTF8: u8 = 0x01;
const LOAD_CLASS: u8 = 0x02;
const STACK_FRAME: u8 = 0x04;
const STACK_TRACE: u8 = 0x05;
const HEAP_DUMP: u8 = 0x0c;
const HEAP_DUMP_SEGMENT: u8 = 0x1c;
/// The end of the segments.
pub(crate) const HEAP_DUMP_END: u8 = 0x2c;

/// Whether a file begins like a heap dump of a JVM.
pub fn begins(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// A part of the file that contains records of the heap.
#[derive(Clone, Debug)]
pub(crate) struct HeapSegment {
    pub(crate) range: Range<u64>,
    /// Whether it ends where the file or an end record says: its length is 0, or did not fit into 32 bits.
    pub(crate) is_open: bool,
}

/// A line of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackFrame {
    pub(crate) method: u64,
    pub(crate) file: u64,
    pub(crate) class_serial: u32,
    pub(crate) line: i32,
}

/// A class that was loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadedClass {
    pub(crate) id: u64,
    pub(crate) name: u64,
}

/// What the records outside of the heap say.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) ids: IdSize,
    /// Names by id, ascending: where the text is in the file.
    names: Vec<(u64, Range<u64>)>,
    pub(crate) loaded: Vec<LoadedClass>,
    /// Names of classes by serial number.
    pub(crate) class_names: HashMap<u32, u64>,
    pub(crate) frames: HashMap<u64, StackFrame>,
    /// Frames by serial number of the trace, from the innermost on.
    pub(crate) traces: HashMap<u32, Vec<u64>>,
    pub(crate) segments: Vec<HeapSegment>,
    /// Whether the file ends before its last record does, or without the end of its segments.
    pub(crate) is_cut: bool,
}

/// One record.
struct OutlineRecord<'a> {
    tag: u8,
    body: RecordCursor<'a>,
    length: usize,
}

impl Outline {
    /// Reads the header and walks over the records.
    ///
    /// # Errors
    /// [`HprofError`], [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(crate) fn read(file: &[u8], step: &Step<'_>) -> Result<Self> {
        let (ids, first) = read_header(file)?;
        let mut outline = Self {
            ids,
            names: Vec::new(),
            loaded: Vec::new(),
            class_names: HashMap::new(),
            frames: HashMap::new(),
            traces: HashMap::new(),
            segments: Vec::new(),
            is_cut: false,
        };
        outline.walk(file, first, step)?;
        outline.names.sort_by_key(|&(id, _)| id);
        Ok(outline)
    }

    fn walk(&mut self, file: &[u8], first: usize, step: &Step<'_>) -> Result<()> {
        let mut at = first;
        let mut has_ended = false;
        for nth in 0usize.. {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            if at == file.len() {
                break;
            }
            let mut header = RecordCursor::new(file, at, self.ids);
            let read = (header.u8(), header.u32(), header.u32());
            let (Some(tag), Some(_), Some(length)) = read else {
                self.is_cut = true;
                return Ok(());
            };
            let body = header.at;
            let end = body.saturating_add(length as usize);
            match tag {
                HEAP_DUMP | HEAP_DUMP_SEGMENT => {
                    let rest = file.len() - body;
                    let is_wrapped = tag == HEAP_DUMP && rest as u64 > u32::MAX.into();
                    let is_open = is_wrapped || length == 0 && rest > 0;
                    let is_long = end > file.len();
                    has_ended = tag == HEAP_DUMP;
                    let end = if is_open || is_long { file.len() } else { end };
                    self.is_cut |= is_long && !is_open;
                    let range = body as u64..end as u64;
                    columns::push(&mut self.segments, HeapSegment { range, is_open })?;
                    at = end;
                    continue;
                }
                HEAP_DUMP_END => has_ended = true,
                _ if end > file.len() => {
                    self.is_cut = true;
                    return Ok(());
                }
                _ => self.take(OutlineRecord {
                    tag,
                    body: header,
                    length: length as usize,
                })?,
            }
            at = end.min(file.len());
        }
        let is_open = self.segments.last().is_some_and(|last| last.is_open);
        self.is_cut |= !has_ended && !is_open;
        Ok(())
    }

    /// Takes a record that is complete. Other ones, such as sites of allocations, say nothing of the heap.
    fn take(&mut self, record: OutlineRecord<'_>) -> Result<()> {
        let start = record.body.at as u64;
        let end = start + record.length as u64;
        let mut body = record.body;
        let read = match record.tag {
            UTF8 => self.take_name(&mut body, end),
            LOAD_CLASS => self.take_class(&mut body),
            STACK_FRAME => self.take_frame(&mut body),
            STACK_TRACE => self.take_trace(&mut body),
            _ => Ok(Some(())),
        };
        match read? {
            Some(()) if body.at as u64 <= end => Ok(()),
            _ => {
                let message = format!(
                    "a record of type {:#x} has {} bytes, fewer than its contents",
                    record.tag, record.length
                );
                Err(HprofError::at(start, message).into())
            }
        }
    }

    fn take_name(&mut self, body: &mut RecordCursor<'_>, end: u64) -> Result<Option<()>> {
        let Some(id) = body.id() else { return Ok(None) };
        let start = body.at as u64;
        if start > end {
            return Ok(None);
        }
        columns::push(&mut self.names, (id, start..end))?;
        Ok(Some(()))
    }

    fn take_class(&mut self, body: &mut RecordCursor<'_>) -> Result<Option<()>> {
        let read = (body.u32(), body.id(), body.u32(), body.id());
        let (Some(serial), Some(id), Some(_), Some(name)) = read else {
            return Ok(None);
        };
        columns::push(&mut self.loaded, LoadedClass { id, name })?;
        self.class_names.insert(serial, name);
        Ok(Some(()))
    }

    fn take_frame(&mut self, body: &mut RecordCursor<'_>) -> Result<Option<()>> {
        let ids = (body.id(), body.id(), body.id(), body.id());
        let (Some(id), Some(method), Some(_), Some(file)) = ids else {
            return Ok(None);
        };
        let (Some(class_serial), Some(line)) = (body.u32(), body.u32()) else {
            return Ok(None);
        };
        let frame = StackFrame {
            method,
            file,
            class_serial,
            line: line as i32,
        };
        self.frames.insert(id, frame);
        Ok(Some(()))
    }

    fn take_trace(&mut self, body: &mut RecordCursor<'_>) -> Result<Option<()>> {
        let (Some(serial), Some(_), Some(count)) = (body.u32(), body.u32(), body.u32()) else {
            return Ok(None);
        };
        let Some(frames) = body.take((count as usize).saturating_mul(self.ids.bytes())) else {
            return Ok(None);
        };
        let ids = self.ids;
        let frames = frames.chunks_exact(ids.bytes()).map(|id| ids.read(id));
        self.traces.insert(serial, columns::collected(frames)?);
        Ok(Some(()))
    }

    /// The name with this id.
    pub(crate) fn name<'f>(&self, file: &'f [u8], id: u64) -> Option<std::borrow::Cow<'f, str>> {
        let nth = self.names.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        let range = self.names.get(nth)?.1.clone();
        let bytes = file.get(range.start as usize..range.end as usize)?;
        Some(String::from_utf8_lossy(bytes))
    }
}

/// The size of ids, and where the first record begins.
fn read_header(file: &[u8]) -> Result<(IdSize, usize)> {
    let cut = HprofError::Truncated {
        length: file.len() as u64,
        expected: "its header",
    };
    let text = file
        .iter()
        .take(LONGEST_VERSION)
        .position(|&byte| byte == 0);
    let Some(text) = text else {
        if file.len() < LONGEST_VERSION {
            return Err(cut.into());
        }
        return Err(HprofError::at(0, "the version has no end").into());
    };
    let version = file.get(MAGIC.len()..text).unwrap_or_default();
    if !matches!(version, b"1" | b"2" | b"3") {
        let version = String::from_utf8_lossy(file.get(..text).unwrap_or_default());
        let message = format!("expected JAVA PROFILE 1.0.1, 1.0.2 or 1.0.3, found {version:?}");
        return Err(HprofError::at(0, message).into());
    }
    let mut header = RecordCursor::new(file, text + 1, IdSize::Eight);
    let (Some(size), Some(_)) = (header.u32(), header.take(8)) else {
        return Err(cut.into());
    };
    let Some(ids) = IdSize::of(size) else {
        let message = format!("ids have {size} bytes: expected 4 or 8");
        return Err(HprofError::at(text as u64 + 1, message).into());
    };
    Ok((ids, header.at))
}
