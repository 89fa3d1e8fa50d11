//! What each reference is called. Elements and entries are found by reading their container once, from its
//! start to its end, beside the references that were found in it: these come in the same order.

use std::fmt::{Display, Write};

use super::DumpSource;
use super::containers::{Elements, EntryTable, is_deleted};
use super::paged_memory::{AHEAD, PagedMemory, PagedPayload};
use super::values::plain;
use crate::runtime::shapes::{EntryShape, Holds, ShapeKind};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::literal::{SHOWN, code_units, push_literal};
use heap::{Cursor, EntryKey, EntryLabel, EntryPart, LabelKind, ReferenceName, ShownValue};

/// Names the references of one object after the other.
pub(super) struct EdgeNames<'h> {
    heap: &'h DumpSource,
    source: ObjectIndex,
    cursor: ReadStage,
}

/// How far the contents of the object are read.
#[derive(Clone, Copy, Default)]
enum ReadStage {
    /// Not yet.
    #[default]
    Start,
    /// All its elements are references: this is the next index.
    Dense(u32),
    /// The next element, of those that begin at an address.
    Elements { next: u32, start: u32, count: u32 },
    /// The next key (even) or value (odd).
    Entries { next: u64, start: u32, count: u32 },
}

impl ReadStage {
    fn of(cursor: Cursor) -> Self {
        let Cursor {
            state,
            next,
            start,
            count,
        } = cursor;
        match state {
            0 => Self::Start,
            1 => Self::Dense(next as u32),
            2 => Self::Elements {
                next: next as u32,
                start,
                count,
            },
            _ => Self::Entries { next, start, count },
        }
    }

    fn cursor(self) -> Cursor {
        let (state, next, start, count) = match self {
            Self::Start => (0, 0, 0, 0),
            Self::Dense(next) => (1, next.into(), 0, 0),
            Self::Elements { next, start, count } => (2, next.into(), start, count),
            Self::Entries { next, start, count } => (3, next, start, count),
        };
        Cursor {
            state,
            next,
            start,
            count,
        }
    }
}

impl<'h> EdgeNames<'h> {
    /// Names the references of an object from the cursor on.
    pub(super) fn new(heap: &'h DumpSource, source: ObjectIndex, cursor: Cursor) -> Self {
        Self {
            heap,
            source,
            cursor: ReadStage::of(cursor),
        }
    }

    /// How far the contents of the object are read.
    pub(super) fn cursor(&self) -> Cursor {
        self.cursor.cursor()
    }

    /// As [`next`](Self::next), without making a name.
    pub(super) fn skip(&mut self, position: u32, memory: &mut PagedMemory<'_>) -> Result<()> {
        let label = self.heap.heap().edges.label(position);
        match label.map(|label| label.kind()) {
            Some(LabelKind::Element) => _ = self.element(position, memory)?,
            Some(LabelKind::Key) => _ = self.next_entry(EntryPart::Key, position, memory)?,
            Some(LabelKind::Member) => _ = self.next_entry(EntryPart::Member, position, memory)?,
            Some(LabelKind::Value) => _ = self.next_entry(EntryPart::Value, position, memory)?,
            _ => {}
        }
        Ok(())
    }

    /// Prefetches memory for the names of references that follow this one, of an object with many keys.
    #[inline]
    pub(super) fn prefetch_keys(&self, position: u32, end: u32, memory: &PagedMemory<'_>) {
        let heap = self.heap.heap();
        let key = |distance| {
            let position = position + distance;
            let label = (position < end)
                .then(|| heap.edges.label(position))
                .flatten();
            let kind = label.map(|label| label.kind());
            matches!(kind, Some(LabelKind::Key | LabelKind::Member))
                .then(|| heap.edges.target(position))
        };
        if let Some(object) = key(2 * AHEAD as u32) {
            heap.prefetch_address(object);
        }
        memory.prefetch(key(AHEAD as u32));
    }

