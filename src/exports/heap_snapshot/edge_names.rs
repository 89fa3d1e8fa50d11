//! What each reference is called. Elements and entries are found by reading their container once, from its
//! start to its end, beside the references that were found in it: these come in the same order.

use std::fmt::{Display, Write};

use super::super::memory::{AHEAD, PagedMemory, Payload};
use super::names::Names;
use crate::assemblyscript::{DumpSource, plain};
use crate::error::Result;
use crate::heap::Value;
use crate::heap::literal::{SHOWN, code_units, push_literal};
use crate::heap::{Heap, LabelKind};
use crate::runtime::shapes::{Entries, Holds, Kind};
use crate::std_library::{BUFFER, DATA_START, ENTRIES, ENTRIES_OFFSET, LENGTH};
use crate::units::{Address, ObjectIndex};

/// The name of a reference.
#[derive(Clone, Copy)]
pub(super) enum EdgeName {
    /// One of [`Names`].
    Known(u32),
    /// An index.
    Index(u32),
    /// With the key of an entry.
    Entry(EntryLabel),
}

/// A label with the key of an entry.
#[derive(Clone, Copy)]
pub(super) struct EntryLabel {
    of: Part,
    key: Key,
}

/// What a reference of an entry is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Key,
    Member,
    Value,
}

/// The key of an entry.
#[derive(Clone, Copy)]
enum Key {
    Object(ObjectIndex),
    Bytes([u8; 16], Holds),
    /// Of a member that has no better name.
    Number(u32),
}

/// Names the references of one object after the other.
pub(super) struct EdgeNames<'h> {
    heap: &'h DumpSource,
    names: &'h Names,
    with_keys: bool,
    source: ObjectIndex,
    slot: usize,
    cursor: Cursor,
}

/// How far the contents of the object are read.
#[derive(Clone, Copy, Default)]
pub(super) enum Cursor {
    /// Not yet.
    #[default]
    Start,
    /// All its elements are references: this is the next index.
    Dense(u32),
    /// The next element, of those that begin at an address.
    Elements { next: u32, start: u32, count: u32 },
    /// The next key (even) or value (odd).
    Entries {
        next: u64,
        start: u32,
        count: u32,
        layout: Entries,
    },
}

impl<'h> EdgeNames<'h> {
    pub(super) fn new(heap: &'h DumpSource, names: &'h Names, with_keys: bool) -> Self {
        Self {
            heap,
            names,
            with_keys,
            source: ObjectIndex(0),
            slot: 0,
            cursor: Cursor::Start,
        }
    }

    /// Goes on to the references of this object.
    #[inline]
    pub(super) fn begin(&mut self, source: ObjectIndex) {
        self.source = source;
        self.slot = self.heap.heap().objects.class_slots[source.at()] as usize;
        self.cursor = Cursor::Start;
    }

    /// Goes on within an object, where another one stopped.
    pub(super) fn resume(&mut self, source: ObjectIndex, cursor: Cursor) {
        self.begin(source);
        self.cursor = cursor;
    }

