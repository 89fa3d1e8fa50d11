//! The values of fields and elements, and the texts of strings.

use crate::bytes::{IdSize, JavaType};
use crate::contents::FileReader;
use crate::heap_records::ObjectRecord;
use crate::model::{JavaSlotKind, Model, StringLayout, StringPart};
use base::error::Result;
use base::units::{ObjectAddress, ObjectIndex};
use heap::{Cell, Heap, ShownValue};

/// A value out of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JavaValue {
    /// The id of an object; 0 for null.
    Object(u64),
    Boolean(bool),
    Char(u16),
    Float(f32),
    Double(f64),
    Integer(i64),
}

/// The integers that a number of JavaScript holds.
const MOST_EXACT: u64 = 1 << 32;

impl JavaValue {
    /// Of these bytes; `None` if they are too few.
    pub(crate) fn of(java_type: JavaType, bytes: &[u8], model: &Model) -> Option<Self> {
        let needed = java_type.bytes(model.ids);
        let bytes = bytes.get(..needed)?;
        Some(match java_type {
            JavaType::Object => Self::Object(model.ids.read(bytes)),
            JavaType::Boolean => Self::Boolean(bytes.first()? != &0),
            JavaType::Byte => Self::Integer(i64::from(*bytes.first()? as i8)),
            JavaType::Char => Self::Char(u16::from_be_bytes(*bytes.first_chunk()?)),
            JavaType::Short => Self::Integer(i16::from_be_bytes(*bytes.first_chunk()?).into()),
            JavaType::Int => Self::Integer(i32::from_be_bytes(*bytes.first_chunk()?).into()),
            JavaType::Long => Self::Integer(i64::from_be_bytes(*bytes.first_chunk()?)),
            JavaType::Float => Self::Float(f32::from_be_bytes(*bytes.first_chunk()?)),
            JavaType::Double => Self::Double(f64::from_be_bytes(*bytes.first_chunk()?)),
        })
    }

    /// As it is shown; of a reference nothing but whether it is null.
    pub(crate) fn shown(self) -> ShownValue {
        match self {
            Self::Object(0) => ShownValue::Null,
            Self::Object(id) => ShownValue::Text(format!("{id:#x}")),
            Self::Boolean(value) => ShownValue::Bool(value),
            Self::Char(unit) => ShownValue::Text(heap::literal::literal([unit], true)),
            Self::Float(value) if value.is_finite() => ShownValue::Single(value),
            Self::Float(value) => ShownValue::Text(float_text(value.into())),
            Self::Double(value) if value.is_finite() => ShownValue::Double(value),
            Self::Double(value) => ShownValue::Text(float_text(value)),
            Self::Integer(value) if value.unsigned_abs() < MOST_EXACT => ShownValue::Integer(value),
            Self::Integer(value) => ShownValue::Text(value.to_string()),
        }
    }

    /// As expressions see it.
    pub(crate) fn cell(self, heap: &Heap) -> Cell {
        match self {
            Self::Object(0) => Cell::Null,
            Self::Object(id) => {
                let object = heap.objects.at(ObjectAddress(id));
                object.map_or(Cell::Unknown, Cell::Object)
            }
            Self::Boolean(value) => Cell::Bool(value),
            Self::Char(unit) => Cell::Integer(unit.into()),
            Self::Float(value) => Cell::Double(value.into()),
            Self::Double(value) => Cell::Double(value),
            Self::Integer(value) => Cell::Integer(value),
        }
    }
}

fn float_text(value: f64) -> String {
    let text = match value {
        value if value.is_nan() => "NaN",
        value if value > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    text.to_owned()
}

/// The start of a string.
#[derive(Debug, Default)]
pub(crate) struct JavaText {
    pub(crate) units: Vec<u16>,
    /// Of the whole string.
    pub(crate) length: usize,
}

impl JavaText {
    pub(crate) fn is_whole(&self) -> bool {
        self.units.len() == self.length
    }
}

/// Reads values of a heap.
pub(crate) struct ValueReader<'h> {
    pub(crate) heap: &'h Heap,
    pub(crate) model: &'h Model,
    pub(crate) file: FileReader<'h>,
}