    /// The name of the reference at this position. To be asked for all references of the object, in order.
    #[inline]
    pub(super) fn next(
        &mut self,
        position: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<ReferenceName> {
        let label = self.heap.heap().edges.label(position);
        match label.map(|label| label.kind()) {
            Some(LabelKind::Element) => self.element(position, memory),
            Some(LabelKind::Key) => self.entry(EntryPart::Key, position, memory),
            Some(LabelKind::Member) => self.entry(EntryPart::Member, position, memory),
            Some(LabelKind::Value) => self.entry(EntryPart::Value, position, memory),
            _ => Ok(ReferenceName::Label),
        }
    }

    fn element(&mut self, position: u32, memory: &mut PagedMemory<'_>) -> Result<ReferenceName> {
        if let ReadStage::Start = self.cursor {
            self.cursor = self.first_element(position, memory)?;
        }
        match &mut self.cursor {
            ReadStage::Dense(next) => {
                *next += 1;
                return Ok(ReferenceName::Index(*next - 1));
            }
            ReadStage::Elements { next, start, count } => {
                let word = self
                    .heap
                    .heap()
                    .memory_address(self.heap.heap().edges.target(position))
                    .0;
                while *next < *count {
                    let index = *next;
                    *next += 1;
                    if memory.word(*start + index * 4)? == word {
                        return Ok(ReferenceName::Index(index));
                    }
                }
            }
            ReadStage::Start | ReadStage::Entries { .. } => {}
        }
        Ok(ReferenceName::Label)
    }

    /// Where the elements begin. If there are as many references as elements, no element need be read.
    fn first_element(&self, position: u32, memory: &mut PagedMemory<'_>) -> Result<ReadStage> {
        let edges = &self.heap.heap().edges;
        let rest = position..edges.range(self.source).end;
        let is_element = |&position: &u32| {
            let kind = edges.label(position).map(|label| label.kind());
            kind == Some(LabelKind::Element)
        };
        let references = rest.take_while(is_element).count();
        let object = memory.payload_of(self.source)?;
        let (start, count) = match self.heap.shape(self.source).kind {
            ShapeKind::StaticArray(_) => (object.address, object.size / 4),
            _ => {
                let array = Elements::of_array(|offset| memory.field(object, offset).map(Some))?;
                let Some(array) = array else {
                    return Ok(ReadStage::Dense(0));
                };
                // The buffer has room for the references that were found in it, so it need not be read.
                if references == array.length as usize {
                    return Ok(ReadStage::Dense(0));
                }
                match (self.buffer_at(array.buffer, memory)?, array.start) {
                    (Some(buffer), Some(start)) => {
                        let room = buffer.size.saturating_sub(start);
                        (buffer.address + start, array.length.min(room / 4))
                    }
                    _ => (0, 0),
                }
            }
        };
        Ok(if references == count as usize {
            ReadStage::Dense(0)
        } else {
            ReadStage::Elements {
                next: 0,
                start,
                count,
            }
        })
    }

    /// The buffer at an address.
    fn buffer_at(
        &self,
        address: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<Option<PagedPayload>> {
        match self.heap.heap().objects.index.get(Address(address)) {
            Some(buffer) => memory.payload_of(buffer).map(Some),
            None => Ok(None),
        }
    }

    fn entry(
        &mut self,
        part: EntryPart,
        position: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<ReferenceName> {
        match self.next_entry(part, position, memory)? {
            Some((nth, holds, entry)) => self.entry_name(part, nth, holds, entry, memory),
            None => Ok(ReferenceName::Label),
        }
    }

    /// The entry that a reference belongs to: its number, what its key holds, and its address.
    fn next_entry(
        &mut self,
        part: EntryPart,
        position: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<Option<(u32, Holds, u32)>> {
        if let ReadStage::Start = self.cursor {
            self.cursor = self.first_entry(memory)?;
        }
        let Some(layout) = entries(self.heap, self.source) else {
            return Ok(None);
        };
        let ReadStage::Entries { next, start, count } = &mut self.cursor else {
            return Ok(None);
        };
        let word = self
            .heap
            .heap()
            .memory_address(self.heap.heap().edges.target(position))
            .0;
        let half = u64::from(part == EntryPart::Value);
        let offset = match (part, layout.value) {
            (EntryPart::Value, Some((_, offset))) => offset,
            _ => 0,
        };
        // The next one of this kind: even numbers are keys, odd ones values.
        *next += (*next + half) % 2;
        while *next / 2 < u64::from(*count) {
            let nth = (*next / 2) as u32;
            *next += 2;
            let entry = *start + nth * layout.stride;
            let is_deleted = is_deleted(Some(memory.word(entry + layout.tagged_next)?));
            if is_deleted || memory.word(entry + offset)? != word {
                continue;
            }
            // A value may follow the key of the same entry.
            *next -= 1;
            return Ok(Some((nth, layout.key, entry)));
        }
        Ok(None)
    }

    fn first_entry(&self, memory: &mut PagedMemory<'_>) -> Result<ReadStage> {
        let Some(layout) = entries(self.heap, self.source) else {
            return Ok(ReadStage::Dense(0));
        };
        let object = memory.payload_of(self.source)?;
        let table =
            EntryTable::read(|offset| memory.field(object, offset).map(Some))?.unwrap_or_default();
        let buffer = self.buffer_at(table.entries, memory)?.unwrap_or_default();
        Ok(ReadStage::Entries {
            next: 0,
            start: buffer.address,
            count: table.used.min(buffer.size / layout.stride.max(1)),
        })
    }

    fn entry_name(
        &self,
        part: EntryPart,
        nth: u32,
        holds: Holds,
        entry: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<ReferenceName> {
        let mut bytes = [0; 16];
        let key = memory.read(entry, holds.size().min(16))?;
        bytes[..key.len()].copy_from_slice(key);
        if part == EntryPart::Value
            && let ShownValue::Integer(index) = plain(holds, &bytes)
            && let Ok(index) = i32::try_from(index)
            && let Ok(index) = u32::try_from(index)
        {
            return Ok(ReferenceName::Index(index));
        }
        let object = match holds {
            Holds::Reference => self
                .heap
                .heap()
                .objects
                .index
                .get(Address(first_word(&bytes))),
            _ => None,
        };
        let key = match object {
            Some(object) if self.is_text(object) || part != EntryPart::Member => {
                EntryKey::Object(object)
            }
            _ if part == EntryPart::Member => EntryKey::Number(nth),
            _ => EntryKey::Bytes(bytes),
        };
        Ok(ReferenceName::Entry(EntryLabel { part, key }))
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        self.heap.shape(object).kind == ShapeKind::Text
    }
}

fn first_word(bytes: &[u8; 16]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The entries of a map or a set.
fn entries(heap: &DumpSource, object: ObjectIndex) -> Option<EntryShape> {
    match heap.shape(object).kind {
        ShapeKind::Map(entries) | ShapeKind::Set(entries) => Some(entries),
        _ => None,
    }
}

/// Adds the text of a label of an object's reference.
pub(super) fn add_label(
    text: &mut String,
    heap: &DumpSource,
    source: ObjectIndex,
    label: EntryLabel,
    memory: &mut PagedMemory<'_>,
) -> Result<()> {
    text.push_str(match label.part {
        EntryPart::Key => "key [",
        EntryPart::Member => "member [",
        EntryPart::Value => "[",
    });
    match label.key {
        EntryKey::Object(object) => add_object(text, heap, object, memory)?,
        EntryKey::Number(nth) => add(text, nth),
        EntryKey::Bytes(bytes) => match entries(heap, source).map(|entries| entries.key) {
            Some(Holds::Reference) | None => match first_word(&bytes) {
                0 => text.push_str("null"),
                word => add(text, format_args!("{word:#x}")),
            },
            Some(holds) => add(text, plain(holds, &bytes)),
        },
    }
    text.push(']');
    Ok(())
}

fn add(text: &mut String, what: impl Display) {
    // Writing into a string cannot fail.
    _ = write!(text, "{what}");
}

/// Adds a key that is an object: a string as it is, of anything else its class and address.
fn add_object(
    text: &mut String,
    heap: &DumpSource,
    object: ObjectIndex,
    memory: &mut PagedMemory<'_>,
) -> Result<()> {
    let payload = memory.payload_of(object)?;
    if heap.shape(object).kind != ShapeKind::Text {
        let name = heap.class_name(object);
        add(text, format_args!("{name}@{:#x}", payload.address));
        return Ok(());
    }
    let size = payload.size & !1;
    let shown = memory.read(payload.address, size.min(SHOWN as u32 * 4))?;
    push_literal(text, code_units(shown), shown.len() as u32 == size);
    Ok(())
}
