//! Previews: a short text of the contents of an object.

use std::fmt::Write;

use super::containers::{Elements, EntryTable, is_deleted};
use super::memory::{LONG_WINDOW, MemoryReader, PayloadReader, word_at};
use super::text_search::TextSearch;
use super::values::{number, plain};
use crate::runtime::shapes::{EntryShape, Holds, ShapeKind};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::literal::{SHOWN, code_units, literal};
use heap::{FieldValue, ShownValue};
use wasm::debug_info::Number;

/// The largest number of elements, entries or fields in a preview.
const ITEMS: u32 = 10;
/// The field of a function object that is the index of the function.
const FUNCTION_INDEX: &str = "_index";
/// The number of bytes of a buffer that are shown among copies.
const BYTES: u32 = 8;
/// The number of bytes of a string that are searched at once.
const PIECE: u32 = LONG_WINDOW;

impl MemoryReader<'_> {
    /// A string with its quotes, shortened to some characters.
    pub(super) fn string(&mut self, object: ObjectIndex) -> Result<String> {
        let payload = self.payload(self.heap().heap.memory_address(object).0)?;
        let size = payload.size & !1;
        let part = self.part(payload, 0, size.min(SHOWN as u32 * 4))?;
        Ok(literal(code_units(part), part.len() as u32 == size))
    }

    /// The object to which a word refers: the text of a string, otherwise class and address.
    pub(super) fn reference(&mut self, word: u32) -> Result<String> {
        let Some(object) = self.object_at(word) else {
            return Ok(match word {
                0 => "null".to_owned(),
                word => format!("{word:#x}"),
            });
        };
        let heap = self.heap();
        match heap.shape(object).kind {
            ShapeKind::Text => self.string(object),
            _ => Ok(format!("{}@{word:#x}", heap.class_name(object))),
        }
    }

    /// The value in these bytes, as text.
    pub(super) fn held(&mut self, holds: Holds, bytes: &[u8]) -> Result<String> {
        match (holds, word_at(bytes, 0)) {
            (Holds::Reference, Some(word)) => self.reference(word),
            _ => Ok(plain(holds, bytes).to_string()),
        }
    }

    /// The contents of an object; `None` if nothing is known of them.
    pub(super) fn preview_of(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let heap = self.heap();
        let payload = self.payload(heap.heap.memory_address(object).0)?;
        Ok(Some(match heap.shape(object).kind {
            ShapeKind::Text => {
                let length = payload.size / 2;
                format!("{} (length {length})", self.string(object)?)
            }
            ShapeKind::Buffer => format!("{} bytes", payload.size),
            ShapeKind::View(element) => self.preview_view(payload, element)?,
            ShapeKind::Array(element) => self.preview_array(payload, element)?,
            ShapeKind::StaticArray(element) => {
                let length = payload.size / element.size().max(1);
                let items = self.elements(payload, 0, length, element)?;
                format!("length {length}: {items}")
            }
            ShapeKind::Map(entries) => self.preview_entries(payload, entries)?,
            ShapeKind::Set(entries) => self.preview_entries(payload, entries)?,
            ShapeKind::Tuple => format!("{} bytes", payload.size),
            ShapeKind::Function | ShapeKind::Plain => {
                let fields = self.fields_of(object)?;
                if fields.is_empty() {
                    return Ok(None);
                }
                let items = fields.iter().map(|field| {
                    let FieldValue { name, value, .. } = field;
                    match &field.function_name {
                        Some(function) => format!("{name}: {value} ({function})"),
                        None => format!("{name}: {value}"),
                    }
                });
                list('{', items, fields.len() as u64, '}')
            }
        }))
    }

    fn preview_view(&mut self, payload: PayloadReader, element: Option<Number>) -> Result<String> {
        let view = Elements::of_view(|offset| self.field(payload, offset))?;
        let length = view.map_or(0, |view| view.length);
        let Some(element) = element else {
            return Ok(format!("{length} bytes"));
        };
        let length = length / element.size();
        let items = self.buffer_elements(view, length, Holds::Number(element))?;
        Ok(format!("length {length}: {items}"))
    }

    fn preview_array(&mut self, payload: PayloadReader, element: Holds) -> Result<String> {
        let array = Elements::of_array(|offset| self.field(payload, offset))?;
        let length = array.map_or(0, |array| array.length);
        // As long as its view of the buffer.
        let view = Elements::of_view(|offset| self.field(payload, offset))?;
        let capacity = view.map_or(0, |view| view.length) / element.size().max(1);
        let items = self.buffer_elements(array, length, element)?;
        Ok(format!("length {length}, capacity {capacity}: {items}"))
    }

    /// The first elements of an array or a view, from its buffer.
    fn buffer_elements(
        &mut self,
        elements: Option<Elements>,
        length: u32,
        element: Holds,
    ) -> Result<String> {
        let Some((buffer, start)) = elements.and_then(|elements| self.first_of(elements)) else {
            return Ok("[]".to_owned());
        };
        let buffer = self.payload(buffer)?;
        self.elements(buffer, start, length, element)
    }

    fn elements(
        &mut self,
        buffer: PayloadReader,
        start: u32,
        length: u32,
        element: Holds,
    ) -> Result<String> {
        let size = element.size().max(1);
        let bytes = self.part(buffer, start, length.min(ITEMS) * size)?.to_vec();
        let mut items = Vec::new();
        for bytes in bytes.chunks_exact(size as usize) {
            items.push(self.held(element, bytes)?);
        }
        Ok(list('[', items.into_iter(), length.into(), ']'))
    }

    fn preview_entries(&mut self, payload: PayloadReader, entries: EntryShape) -> Result<String> {
        let table = EntryTable::read(|offset| self.field(payload, offset))?;
        let EntryTable {
            entries: buffer,
            capacity,
            used,
            count: size,
            ..
        } = table.unwrap_or_default();
        let mut items = Vec::new();
        if self.object_at(buffer).is_some() {
            let buffer = self.payload(buffer)?;
            for nth in 0..used.min(ITEMS * 2) {
                let Some(offset) = nth.checked_mul(entries.stride) else {
                    break;
                };
                let entry = self.part(buffer, offset, entries.stride)?.to_vec();
                if is_deleted(word_at(&entry, entries.tagged_next as usize)) {
                    continue;
                }
                let mut item = self.held(entries.key, &entry)?;
                if let Some((value, offset)) = entries.value {
                    let value = self.held(value, entry.get(offset as usize..).unwrap_or(&[]))?;
                    item = format!("{item} => {value}");
                }
                items.push(item);
            }
        }
        let items = list('{', items.into_iter(), size.into(), '}');
        Ok(format!("size {size}, capacity {capacity}: {items}"))
    }

    /// The fields of an object by offset: those of its class, or else the words that hold references.
    pub(super) fn fields_of(&mut self, object: ObjectIndex) -> Result<Vec<FieldValue>> {
        let heap = self.heap();
        let payload = self.payload(heap.heap.memory_address(object).0)?;
        let shape = heap.shape(object);
        let mut fields = Vec::new();
        for field in &shape.fields {
            // The collector may follow a field that is a number in the debug information.
            let is_followed = shape.references.iter().any(|reference| {
                reference.offset == field.offset && reference.name.is_own_storage()
            });
            let holds = if is_followed {
                Holds::Reference
            } else {
                field.holds
            };
            let name = if field.name.is_empty() {
                format!("+{}", field.offset)
            } else {
                field.name.clone()
            };
            let type_name = field.type_name.clone();
            let mut value = self.field_value(payload, name, type_name, field.offset, holds)?;
            if shape.kind == ShapeKind::Function && field.name == FUNCTION_INDEX {
                value.function_name = self.function_at(payload, field.offset)?;
            }
            fields.push(value);
        }
        if shape.fields.is_empty() {
            let mut references: Vec<_> = shape.references.iter().collect();
            references.sort_by_key(|reference| reference.offset);
            for reference in references {
                let offset = reference.offset;
                let name = super::labels::reference_name(shape, reference.name, offset);
                let holds = Holds::Reference;
                fields.push(self.field_value(payload, name, "?".to_owned(), offset, holds)?);
            }
        }
        Ok(fields)
    }

    fn field_value(
        &mut self,
        payload: PayloadReader,
        name: String,
        type_name: String,
        offset: u32,
        holds: Holds,
    ) -> Result<FieldValue> {
        let bytes = self.part(payload, offset, holds.size())?.to_vec();
        let mut field = FieldValue {
            name,
            type_name,
            value: ShownValue::Null,
            address: None,
            class_name: None,
            function_name: None,
        };
        match (holds, word_at(&bytes, 0)) {
            (Holds::Reference, Some(0) | None) => {}
            (Holds::Reference, Some(word)) => {
                field.value = ShownValue::Text(self.reference(word)?);
                let target = self.object_at(word);
                field.address = target.map(|_| word.into());
                field.class_name = target.map(|target| self.heap().class_name(target).to_owned());
            }
            (Holds::Number(of), _) => field.value = number(of, &bytes),
            _ => field.value = plain(holds, &bytes),
        }
        Ok(field)
    }
}

