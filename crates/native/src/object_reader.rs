//! Shows single blocks: their fields, the elements of arrays, texts, and the labels of their references.

use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{
    ContainerEntry, ContainerKind, ContainerPage, EdgeLabel, FieldValue, HeldValue, LabelKind,
    ObjectReader, ShownValue, Source, WantedEntries,
};

use crate::dump_memory::WindowReader;
use crate::typed_heap::NativeSource;
use crate::types::{ClassLayout, FieldHolds};
use crate::values::{shown, text_literal, until_zero};

/// The most fields in a preview.
const ITEMS: usize = 10;

/// Reads blocks.
pub(crate) struct NativeReader<'h> {
    source: &'h NativeSource,
    memory: WindowReader<'h>,
}

/// A value, and the object to which it refers.
struct ReadValue {
    value: ShownValue,
    object: Option<ObjectIndex>,
}

impl<'h> NativeReader<'h> {
    pub(crate) fn new(source: &'h NativeSource, control: &Control) -> Self {
        Self {
            source,
            memory: WindowReader::new(source.memory(), control),
        }
    }

    /// The value at an address.
    fn value(&mut self, address: u32, size: u32, holds: FieldHolds) -> Result<ReadValue> {
        let bytes = self.memory.read(address, size)?;
        let word = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        if holds != FieldHolds::Pointer {
            return Ok(ReadValue {
                value: shown(holds, bytes),
                object: None,
            });
        }
        let Some(word) = word.filter(|&word| word != 0) else {
            return Ok(ReadValue {
                value: ShownValue::Null,
                object: None,
            });
        };
        let object = self.source.block_around(word);
        let text = match object {
            None => format!("{word:#x}"),
            Some(object) => match self.text(object)? {
                Some(text) => text,
                None => {
                    let name = &self.source.heap().objects.class_of(object).name;
                    format!("{name}@{word:#x}")
                }
            },
        };
        Ok(ReadValue {
            value: ShownValue::Text(text),
            object,
        })
    }

    fn text(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        if !self.source.is_text(object) {
            return Ok(None);
        }
        let bytes = self.source.text_of(object, &mut self.memory)?;
        Ok(Some(text_literal(until_zero(bytes), true)))
    }

    /// The fields of an object or of an element that begins at an address.
    fn fields_at(&mut self, address: u32, class: &ClassLayout) -> Result<Vec<FieldValue>> {
        let mut values = Vec::new();
        for field in &class.fields {
            let Some(at) = address.checked_add(field.value.0) else {
                break;
            };
            let read = self.value(at, field.value.1, field.holds)?;
            let heap = self.source.heap();
            values.push(FieldValue {
                name: field.name.clone(),
                type_name: field.type_name.clone(),
                value: read.value,
                address: read.object.map(|object| heap.address(object).0),
                class_name: read
                    .object
                    .map(|object| heap.objects.class_of(object).name.clone()),
                function_name: None,
            });
        }
        Ok(values)
    }

    /// The label of the reference at a position, with the index of its element.
    fn exact(&self, source: ObjectIndex, position: u32) -> Option<String> {
        let class = self.source.class(source)?;
        let LabelKind::Field(field) = self.source.heap().edges.label(position)?.kind() else {
            return None;
        };
        let offset = self.source.offset_of(position)?;
        let offset = offset.checked_sub(self.source.base_of(source))?;
        let index = offset.checked_div(class.size)?;
        Some(class.label(field as usize, Some(index)))
    }

    /// The elements for which a block has room, and the address of the first.
    fn elements(&self, object: ObjectIndex, class: &ClassLayout) -> (u32, u32) {
        let (heap, base) = (self.source.heap(), self.source.base_of(object));
        let usable = self.source.usable(object);
        let count = usable.saturating_sub(base).checked_div(class.size);
        (
            count.unwrap_or(0),
            heap.memory_address(object).0.saturating_add(base),
        )
    }