impl ValueReader<'_> {
    /// The object with an id.
    pub(crate) fn object(&self, id: u64) -> Option<ObjectIndex> {
        self.heap.objects.at(ObjectAddress(id))
    }

    /// The value of a field that begins at an offset of an object's record.
    pub(crate) fn field_at(
        &mut self,
        object: ObjectIndex,
        offset: u32,
        java_type: JavaType,
    ) -> Result<Option<JavaValue>> {
        let found = self.file.record(self.model.offsets.get(object))?;
        let at = found.contents + u64::from(offset);
        let bytes = self.file.bytes(at, java_type.bytes(self.model.ids))?;
        Ok(JavaValue::of(java_type, bytes, self.model))
    }

    /// The value of a field by its name.
    pub(crate) fn field(&mut self, object: ObjectIndex, name: &str) -> Result<Option<JavaValue>> {
        let (JavaSlotKind::Instances(class) | JavaSlotKind::Classes(Some(class))) =
            self.model.kind(self.heap, object)
        else {
            return Ok(None);
        };
        match self.model.field(class, name) {
            Some(placed) => self.field_at(object, placed.offset, placed.field.java_type),
            None => Ok(None),
        }
    }

    /// The object to which a field refers.
    pub(crate) fn target(
        &mut self,
        object: ObjectIndex,
        name: &str,
    ) -> Result<Option<ObjectIndex>> {
        Ok(match self.field(object, name)? {
            Some(JavaValue::Object(id)) => self.object(id),
            _ => None,
        })
    }

    /// An integer that a field holds.
    pub(crate) fn integer(&mut self, object: ObjectIndex, name: &str) -> Result<Option<i64>> {
        Ok(match self.field(object, name)? {
            Some(JavaValue::Integer(value)) => Some(value),
            _ => None,
        })
    }

    /// The number of elements of an array; `None` for other objects.
    pub(crate) fn array_length(&mut self, object: ObjectIndex) -> Result<Option<u32>> {
        let found = self.file.record(self.model.offsets.get(object))?;
        Ok(match found.record {
            ObjectRecord::ObjectArray { count, .. }
            | ObjectRecord::PrimitiveArray { count, .. } => Some(count),
            ObjectRecord::Class { .. } | ObjectRecord::Instance { .. } => None,
        })
    }

    /// An element of an array.
    pub(crate) fn element(&mut self, array: ObjectIndex, index: u32) -> Result<Option<JavaValue>> {
        let found = self.file.record(self.model.offsets.get(array))?;
        let (java_type, count) = match found.record {
            ObjectRecord::ObjectArray { count, .. } => (JavaType::Object, count),
            ObjectRecord::PrimitiveArray {
                element,
                count,
                has_data: true,
                ..
            } => (element, count),
            _ => return Ok(None),
        };
        if index >= count {
            return Ok(None);
        }
        let size = java_type.bytes(self.model.ids);
        let at = found.contents + u64::from(index) * size as u64;
        let bytes = self.file.bytes(at, size)?;
        Ok(JavaValue::of(java_type, bytes, self.model))
    }

    pub(crate) fn is_text(&self, object: ObjectIndex) -> bool {
        let kind = self.model.kind(self.heap, object);
        let string = self.model.string;
        string.is_some_and(|string| kind == JavaSlotKind::Instances(string.class))
    }

    /// The first code units of a string, at most `most`; `None` for other objects and for strings without a value.
    pub(crate) fn text(&mut self, object: ObjectIndex, most: usize) -> Result<Option<JavaText>> {
        let Some(string) = self.model.string.filter(|_| self.is_text(object)) else {
            return Ok(None);
        };
        let (heap, model) = (self.heap, self.model);
        let place = |id| {
            let object = heap.objects.at(ObjectAddress(id))?;
            Some(model.offsets.get(object))
        };
        StringReader {
            file: &mut self.file,
            ids: model.ids,
            string,
            place: &place,
        }
        .text(model.offsets.get(object), most)
    }
}

