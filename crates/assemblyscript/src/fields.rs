//! Reads fields, texts and members of many objects of a dump as values.

use super::containers::{EntryTable, is_deleted};
use super::dump_source::DumpSource;
use super::entries::FoundRun;
use super::memory::{MemoryReader, word_at};
use crate::runtime::shapes::{ClassShape, EntryShape, Holds, ShapeKind};
use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::literal::code_units;
use heap::{Cell, FieldReader, FieldType, Member, MemberSink, Membership};
use wasm::debug_info::Number;

/// The number of elements or entries that are read at once.
const MEMBERS: u32 = 256;
/// The largest number of names of fields that are suggested.
const MOST_NAMES: usize = 10_000;

/// Where a field lies, and what it holds.
#[derive(Clone, Copy)]
struct FieldPosition {
    offset: u32,
    holds: Holds,
}

/// Reads fields of a dump.
struct DumpFields<'h> {
    heap: &'h DumpSource,
    /// By field and class slot.
    positions: Vec<Vec<Option<FieldPosition>>>,
    /// For objects that ascend.
    ascending: MemoryReader<'h>,
    /// For everything else.
    single: MemoryReader<'h>,
}

impl DumpSource {
    /// What a field holds in the objects of these class slots.
    pub(super) fn type_of_field(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        let mut found: Option<FieldType> = None;
        for (shape, _) in self.shapes.iter().zip(class_slots).filter(|(_, is)| **is) {
            control.count(1 + shape.fields.len() as u64)?;
            if let Some(position) = position_of(shape, name) {
                let next = type_of(position.holds);
                found = Some(found.map_or(next, |found| found.or(next)));
            }
        }
        Ok(found)
    }

    /// The names of fields of these class slots.
    pub(super) fn names_of_fields(&self, class_slots: &[bool]) -> Vec<String> {
        let shapes = self.shapes.iter().zip(class_slots).filter(|(_, is)| **is);
        let fields = shapes.flat_map(|(shape, _)| &shape.fields).take(MOST_NAMES);
        let mut names: Vec<String> = fields.map(|field| field.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Reads the fields with these names.
    pub(super) fn read_fields(
        &self,
        names: &[String],
        control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        let mut positions = Vec::new();
        for name in names {
            let found = self.shapes.iter().map(|shape| position_of(shape, name));
            positions.push(columns::collected(found)?);
        }
        Ok(Box::new(DumpFields {
            heap: self,
            positions,
            ascending: MemoryReader::sequential(self, control),
            single: MemoryReader::new(self, control),
        }))
    }
}

/// Where the field of this name lies in the objects of a class. A word without a name has its offset: `+8`.
fn position_of(shape: &ClassShape, name: &str) -> Option<FieldPosition> {
    let unnamed = name
        .strip_prefix('+')
        .and_then(|offset| offset.parse::<u32>().ok());
    let field = shape.fields.iter().find(|field| match unnamed {
        Some(offset) => field.name.is_empty() && field.offset == offset,
        None => field.name == name,
    });
    if let Some(field) = field {
        // The collector may follow a field that is a number in the debug information.
        let is_followed = || {
            let mut references = shape.references.iter();
            references.any(|reference| {
                reference.offset == field.offset && reference.name.is_own_storage()
            })
        };
        let holds = if is_followed() {
            Holds::Reference
        } else {
            field.holds
        };
        return Some(FieldPosition {
            offset: field.offset,
            holds,
        });
    }
    let offset = unnamed.filter(|_| shape.fields.is_empty())?;
    let reference = shape
        .references
        .iter()
        .find(|reference| reference.offset == offset)?;
    Some(FieldPosition {
        offset: reference.offset,
        holds: Holds::Reference,
    })
}

fn type_of(holds: Holds) -> FieldType {
    match holds {
        Holds::Number(Number::Bool) => FieldType::Bool,
        Holds::Number(Number::V128) | Holds::Bytes(_) => FieldType::Any,
        Holds::Number(_) | Holds::Pointer => FieldType::Number,
        Holds::Reference => FieldType::Reference,
    }
}

impl MemoryReader<'_> {
    /// The value in these bytes.
    fn cell(&self, holds: Holds, bytes: &[u8]) -> Cell {
        match holds {
            Holds::Number(number) => number_cell(number, bytes),
            Holds::Bytes(_) => Cell::Unknown,
            Holds::Pointer => {
                word_at(bytes, 0).map_or(Cell::Unknown, |word| Cell::Integer(word.into()))
            }
            Holds::Reference => match word_at(bytes, 0) {
                None => Cell::Unknown,
                Some(0) => Cell::Null,
                Some(word) => self.object_at(word).map_or(Cell::Unknown, Cell::Object),
            },
        }
    }
}

/// The number in these bytes.
fn number_cell(number: Number, bytes: &[u8]) -> Cell {
    fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.first_chunk::<N>().copied()
    }
    let cell = match number {
        Number::Bool => first::<1>(bytes).map(|[byte]| Cell::Bool(byte != 0)),
        Number::I8 => first(bytes).map(|bytes| Cell::Integer(i8::from_le_bytes(bytes).into())),
        Number::U8 => first(bytes).map(|bytes| Cell::Integer(u8::from_le_bytes(bytes).into())),
        Number::I16 => first(bytes).map(|bytes| Cell::Integer(i16::from_le_bytes(bytes).into())),
        Number::U16 => first(bytes).map(|bytes| Cell::Integer(u16::from_le_bytes(bytes).into())),
        Number::I32 | Number::Isize => {
            first(bytes).map(|bytes| Cell::Integer(i32::from_le_bytes(bytes).into()))
        }
        Number::U32 | Number::Usize => {
            first(bytes).map(|bytes| Cell::Integer(u32::from_le_bytes(bytes).into()))
        }
        Number::I64 => first(bytes).map(|bytes| Cell::Integer(i64::from_le_bytes(bytes))),
        Number::U64 => first(bytes).map(|bytes| {
            let value = u64::from_le_bytes(bytes);
            i64::try_from(value).map_or(Cell::Unsigned(value), Cell::Integer)
        }),
        Number::F32 => first(bytes).map(|bytes| Cell::Double(f32::from_le_bytes(bytes).into())),
        Number::F64 => first(bytes).map(|bytes| Cell::Double(f64::from_le_bytes(bytes))),
        Number::V128 => None,
    };
    cell.unwrap_or(Cell::Unknown)
}

