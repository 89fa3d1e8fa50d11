//! The fields of blocks as values. The word of a block without a type is a field whose name is its offset, as labels
//! show it: `+0x8`.

use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Cell, EdgeLabel, FieldReader, FieldType, LabelKind};

use crate::dump_memory::WindowReader;
use crate::typed_heap::NativeSource;
use crate::types::{ClassLayout, FieldHolds, NumberKind};
use crate::values::{cell, until_zero};

/// The largest number of names of fields that are suggested.
const MOST_NAMES: usize = 10_000;

/// Where a field lies.
#[derive(Clone, Copy)]
struct NativeFieldPosition {
    offset: u32,
    size: u32,
    holds: FieldHolds,
}

/// Reads fields of blocks.
pub(crate) struct NativeFields<'h> {
    source: &'h NativeSource,
    /// By field: its offset, if its name is one.
    offsets: Vec<Option<u32>>,
    /// By field and class slot.
    positions: Vec<Vec<Option<NativeFieldPosition>>>,
    memory: WindowReader<'h>,
    control: Control,
}

/// The offset that a name of a field is.
fn offset_of(name: &str) -> Option<u32> {
    u32::from_str_radix(name.strip_prefix("+0x")?, 16).ok()
}

/// Where a field of this name lies in the objects of a class that are no arrays.
fn position_of(class: &ClassLayout, name: &str) -> Option<NativeFieldPosition> {
    let mut fields = class.fields.iter().filter(|_| !class.is_array);
    let field = fields.find(|field| field.name == name)?;
    Some(NativeFieldPosition {
        offset: field.value.0,
        size: field.value.1,
        holds: field.holds,
    })
}

fn type_of(holds: FieldHolds) -> FieldType {
    match holds {
        FieldHolds::Number(NumberKind::Bool) => FieldType::Bool,
        FieldHolds::Number(_) => FieldType::Number,
        FieldHolds::Pointer => FieldType::Reference,
        FieldHolds::Text | FieldHolds::Bytes => FieldType::Any,
    }
}

impl NativeSource {
    /// What a field with this name holds in the objects of these class slots.
    pub(crate) fn type_of_field(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        if offset_of(name).is_some() {
            return Ok(Some(FieldType::Reference));
        }
        let mut found: Option<FieldType> = None;
        let classes = self.classes().iter().zip(class_slots);
        for (class, _) in classes.filter(|(_, is_wanted)| **is_wanted) {
            control.count(1 + class.fields.len() as u64)?;
            if let Some(position) = position_of(class, name) {
                let next = type_of(position.holds);
                found = Some(found.map_or(next, |found| found.or(next)));
            }
        }
        Ok(found)
    }

    /// The names of the fields of these class slots.
    pub(crate) fn names_of_fields(&self, class_slots: &[bool]) -> Vec<String> {
        let classes = self.classes().iter().zip(class_slots);
        let classes = classes.filter(|(class, is_wanted)| **is_wanted && !class.is_array);
        let fields = classes
            .flat_map(|(class, _)| &class.fields)
            .take(MOST_NAMES);
        let mut names: Vec<String> = fields.map(|field| field.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl<'h> NativeFields<'h> {
    pub(crate) fn new(
        source: &'h NativeSource,
        names: &[String],
        control: &Control,
    ) -> Result<Self> {
        let mut positions = Vec::new();
        for name in names {
            let found = source
                .classes()
                .iter()
                .map(|class| position_of(class, name));
            positions.push(columns::collected(found)?);
        }
        Ok(Self {
            source,
            offsets: names.iter().map(|name| offset_of(name)).collect(),
            positions,
            memory: WindowReader::new(source.memory(), control),
            control: control.clone(),
        })
    }

    /// The object to which the word at an offset refers.
    fn reference(&self, object: ObjectIndex, offset: u32) -> Cell {
        let edges = &self.source.heap().edges;
        let mut positions = edges.range(object);
        let found = positions.find(
            |&position| match edges.label(position).map(EdgeLabel::kind) {
                Some(LabelKind::Word(at)) => at == offset,
                Some(_) => self.source.offset_of(position) == Some(offset),
                None => false,
            },
        );
        found.map_or(Cell::Absent, |position| {
            Cell::Object(edges.target(position))
        })
    }

    fn typed(&mut self, object: ObjectIndex, position: NativeFieldPosition) -> Result<Cell> {
        let source = self.source;
        let Some(at) = source
            .heap()
            .memory_address(object)
            .0
            .checked_add(position.offset)
        else {
            return Ok(Cell::Unknown);
        };
        let bytes = self.memory.read(at, position.size)?;
        if position.holds != FieldHolds::Pointer {
            return Ok(cell(position.holds, bytes));
        }
        let word = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        Ok(match word {
            None => Cell::Unknown,
            Some(0) => Cell::Null,
            Some(word) => source
                .block_around(word)
                .map_or(Cell::Unknown, Cell::Object),
        })
    }
}

impl FieldReader for NativeFields<'_> {
    fn fields(
        &mut self,
        field: usize,
        objects: &[ObjectIndex],
        into: &mut Vec<Cell>,
    ) -> Result<()> {
        columns::reserve(into, objects.len())?;
        let offset = self.offsets.get(field).copied().flatten();
        for &object in objects {
            let heap = self.source.heap();
            let slot = heap.objects.class_slots[object.at()] as usize;
            self.control.count(1)?;
            let positions = self.positions.get(field);
            let position = positions.and_then(|positions| positions.get(slot).copied().flatten());
            let cell = match (offset, position) {
                (Some(offset), _) => self.reference(object, offset),
                (None, Some(position)) => self.typed(object, position)?,
                (None, None) => Cell::Absent,
            };
            into.push(cell);
        }
        Ok(())
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        self.source.is_text(object)
    }

    fn text(
        &mut self,
        object: ObjectIndex,
        most: usize,
        into: &mut Vec<u16>,
    ) -> Result<Option<usize>> {
        into.clear();
        if !self.source.is_text(object) {
            return Ok(None);
        }
        let bytes = self.source.text_of(object, &mut self.memory)?;
        let text = String::from_utf8_lossy(until_zero(bytes));
        columns::reserve(into, text.len())?;
        into.extend(text.encode_utf16());
        let length = into.len();
        into.truncate(most);
        Ok(Some(length))
    }
}