    /// The elements at the start of a block that its container uses, if that is known.
    fn filled(&self, object: ObjectIndex, class: &ClassLayout) -> Option<u32> {
        let room = self.elements(object, class).0;
        let filled = self.source.used_of(object)?.checked_div(class.size)?;
        Some(filled.min(room))
    }

    fn element(&mut self, address: u32, class: &ClassLayout) -> Result<HeldValue> {
        let only = class.fields.first().filter(|field| field.name.is_empty());
        let Some(field) = only else {
            let fields = self.fields_at(address, class)?;
            return Ok(HeldValue::plain(ShownValue::Text(listed(&fields))));
        };
        let read = self.value(address, field.value.1, field.holds)?;
        let heap = self.source.heap();
        let target = read.object.map(|object| heap.address(object).0);
        Ok(HeldValue {
            value: read.value,
            address: target,
            address_text: target.map(|address| format!("{address:#x}")),
            class_name: read
                .object
                .map(|object| heap.objects.class_of(object).name.clone()),
            function_name: None,
        })
    }
}

/// The first fields, as one text.
fn listed(fields: &[FieldValue]) -> String {
    let items = fields.iter().take(ITEMS);
    let items: Vec<String> = items
        .map(|field| format!("{}: {}", field.name, field.value))
        .collect();
    let more = if fields.len() > ITEMS { ", …" } else { "" };
    format!("{{{}{more}}}", items.join(", "))
}

impl ObjectReader for NativeReader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String> {
        let edges = &self.source.heap().edges;
        let exact = edges
            .position(source, target, label, skipped)
            .and_then(|position| self.exact(source, position));
        let slot = self.source.heap().objects.class_slots[source.at()];
        Ok(exact.unwrap_or_else(|| self.source.class_label(slot, label)))
    }

    fn label_at(&mut self, source: ObjectIndex, position: u32, _: usize) -> Result<String> {
        let slot = self.source.heap().objects.class_slots[source.at()];
        let exact = self.exact(source, position);
        Ok(exact.unwrap_or_else(|| self.source.label_at(slot, position)))
    }

    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let source = self.source;
        if let Some(text) = self.text(object)? {
            return Ok(Some(text));
        }
        let Some(class) = source.class(object) else {
            return Ok(None);
        };
        let (count, first) = self.elements(object, class);
        if class.is_array {
            let ending = |count| if count == 1 { "" } else { "s" };
            return Ok(Some(match self.filled(object, class) {
                Some(filled) if filled == count => format!("{count} element{}", ending(count)),
                Some(filled) => format!("{filled} element{}, room for {count}", ending(filled)),
                None => format!("room for {count}"),
            }));
        }
        let fields = self.fields_at(first, class)?;
        Ok((!fields.is_empty()).then(|| listed(&fields)))
    }

    fn fields(&mut self, object: ObjectIndex, _: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        let source = self.source;
        match source.class(object).filter(|class| !class.is_array) {
            Some(class) => self.fields_at(source.heap().memory_address(object).0, class),
            None => Ok(Vec::new()),
        }
    }

    fn entries(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        let source = self.source;
        let is_array = |class: &&ClassLayout| class.is_array && class.size > 0 && !class.is_text;
        let Some(class) = source.class(object).filter(is_array) else {
            return Ok(None);
        };
        let (room, first) = self.elements(object, class);
        // What comes after these is what the container removed, or never had.
        let total = self.filled(object, class).unwrap_or(room);
        let mut entries = Vec::new();
        let last = wanted.offset.saturating_add(wanted.limit).min(total.into());
        for index in wanted.offset..last {
            // The elements lie in a block.
            let address = first + index as u32 * class.size;
            entries.push(ContainerEntry {
                index,
                name: Some(format!("[{index}]")),
                key: None,
                value: self.element(address, class)?,
            });
        }
        Ok(Some(ContainerPage {
            kind: ContainerKind::Elements,
            total: total.into(),
            offset: wanted.offset,
            limit: wanted.limit,
            entries,
        }))
    }

    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        self.text(object)
    }

    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String> {
        Ok(self.text(object)?.unwrap_or_default())
    }
}