impl MemoryReader<'_> {
    /// The name of the function that an object stands for.
    pub(super) fn function_of(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let heap = self.heap();
        let shape = heap.shape(object);
        if shape.kind != ShapeKind::Function {
            return Ok(None);
        }
        let index = shape
            .fields
            .iter()
            .find(|field| field.name == FUNCTION_INDEX);
        let Some(index) = index else { return Ok(None) };
        let payload = self.payload(heap.heap.memory_address(object).0)?;
        self.function_at(payload, index.offset)
    }

    /// The name of the function whose index is at this offset.
    fn function_at(&mut self, payload: PayloadReader, offset: u32) -> Result<Option<String>> {
        let Some(index) = self.field(payload, offset)? else {
            return Ok(None);
        };
        let name = self.heap().functions.get(&index);
        Ok(name.map(|name| name.to_string()))
    }

    /// Whether a string contains a text.
    pub(super) fn string_contains(
        &mut self,
        object: ObjectIndex,
        text: &TextSearch,
        control: &Control,
    ) -> Result<bool> {
        let payload = self.payload(self.heap().heap.memory_address(object).0)?;
        if text.is_empty() {
            return Ok(true);
        }
        let mut found = 0;
        for at in (0..payload.size).step_by(PIECE as usize) {
            if at > 0 {
                control.check()?;
            }
            let piece = self.part(payload, at, PIECE)?;
            if text.continues(&mut found, piece) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The literal of a string, otherwise the class and the first elements.
    pub(super) fn copied_contents(&mut self, object: ObjectIndex) -> Result<String> {
        let heap = self.heap();
        let class_name = heap.class_name(object);
        let payload = self.payload(heap.heap.memory_address(object).0)?;
        Ok(match heap.shape(object).kind {
            ShapeKind::Text => {
                let text = self.string(object)?;
                if payload.size as usize / 2 > SHOWN {
                    format!("{text} (length {})", payload.size / 2)
                } else {
                    text
                }
            }
            ShapeKind::Buffer => {
                let mut text = format!("{class_name}, {} bytes:", payload.size);
                for byte in self.part(payload, 0, BYTES)? {
                    // Writing to a string cannot fail.
                    _ = write!(text, " {byte:02x}");
                }
                if payload.size > BYTES {
                    text.push_str(" …");
                }
                text
            }
            _ => {
                let preview = self.preview_of(object)?;
                format!("{class_name}, {}", preview.unwrap_or_default())
            }
        })
    }
}

/// A list of `total` items, which ends when it is long enough.
fn list(open: char, items: impl Iterator<Item = String>, total: u64, close: char) -> String {
    let mut list = String::from(open);
    let mut length = 0;
    let mut shown = 0;
    for item in items.take(ITEMS as usize) {
        length += item.chars().count();
        if shown > 0 && length > SHOWN {
            break;
        }
        if shown > 0 {
            list.push_str(", ");
        }
        list.push_str(&item);
        shown += 1;
    }
    if shown < total {
        list.push_str(if shown > 0 { ", …" } else { "…" });
    }
    list.push(close);
    list
}
