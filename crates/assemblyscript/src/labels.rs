//! The labels of references: exact ones with indexes and keys, or those of the class.

use super::containers::{Elements, EntryTable, is_deleted};
use super::memory::{FoundWord, MemoryReader, PayloadReader, word_at};
use crate::runtime::shapes::{ClassShape, EntryShape, ReferenceFieldName, ShapeKind};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, LabelKind};

/// The number of bytes of a buffer that are searched at once.
const PIECE: u32 = 1 << 16;

/// The name of a reference at a fixed offset.
pub(crate) fn reference_name(shape: &ClassShape, name: ReferenceFieldName, offset: u32) -> String {
    match name {
        ReferenceFieldName::Field(field) => shape.fields[field as usize].name.clone(),
        ReferenceFieldName::Unnamed => format!("+{offset}"),
        ReferenceFieldName::Environment => "(env)".to_owned(),
        ReferenceFieldName::Buffer => "(buffer)".to_owned(),
        ReferenceFieldName::Buckets => "(buckets)".to_owned(),
        ReferenceFieldName::Entries => "(entries)".to_owned(),
    }
}

/// Whether a reference leads to a container's own contents.
pub(super) fn is_own_storage(shape: &ClassShape, label: EdgeLabel) -> bool {
    match label.kind() {
        LabelKind::Field(nth) => {
            let reference = shape.references.get(nth as usize);
            reference.is_some_and(|reference| reference.name.is_own_storage())
        }
        _ => false,
    }
}

/// A label without index or key.
pub(super) fn class_label(shape: &ClassShape, label: EdgeLabel) -> String {
    match label.kind() {
        LabelKind::Field(nth) => {
            let reference = shape.references.get(nth as usize);
            reference.map_or_else(
                || "+?".to_owned(),
                |reference| reference_name(shape, reference.name, reference.offset),
            )
        }
        LabelKind::Word(offset) => format!("+{offset}"),
        LabelKind::FarField | LabelKind::Named(..) => "+?".to_owned(),
        LabelKind::Hidden => "{*}".to_owned(),
        LabelKind::Folded => "…".to_owned(),
        LabelKind::TupleElement(nth) => format!("[{nth}]"),
        LabelKind::Element | LabelKind::Value | LabelKind::BufferWord => "[*]".to_owned(),
        LabelKind::Key => "key [*]".to_owned(),
        LabelKind::Member => "member [*]".to_owned(),
    }
}