    /// How far the contents of the object are read.
    pub(super) fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// As [`next`](Self::next), without making a name.
    pub(super) fn skip(&mut self, place: u32, memory: &mut PagedMemory<'_>) -> Result<()> {
        let label = self.heap.heap().edges.label(place);
        match label.map(|label| label.kind()) {
            Some(LabelKind::Element) => _ = self.element(place, memory)?,
            Some(LabelKind::Key) => _ = self.next_entry(Part::Key, place, memory)?,
            Some(LabelKind::Member) => _ = self.next_entry(Part::Member, place, memory)?,
            Some(LabelKind::Value) => _ = self.next_entry(Part::Value, place, memory)?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn heap(&self) -> &'h Heap {
        self.heap.heap()
    }

    /// Whether references of this object may be named by keys.
    #[inline]
    pub(super) fn has_entries(&self, object: ObjectIndex) -> bool {
        let kind = self.heap.shape(object).kind;
        self.with_keys && matches!(kind, Kind::Map(_) | Kind::Set(_))
    }

    /// Whether names of references of this object may depend on memory.
    #[inline]
    pub(super) fn may_read(&self, object: ObjectIndex) -> bool {
        matches!(
            self.heap.shape(object).kind,
            Kind::Array(_) | Kind::StaticArray(_) | Kind::Map(_) | Kind::Set(_)
        )
    }

    /// Prefetches memory for the names of references that follow this one, of an object with many keys.
    #[inline]
    pub(super) fn prefetch_keys(&self, place: u32, end: u32, memory: &PagedMemory<'_>) {
        let heap = self.heap.heap();
        let key = |distance| {
            let place = place + distance;
            let label = (place < end).then(|| heap.edges.label(place)).flatten();
            let kind = label.map(|label| label.kind());
            matches!(kind, Some(LabelKind::Key | LabelKind::Member))
                .then(|| heap.edges.target(place))
        };
        if let Some(object) = key(2 * AHEAD as u32) {
            heap.prefetch_address(object);
        }
        memory.prefetch(key(AHEAD as u32));
    }

    /// The name of the reference at this place. To be asked for all references of the object, in order.
    #[inline]
    pub(super) fn next(&mut self, place: u32, memory: &mut PagedMemory<'_>) -> Result<EdgeName> {
        let names = self.names;
        let kind = self
            .heap
            .heap()
            .edges
            .label(place)
            .map(|label| label.kind());
        Ok(match kind {
            Some(LabelKind::Place(nth)) => EdgeName::Known(names.place(self.slot, nth)),
            Some(LabelKind::Word(offset)) => EdgeName::Known(names.word(offset)),
            Some(LabelKind::TupleElement(nth)) => EdgeName::Index(nth),
            Some(LabelKind::Element) => self.element(place, memory)?,
            Some(LabelKind::Key) => self.entry(Part::Key, place, memory)?,
            Some(LabelKind::Member) => self.entry(Part::Member, place, memory)?,
            Some(LabelKind::Value) => self.entry(Part::Value, place, memory)?,
            Some(LabelKind::FarPlace) => EdgeName::Known(names.far_place),
            Some(LabelKind::BufferWord | LabelKind::Named(..) | LabelKind::Hidden) | None => {
                EdgeName::Known(names.any_element)
            }
        })
    }

    fn element(&mut self, place: u32, memory: &mut PagedMemory<'_>) -> Result<EdgeName> {
        if let Cursor::Start = self.cursor {
            self.cursor = self.first_element(place, memory)?;
        }
        match &mut self.cursor {
            Cursor::Dense(next) => {
                *next += 1;
                return Ok(EdgeName::Index(*next - 1));
            }
            Cursor::Elements { next, start, count } => {
                let word = self
                    .heap
                    .heap()
                    .address(self.heap.heap().edges.target(place))
                    .0;
                while *next < *count {
                    let index = *next;
                    *next += 1;
                    if memory.word(*start + index * 4)? == word {
                        return Ok(EdgeName::Index(index));
                    }
                }
            }
            Cursor::Start | Cursor::Entries { .. } => {}
        }
        Ok(EdgeName::Known(self.names.any_element))
    }

    /// Where the elements begin. If there are as many references as elements, no element need be read.
    fn first_element(&self, place: u32, memory: &mut PagedMemory<'_>) -> Result<Cursor> {
        let edges = &self.heap.heap().edges;
        let rest = place..edges.range(self.source).end;
        let is_element = |&place: &u32| {
            let kind = edges.label(place).map(|label| label.kind());
            kind == Some(LabelKind::Element)
        };
        let references = rest.take_while(is_element).count();
        let object = memory.payload_of(self.source)?;
        let (start, count) = match self.heap.shape(self.source).kind {
            Kind::StaticArray(_) => (object.address, object.size / 4),
            _ => {
                let start = memory.field(object, DATA_START)?;
                let length = memory.field(object, LENGTH)?;
                // The buffer has room for the references that were found in it, so it need not be read.
                if references == length as usize {
                    return Ok(Cursor::Dense(0));
                }
                match self.buffer_of(object, BUFFER, memory)? {
                    Some(buffer) if start >= buffer.address => {
                        let room = buffer.size.saturating_sub(start - buffer.address);
                        (start, length.min(room / 4))
                    }
                    _ => (0, 0),
                }
            }
        };
        Ok(match references == count as usize {
            true => Cursor::Dense(0),
            false => Cursor::Elements {
                next: 0,
                start,
                count,
            },
        })
    }

    /// The buffer that a field refers to.
    fn buffer_of(
        &self,
        object: Payload,
        field: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<Option<Payload>> {
        let address = memory.field(object, field)?;
        match self.heap.heap().objects.index.get(Address(address)) {
            Some(buffer) => memory.payload_of(buffer).map(Some),
            None => Ok(None),
        }
    }

    fn entry(&mut self, part: Part, place: u32, memory: &mut PagedMemory<'_>) -> Result<EdgeName> {
        match self.next_entry(part, place, memory)? {
            Some((nth, holds, entry)) => self.entry_name(part, nth, holds, entry, memory),
            None => Ok(EdgeName::Known(match part {
                Part::Key => self.names.any_key,
                Part::Member => self.names.any_member,
                Part::Value => self.names.any_element,
            })),
        }
    }

    /// The entry that a reference belongs to: its number, what its key holds, and its address.
    fn next_entry(
        &mut self,
        part: Part,
        place: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<Option<(u32, Holds, u32)>> {
        if !self.with_keys {
            return Ok(None);
        }
        if let Cursor::Start = self.cursor {
            self.cursor = self.first_entry(memory)?;
        }
        let Cursor::Entries {
            next,
            start,
            count,
            layout,
        } = &mut self.cursor
        else {
            return Ok(None);
        };
        let word = self
            .heap
            .heap()
            .address(self.heap.heap().edges.target(place))
            .0;
        let half = u64::from(part == Part::Value);
        let offset = match (part, layout.value) {
            (Part::Value, Some((_, offset))) => offset,
            _ => 0,
        };
        // The next one of this kind: even numbers are keys, odd ones values.
        *next += (*next + half) % 2;
        while *next / 2 < u64::from(*count) {
            let nth = (*next / 2) as u32;
            *next += 2;
            let entry = *start + nth * layout.stride;
            let is_deleted = memory.word(entry + layout.tagged_next)? & 1 != 0;
            if is_deleted || memory.word(entry + offset)? != word {
                continue;
            }
            // A value may follow the key of the same entry.
            *next -= 1;
            return Ok(Some((nth, layout.key, entry)));
        }
        Ok(None)
    }

    fn first_entry(&self, memory: &mut PagedMemory<'_>) -> Result<Cursor> {
        let (Kind::Map(layout) | Kind::Set(layout)) = self.heap.shape(self.source).kind else {
            return Ok(Cursor::Dense(0));
        };
        let object = memory.payload_of(self.source)?;
        let buffer = self.buffer_of(object, ENTRIES, memory)?.unwrap_or_default();
        let used = memory.field(object, ENTRIES_OFFSET)?;
        Ok(Cursor::Entries {
            next: 0,
            start: buffer.address,
            count: used.min(buffer.size / layout.stride.max(1)),
            layout,
        })
    }

    fn entry_name(
        &self,
        of: Part,
        nth: u32,
        holds: Holds,
        entry: u32,
        memory: &mut PagedMemory<'_>,
    ) -> Result<EdgeName> {
        let mut bytes = [0; 16];
        let key = memory.read(entry, holds.size().min(16))?;
        bytes[..key.len()].copy_from_slice(key);
        if of == Part::Value
            && let Value::Integer(index) = plain(holds, &bytes)
            && let Ok(index) = i32::try_from(index)
            && let Ok(index) = u32::try_from(index)
        {
            return Ok(EdgeName::Index(index));
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
            Some(object) if self.is_text(object) || of != Part::Member => Key::Object(object),
            _ if of == Part::Member => Key::Number(nth),
            _ => Key::Bytes(bytes, holds),
        };
        Ok(EdgeName::Entry(EntryLabel { of, key }))
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        self.heap.shape(object).kind == Kind::Text
    }
}

fn first_word(bytes: &[u8; 16]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

impl EntryLabel {
    /// The object that is the key, and what is named by it. Equal ones have the same text.
    pub(super) fn key_object(self) -> Option<(ObjectIndex, Part)> {
        match self.key {
            Key::Object(object) => Some((object, self.of)),
            Key::Bytes(..) | Key::Number(_) => None,
        }
    }

    /// Adds its text to `text`.
    pub(super) fn add_to(
        self,
        text: &mut String,
        heap: &DumpSource,
        memory: &mut PagedMemory<'_>,
    ) -> Result<()> {
        text.push_str(match self.of {
            Part::Key => "key [",
            Part::Member => "member [",
            Part::Value => "[",
        });
        match self.key {
            Key::Object(object) => add_object(text, heap, object, memory)?,
            Key::Number(nth) => add(text, nth),
            Key::Bytes(bytes, Holds::Reference) => match first_word(&bytes) {
                0 => text.push_str("null"),
                word => add(text, format_args!("{word:#x}")),
            },
            Key::Bytes(bytes, holds) => add(text, plain(holds, &bytes)),
        }
        text.push(']');
        Ok(())
    }
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
    if heap.shape(object).kind != Kind::Text {
        let name = heap.class_name(object);
        add(text, format_args!("{name}@{:#x}", payload.address));
        return Ok(());
    }
    let size = payload.size & !1;
    let shown = memory.read(payload.address, size.min(SHOWN as u32 * 4))?;
    push_literal(text, code_units(shown), shown.len() as u32 == size);
    Ok(())
}
