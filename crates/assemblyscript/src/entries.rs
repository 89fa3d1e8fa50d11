//! Pages of the elements of arrays and views, and of the entries of maps and sets.

use super::containers::{Elements, EntryTable, is_deleted};
use super::memory::{MemoryReader, PayloadReader, word_at};
use super::values::plain;
use crate::runtime::shapes::{EntryShape, Holds, ShapeKind};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{ContainerEntry, ContainerKind, ContainerPage, HeldValue, ShownValue, WantedEntries};

/// Elements that lie one after the other.
pub(super) struct ElementRun {
    pub(super) buffer: PayloadReader,
    /// Bytes from the start of the buffer to the first element.
    pub(super) start: u32,
    /// The number of elements that the container says it has.
    length: u32,
    pub(super) element: Holds,
}

/// The elements of an object.
pub(super) enum FoundRun {
    /// The object is no array and no view.
    NoArray,
    /// It has no buffer.
    Empty,
    /// The elements.
    Run(ElementRun),
}

impl ElementRun {
    /// The number of elements that are within the buffer.
    pub(super) fn total(&self) -> u32 {
        let room = self.buffer.size.saturating_sub(self.start) / self.element.size().max(1);
        self.length.min(room)
    }
}

impl MemoryReader<'_> {
    /// A page of what a container holds; `None` for other objects.
    pub(super) fn entries_of(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        let heap = self.heap();
        let payload = self.payload(heap.heap.memory_address(object).0)?;
        match heap.shape(object).kind {
            ShapeKind::Map(entries) => {
                let page = self.table_page(payload, entries, ContainerKind::Map, wanted)?;
                return Ok(Some(page));
            }
            ShapeKind::Set(entries) => {
                let page = self.table_page(payload, entries, ContainerKind::Set, wanted)?;
                return Ok(Some(page));
            }
            _ => {}
        }
        match self.run_of(object)? {
            FoundRun::NoArray => Ok(None),
            FoundRun::Empty => Ok(Some(page(ContainerKind::Elements, 0, wanted, Vec::new()))),
            FoundRun::Run(run) => self.run_page(&run, wanted).map(Some),
        }
    }

    /// The elements of an array or a view.
    pub(super) fn run_of(&mut self, object: ObjectIndex) -> Result<FoundRun> {
        let heap = self.heap();
        let payload = self.payload(heap.heap.memory_address(object).0)?;
        let run = match heap.shape(object).kind {
            ShapeKind::View(Some(number)) => {
                let view = Elements::of_view(|offset| self.field(payload, offset))?;
                let length = view.map_or(0, |view| view.length) / number.size().max(1);
                self.run(view, length, Holds::Number(number))?
            }
            ShapeKind::Array(element) => {
                let array = Elements::of_array(|offset| self.field(payload, offset))?;
                self.run(array, array.map_or(0, |array| array.length), element)?
            }
            ShapeKind::StaticArray(element) => Some(ElementRun {
                buffer: payload,
                start: 0,
                length: payload.size / element.size().max(1),
                element,
            }),
            _ => return Ok(FoundRun::NoArray),
        };
        Ok(run.map_or(FoundRun::Empty, FoundRun::Run))
    }

    /// The elements of an array or a view; `None` if it has no buffer.
    fn run(
        &mut self,
        elements: Option<Elements>,
        length: u32,
        element: Holds,
    ) -> Result<Option<ElementRun>> {
        let Some((buffer, start)) = elements.and_then(|elements| self.first_of(elements)) else {
            return Ok(None);
        };
        Ok(Some(ElementRun {
            buffer: self.payload(buffer)?,
            start,
            length,
            element,
        }))
    }

    fn run_page(&mut self, run: &ElementRun, wanted: WantedEntries) -> Result<ContainerPage> {
        let size = run.element.size().max(1);
        let total = run.total();
        let first = part_of(wanted.offset, total);
        let listed = part_of(wanted.limit, total - first);
        // Both are within the buffer, so neither product overflows.
        let bytes = self
            .part(run.buffer, run.start + first * size, listed * size)?
            .to_vec();
        let mut entries = Vec::new();
        for (nth, bytes) in bytes.chunks_exact(size as usize).enumerate() {
            let index = u64::from(first) + nth as u64;
            entries.push(ContainerEntry {
                index,
                name: Some(format!("[{index}]")),
                key: None,
                value: self.held_value(run.element, bytes)?,
            });
        }
        Ok(page(ContainerKind::Elements, total.into(), wanted, entries))
    }

    fn table_page(
        &mut self,
        payload: PayloadReader,
        layout: EntryShape,
        kind: ContainerKind,
        wanted: WantedEntries,
    ) -> Result<ContainerPage> {
        let table = EntryTable::read(|offset| self.field(payload, offset))?.unwrap_or_default();
        if self.object_at(table.entries).is_none() {
            return Ok(page(kind, 0, wanted, Vec::new()));
        }
        let buffer = self.payload(table.entries)?;
        let used = table.used.min(buffer.size / layout.stride.max(1));
        let mut whole = None;
        if table.count == table.used {
            whole = self.entries_without_gaps(buffer, layout, used, wanted)?;
        }
        let (found, total) = match whole {
            Some(found) => (found, used.into()),
            None => self.entries_between_gaps(buffer, layout, used, wanted)?,
        };
        let mut entries = Vec::new();
        for (nth, bytes) in found.iter().enumerate() {
            let is_map = kind == ContainerKind::Map;
            let key = self.held_value(layout.key, bytes)?;
            let value = match layout.value {
                Some((value, offset)) if is_map => {
                    let bytes = bytes.get(offset as usize..).unwrap_or_default();
                    Some(self.held_value(value, bytes)?)
                }
                _ => None,
            };
            let (key, value) = match value {
                Some(value) => (Some(key), value),
                None => (None, key),
            };
            entries.push(ContainerEntry {
                index: wanted.offset.saturating_add(nth as u64),
                name: None,
                key,
                value,
            });
        }
        Ok(page(kind, total, wanted, entries))
    }

    /// The bytes of the wanted entries of a table from which nothing was deleted; `None` if one of them is deleted after all.
    fn entries_without_gaps(
        &mut self,
        buffer: PayloadReader,
        layout: EntryShape,
        used: u32,
        wanted: WantedEntries,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let first = part_of(wanted.offset, used);
        let listed = part_of(wanted.limit, used - first);
        let mut found = Vec::new();
        for nth in first..first + listed {
            let entry = self.part(buffer, nth * layout.stride, layout.stride)?;
            if is_deleted(word_at(entry, layout.tagged_next as usize)) {
                return Ok(None);
            }
            found.push(entry.to_vec());
        }
        Ok(Some(found))
    }

    /// The same for a table with deleted entries, and the number of the others: all have to be read.
    fn entries_between_gaps(
        &mut self,
        buffer: PayloadReader,
        layout: EntryShape,
        used: u32,
        wanted: WantedEntries,
    ) -> Result<(Vec<Vec<u8>>, u64)> {
        let mut found = Vec::new();
        let mut total = 0u64;
        for nth in 0..used {
            let entry = self.part(buffer, nth * layout.stride, layout.stride)?;
            if is_deleted(word_at(entry, layout.tagged_next as usize)) {
                continue;
            }
            if total >= wanted.offset && (found.len() as u64) < wanted.limit {
                found.push(entry.to_vec());
            }
            total += 1;
        }
        Ok((found, total))
    }

    /// The value in these bytes, with the object to which it refers.
    pub(super) fn held_value(&mut self, holds: Holds, bytes: &[u8]) -> Result<HeldValue> {
        let word = match (holds, word_at(bytes, 0)) {
            (Holds::Reference, Some(0) | None) => return Ok(HeldValue::plain(ShownValue::Null)),
            (Holds::Reference, Some(word)) => word,
            _ => return Ok(HeldValue::plain(plain(holds, bytes))),
        };
        let value = ShownValue::Text(self.reference(word)?);
        let Some(target) = self.object_at(word) else {
            return Ok(HeldValue::plain(value));
        };
        let heap = self.heap();
        Ok(HeldValue {
            value,
            address: Some(word.into()),
            address_text: Some(heap.heap.address_form.of(word).to_string()),
            class_name: Some(heap.class_name(target).to_owned()),
            function_name: self.function_of(target)?,
        })
    }
}

/// A number of entries, at most `most`.
fn part_of(number: u64, most: u32) -> u32 {
    u32::try_from(number).map_or(most, |number| number.min(most))
}

fn page(
    kind: ContainerKind,
    total: u64,
    wanted: WantedEntries,
    entries: Vec<ContainerEntry>,
) -> ContainerPage {
    ContainerPage {
        kind,
        total,
        offset: wanted.offset,
        limit: wanted.limit,
        entries,
    }
}