impl FieldReader for DumpFields<'_> {
    fn fields(
        &mut self,
        field: usize,
        objects: &[ObjectIndex],
        into: &mut Vec<Cell>,
    ) -> Result<()> {
        columns::reserve(into, objects.len())?;
        let heap = self.heap;
        let positions = self.positions.get(field).map_or(&[][..], Vec::as_slice);
        let reader = if objects.is_sorted() {
            &mut self.ascending
        } else {
            &mut self.single
        };
        for &object in objects {
            let slot = heap.heap.objects.class_slots[object.at()] as usize;
            let Some(position) = positions.get(slot).copied().flatten() else {
                into.push(Cell::Absent);
                continue;
            };
            let payload = reader.payload(heap.heap.memory_address(object).0)?;
            let part = reader.part(payload, position.offset, position.holds.size())?;
            let mut bytes = [0; 16];
            let length = part.len().min(bytes.len());
            bytes[..length].copy_from_slice(&part[..length]);
            into.push(reader.cell(position.holds, &bytes[..length]));
        }
        Ok(())
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        self.heap.shape(object).kind == ShapeKind::Text
    }

    fn text(
        &mut self,
        object: ObjectIndex,
        most: usize,
        into: &mut Vec<u16>,
    ) -> Result<Option<usize>> {
        into.clear();
        if !self.is_text(object) {
            return Ok(None);
        }
        let payload = self
            .single
            .payload(self.heap.heap.memory_address(object).0)?;
        let size = payload.size & !1;
        let wanted = u32::try_from(most.saturating_mul(2)).map_or(size, |most| most.min(size));
        let bytes = self.single.part(payload, 0, wanted)?;
        columns::reserve(into, bytes.len() / 2)?;
        into.extend(code_units(bytes));
        Ok(Some(size as usize / 2))
    }

    fn size(&mut self, object: ObjectIndex) -> Result<Option<u64>> {
        let reader = &mut self.single;
        let payload = reader.payload(self.heap.heap.memory_address(object).0)?;
        Ok(match self.heap.shape(object).kind {
            ShapeKind::Text => Some(u64::from(payload.size / 2)),
            ShapeKind::Buffer => Some(payload.size.into()),
            ShapeKind::Map(entries) | ShapeKind::Set(entries) => {
                let table =
                    EntryTable::read(|offset| reader.field(payload, offset))?.unwrap_or_default();
                match reader.object_at(table.entries) {
                    None => Some(0),
                    Some(_) => {
                        let buffer = reader.payload(table.entries)?;
                        let room = buffer.size / entries.stride.max(1);
                        Some(table.count.min(table.used).min(room).into())
                    }
                }
            }
            _ => match reader.run_of(object)? {
                FoundRun::NoArray => None,
                FoundRun::Empty => Some(0),
                FoundRun::Run(run) => Some(run.total().into()),
            },
        })
    }

    fn members(&mut self, object: ObjectIndex, sink: &mut MemberSink<'_>) -> Result<Membership> {
        match self.heap.shape(object).kind {
            ShapeKind::Map(entries) | ShapeKind::Set(entries) => {
                self.keys(object, entries, sink)?;
            }
            _ => match self.single.run_of(object)? {
                FoundRun::NoArray => return Ok(Membership::NoContainer),
                FoundRun::Empty => {}
                FoundRun::Run(run) => {
                    let size = run.element.size().max(1);
                    let total = run.total();
                    for first in (0..total).step_by(MEMBERS as usize) {
                        let listed = MEMBERS.min(total - first);
                        let start = run.start + first * size;
                        let bytes = self.single.part(run.buffer, start, listed * size)?.to_vec();
                        for bytes in bytes.chunks_exact(size as usize) {
                            let cell = self.single.cell(run.element, bytes);
                            if !sink(Member::Cell(cell))? {
                                return Ok(Membership::Complete);
                            }
                        }
                    }
                }
            },
        }
        Ok(Membership::Complete)
    }
}

impl DumpFields<'_> {
    /// Passes on the keys of a map or the values of a set.
    fn keys(
        &mut self,
        object: ObjectIndex,
        layout: EntryShape,
        sink: &mut MemberSink<'_>,
    ) -> Result<()> {
        let reader = &mut self.single;
        let payload = reader.payload(self.heap.heap.memory_address(object).0)?;
        let table = EntryTable::read(|offset| reader.field(payload, offset))?.unwrap_or_default();
        if reader.object_at(table.entries).is_none() {
            return Ok(());
        }
        let buffer = reader.payload(table.entries)?;
        let stride = layout.stride.max(1);
        let used = table.used.min(buffer.size / stride);
        for first in (0..used).step_by(MEMBERS as usize) {
            let listed = MEMBERS.min(used - first);
            let bytes = reader
                .part(buffer, first * stride, listed * stride)?
                .to_vec();
            for entry in bytes.chunks_exact(stride as usize) {
                if is_deleted(word_at(entry, layout.tagged_next as usize)) {
                    continue;
                }
                if !sink(Member::Cell(reader.cell(layout.key, entry)))? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