/// Reads strings.
struct StringReader<'r, 'f> {
    file: &'r mut FileReader<'f>,
    ids: IdSize,
    string: StringLayout,
    /// Where the record of the object with an id is.
    place: &'r dyn Fn(u64) -> Option<u64>,
}

/// Thread names are cut after this many code units.
const LONGEST_NAME: usize = 200;

/// The text of the string whose record is at an offset; `None` if it is no string with a value.
pub(crate) fn text_of_record(
    file: &mut FileReader<'_>,
    ids: IdSize,
    string: StringLayout,
    at: u64,
    place: &dyn Fn(u64) -> Option<u64>,
) -> Result<Option<String>> {
    let mut reader = StringReader {
        file,
        ids,
        string,
        place,
    };
    let text = reader.text(at, LONGEST_NAME)?;
    Ok(text.map(|text| String::from_utf16_lossy(&text.units)))
}

impl StringReader<'_, '_> {
    /// The bytes of a field; none if the record has no such bytes.
    fn field(&mut self, at: u64, offset: u32, size: usize) -> Result<&[u8]> {
        let found = self.file.record(at)?;
        match found.record {
            ObjectRecord::Instance { length, .. } if offset as usize + size <= length as usize => {
                self.file.bytes(found.contents + u64::from(offset), size)
            }
            _ => Ok(&[]),
        }
    }

    fn text(&mut self, at: u64, most: usize) -> Result<Option<JavaText>> {
        let string = self.string;
        let ids = self.ids;
        let id = match self.field(at, string.value, ids.bytes())? {
            [] => return Ok(None),
            bytes => ids.read(bytes),
        };
        let is_wide = match string.coder {
            Some(coder) => self.field(at, coder, 1)? == [1],
            None => false,
        };
        let part = match string.part {
            Some(part) => self.part(at, part)?,
            None => None,
        };
        match (self.place)(id) {
            Some(value) => self.units(value, is_wide, part, most),
            None => Ok(None),
        }
    }

    fn part(&mut self, at: u64, part: StringPart) -> Result<Option<(usize, usize)>> {
        let number = |bytes: &[u8]| bytes.first_chunk().map(|bytes| i32::from_be_bytes(*bytes));
        let offset = number(self.field(at, part.offset, 4)?);
        let count = number(self.field(at, part.count, 4)?);
        let natural = |number: Option<i32>| usize::try_from(number?).ok();
        Ok(natural(offset).zip(natural(count)))
    }

    fn units(
        &mut self,
        value: u64,
        is_wide: bool,
        part: Option<(usize, usize)>,
        most: usize,
    ) -> Result<Option<JavaText>> {
        let found = self.file.record(value)?;
        let ObjectRecord::PrimitiveArray {
            element,
            count,
            has_data: true,
            ..
        } = found.record
        else {
            return Ok(None);
        };
        let is_char = element == JavaType::Char;
        if !is_char && element != JavaType::Byte {
            return Ok(None);
        }
        let width = if is_char || is_wide { 2 } else { 1 };
        let units = if is_char { count } else { count / width } as usize;
        let (start, length) = part.filter(|_| is_char).unwrap_or((0, units));
        if start.checked_add(length).is_none_or(|end| end > units) {
            return Ok(None);
        }
        let width = width as usize;
        let at = found.contents + (start * width) as u64;
        let bytes = self.file.bytes(at, length.min(most) * width)?;
        let pairs = bytes.as_chunks::<2>().0.iter();
        let units = match (is_char, is_wide) {
            (true, _) => pairs.map(|&pair| u16::from_be_bytes(pair)).collect(),
            // As the processor has them: those that run a JVM today are little endian.
            (false, true) => pairs.map(|&pair| u16::from_le_bytes(pair)).collect(),
            (false, false) => bytes.iter().map(|&byte| byte.into()).collect(),
        };
        Ok(Some(JavaText { units, length }))
    }
}