impl MemoryReader<'_> {
    /// The label of a reference, with its index or key. If `source` refers to `target` more than once
    /// under such labels, it is the reference after `skipped` of them.
    pub(super) fn exact_label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String> {
        let heap = self.heap();
        let shape = heap.shape(source);
        let payload = self.payload(heap.heap.memory_address(source).0)?;
        let word = heap.heap.memory_address(target).0;
        let exact = match (label.kind(), shape.kind) {
            (LabelKind::Element, ShapeKind::StaticArray(_)) => {
                self.element(payload, 0, word, skipped)?
            }
            (LabelKind::Element, _) => self.array_element(payload, word, skipped)?,
            (
                LabelKind::Key | LabelKind::Member,
                ShapeKind::Map(entries) | ShapeKind::Set(entries),
            ) => {
                let key = self.entry(payload, entries, 0, word, skipped)?;
                key.map(|(nth, key)| match label.kind() {
                    // A member that is not a string is named by its index.
                    LabelKind::Member if !key.starts_with('"') => format!("member [{nth}]"),
                    LabelKind::Member => format!("member [{key}]"),
                    _ => format!("key [{key}]"),
                })
            }
            (LabelKind::Value, ShapeKind::Map(entries)) => {
                let offset = entries.value.map_or(0, |(_, offset)| offset);
                let value = self.entry(payload, entries, offset, word, skipped)?;
                value.map(|(_, key)| format!("[{key}]"))
            }
            (LabelKind::FarField, _) => self.far_field(payload, word, skipped)?,
            _ => None,
        };
        Ok(exact.unwrap_or_else(|| class_label(shape, label)))
    }

    /// The buffer of these elements, and the offset in it of the first; `None` if the buffer is no object.
    pub(super) fn first_of(&self, elements: Elements) -> Option<(u32, u32)> {
        self.object_at(elements.buffer)?;
        Some((elements.buffer, elements.start?))
    }

    /// The index of a word in the elements of an array.
    fn array_element(
        &mut self,
        array: PayloadReader,
        word: u32,
        skipped: usize,
    ) -> Result<Option<String>> {
        let elements = Elements::of_array(|offset| self.field(array, offset))?;
        let Some((buffer, start)) = elements.and_then(|elements| self.first_of(elements)) else {
            return Ok(None);
        };
        let buffer = self.payload(buffer)?;
        self.element(buffer, start, word, skipped)
    }

    /// The index of a word among those of a buffer from `start` on.
    fn element(
        &mut self,
        buffer: PayloadReader,
        start: u32,
        word: u32,
        skipped: usize,
    ) -> Result<Option<String>> {
        let found = self.position(buffer, start, word, skipped)?;
        Ok(found.map(|index| format!("[{index}]")))
    }

    /// The number of words between `start` and this one.
    fn position(
        &mut self,
        buffer: PayloadReader,
        start: u32,
        word: u32,
        skipped: usize,
    ) -> Result<Option<u32>> {
        let searched = (buffer.address, start, word);
        let resumed = self
            .last_found
            .and_then(|last| last.resume(searched, skipped));
        let (mut offset, mut left) = resumed.unwrap_or((start, skipped));
        while offset < buffer.size {
            let words = self.part(buffer, offset, PIECE)?;
            for (nth, found) in words.chunks_exact(4).enumerate() {
                if word_at(found, 0) != Some(word) {
                    continue;
                }
                if left == 0 {
                    let found = offset + 4 * nth as u32;
                    self.last_found = Some(FoundWord {
                        searched,
                        skipped,
                        next: found + 4,
                    });
                    return Ok(Some((found - start) / 4));
                }
                left -= 1;
            }
            offset = offset.saturating_add(PIECE);
        }
        Ok(None)
    }

    /// The reference in a word whose number does not fit a label.
    fn far_field(
        &mut self,
        payload: PayloadReader,
        word: u32,
        skipped: usize,
    ) -> Result<Option<String>> {
        let found = self.position(payload, 0, word, skipped)?;
        Ok(found.map(|index| format!("+{}", index * 4)))
    }

    /// The number and the key of the entry that has a word at this offset.
    fn entry(
        &mut self,
        map: PayloadReader,
        entries: EntryShape,
        offset: u32,
        word: u32,
        skipped: usize,
    ) -> Result<Option<(u32, String)>> {
        let table = EntryTable::read(|offset| self.field(map, offset))?;
        let Some(EntryTable {
            entries: buffer,
            used,
            ..
        }) = table
        else {
            return Ok(None);
        };
        if self.object_at(buffer).is_none() {
            return Ok(None);
        }
        let buffer = self.payload(buffer)?;
        let stride = entries.stride.max(4);
        let per_piece = (PIECE / stride).max(1);
        let used = used.min(buffer.size / stride);
        let searched = (buffer.address, offset, word);
        let resumed = self
            .last_found
            .and_then(|last| last.resume(searched, skipped));
        let (start, mut left) = resumed.unwrap_or((0, skipped));
        for first in (start..used).step_by(per_piece as usize) {
            let piece = self.part(buffer, first * stride, per_piece * stride)?;
            for (nth, entry) in piece.chunks_exact(stride as usize).enumerate() {
                let number = first + nth as u32;
                let is_deleted = is_deleted(word_at(entry, entries.tagged_next as usize));
                if number >= used || is_deleted || word_at(entry, offset as usize) != Some(word) {
                    continue;
                }
                if left == 0 {
                    let entry = entry.to_vec();
                    self.last_found = Some(FoundWord {
                        searched,
                        skipped,
                        next: number + 1,
                    });
                    return Ok(Some((number, self.key(entries, &entry)?)));
                }
                left -= 1;
            }
        }
        Ok(None)
    }

    fn key(&mut self, entries: EntryShape, entry: &[u8]) -> Result<String> {
        self.held(entries.key, entry)
    }
}

/// The label of a reference, without index or key.
pub(super) fn without_key(label: &str) -> &str {
    match label {
        key if key.starts_with('[') => "[*]",
        key if key.starts_with("key [") => "key [*]",
        key if key.starts_with("member [") => "member [*]",
        field => field,
    }
}
