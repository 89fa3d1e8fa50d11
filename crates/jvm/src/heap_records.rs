//! The records inside of a segment: roots, classes and objects.

use std::ops::Range;

use crate::HprofError;
use crate::bytes::{IdSize, JavaType, RecordCursor};
use crate::outline::HEAP_DUMP_END;

/// What a JVM starts from, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RootReason {
    StickyClass,
    JavaFrame { thread: u32, frame: u32 },
    JniLocal { thread: u32, frame: u32 },
    NativeStack { thread: u32 },
    ThreadBlock { thread: u32 },
    Thread { serial: u32, trace: u32 },
    JniGlobal,
    Monitor,
    InternedString,
    Finalizing,
    Debugger,
    ReferenceCleanup,
    VmInternal,
    JniMonitor,
    Unknown,
}

/// A root: its object, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RootRecord {
    pub(crate) id: u64,
    pub(crate) reason: RootReason,
}

/// An object: its id, and what the record says of its size.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObjectRecord {
    /// A class, which is an object too.
    Class {
        id: u64,
    },
    Instance {
        id: u64,
        class: u64,
        length: u32,
    },
    ObjectArray {
        id: u64,
        class: u64,
        count: u32,
    },
    PrimitiveArray {
        id: u64,
        element: JavaType,
        count: u32,
        has_data: bool,
    },
}

impl ObjectRecord {
    #[inline]
    pub(crate) fn id(self) -> u64 {
        match self {
            Self::Class { id }
            | Self::Instance { id, .. }
            | Self::ObjectArray { id, .. }
            | Self::PrimitiveArray { id, .. } => id,
        }
    }

    /// The bytes of its contents in the file, after what this value says. Those of a class are part of its record.
    #[inline]
    pub(crate) fn length(self, ids: IdSize) -> u64 {
        match self {
            Self::Class { .. } => 0,
            Self::Instance { length, .. } => length.into(),
            Self::ObjectArray { count, .. } => u64::from(count) * ids.bytes() as u64,
            Self::PrimitiveArray {
                has_data: false, ..
            } => 0,
            Self::PrimitiveArray { element, count, .. } => {
                u64::from(count) * element.value_bytes() as u64
            }
        }
    }
}

const CLASS: u8 = 0x20;
const INSTANCE: u8 = 0x21;
const OBJECT_ARRAY: u8 = 0x22;
const PRIMITIVE_ARRAY: u8 = 0x23;
const ARRAY_WITHOUT_DATA: u8 = 0xc3;
const HEAP_INFO: u8 = 0xfe;
const UNREACHABLE: u8 = 0x90;

/// The most bytes of a record of an object before its contents.
pub(crate) const LONGEST_HEADER: usize = 1 + 8 + 4 + 8 + 4;

/// The record of an object, whose tag is at the cursor; `None` if it is no such record or has no end. The cursor is then
/// at its contents. A class has none: the cursor is at its superclass.
#[inline]
pub(crate) fn object_at(cursor: &mut RecordCursor<'_>) -> Option<ObjectRecord> {
    let tag = cursor.u8()?;
    let id = cursor.id()?;
    cursor.u32()?;
    Some(match tag {
        CLASS => ObjectRecord::Class { id },
        INSTANCE => ObjectRecord::Instance {
            id,
            class: cursor.id()?,
            length: cursor.u32()?,
        },
        OBJECT_ARRAY => ObjectRecord::ObjectArray {
            id,
            count: cursor.u32()?,
            class: cursor.id()?,
        },
        PRIMITIVE_ARRAY | ARRAY_WITHOUT_DATA => ObjectRecord::PrimitiveArray {
            id,
            count: cursor.u32()?,
            element: JavaType::of(cursor.u8()?).filter(|&found| found != JavaType::Object)?,
            has_data: tag == PRIMITIVE_ARRAY,
        },
        _ => return None,
    })
}

/// A value of a class: its name, its type, and where it is in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaticValue {
    pub(crate) name: u64,
    pub(crate) java_type: JavaType,
    pub(crate) at: u64,
}

/// The record of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassRecord {
    pub(crate) id: u64,
    pub(crate) superclass: u64,
    pub(crate) loader: u64,
    pub(crate) signers: u64,
    pub(crate) domain: u64,
    /// Of the constant pool: only some writers list it.
    pub(crate) constants: Vec<u64>,
    pub(crate) statics: Vec<StaticValue>,
    /// Its own fields, without those of superclasses: names and types.
    pub(crate) fields: Vec<(u64, JavaType)>,
}

/// The record of a class, whose tag is at the cursor; `None` if it has no end or a type that does not exist.
pub(crate) fn class_at(cursor: &mut RecordCursor<'_>) -> Option<ClassRecord> {
    let ObjectRecord::Class { id } = object_at(cursor)? else {
        return None;
    };
    let mut class = ClassRecord {
        id,
        superclass: cursor.id()?,
        loader: cursor.id()?,
        signers: cursor.id()?,
        domain: cursor.id()?,
        ..ClassRecord::default()
    };
    cursor.id()?;
    cursor.id()?;
    cursor.u32()?;
    for _ in 0..cursor.u16()? {
        cursor.u16()?;
        let java_type = JavaType::of(cursor.u8()?)?;
        let value = cursor.take(java_type.bytes(cursor.ids))?;
        if java_type == JavaType::Object {
            class.constants.push(cursor.ids.read(value));
        }
    }
    for _ in 0..cursor.u16()? {
        let name = cursor.id()?;
        let java_type = JavaType::of(cursor.u8()?)?;
        let at = cursor.at as u64;
        cursor.take(java_type.bytes(cursor.ids))?;
        class.statics.push(StaticValue {
            name,
            java_type,
            at,
        });
    }
    for _ in 0..cursor.u16()? {
        let name = cursor.id()?;
        class.fields.push((name, JavaType::of(cursor.u8()?)?));
    }
    Some(class)
}

/// Skips what follows the header of the record of a class.
fn skip_class(cursor: &mut RecordCursor<'_>) -> Option<()> {
    let ids = cursor.ids.bytes();
    cursor.take(6 * ids + 4)?;
    for _ in 0..cursor.u16()? {
        cursor.u16()?;
        let java_type = JavaType::of(cursor.u8()?)?;
        cursor.take(java_type.bytes(cursor.ids))?;
    }
    for _ in 0..cursor.u16()? {
        cursor.id()?;
        let java_type = JavaType::of(cursor.u8()?)?;
        cursor.take(java_type.bytes(cursor.ids))?;
    }
    let fields = usize::from(cursor.u16()?);
    cursor.take(fields * (ids + 1))?;
    Some(())
}

/// What is found in a segment.
pub(crate) trait RecordSink {
    fn root(&mut self, root: RootRecord) -> base::Result<()>;
    /// An object, and the offset of its record.
    fn object(&mut self, object: ObjectRecord, at: u64) -> base::Result<()>;
}

/// How the walk over a segment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentEnd {
    /// With its last record.
    Complete,
    /// In a record that has no end: its offset.
    Cut(u64),
}

/// Walks over the records of a segment.
///
/// # Errors
/// [`HprofError::Unreadable`], those of `sink`.
pub(crate) fn walk(
    file: &[u8],
    range: Range<u64>,
    ids: IdSize,
    sink: &mut impl RecordSink,
) -> base::Result<SegmentEnd> {
    let (start, end) = (range.start as usize, range.end as usize);
    let bytes = file.get(..end).unwrap_or(file);
    let mut cursor = RecordCursor::new(bytes, start, ids);
    while let Some(&tag) = bytes.get(cursor.at) {
        let at = cursor.at as u64;
        let read = match tag {
            CLASS | INSTANCE | OBJECT_ARRAY | PRIMITIVE_ARRAY | ARRAY_WITHOUT_DATA => {
                match skip_object(&mut cursor) {
                    Some(object) => {
                        sink.object(object, at)?;
                        Some(())
                    }
                    None => None,
                }
            }
            HEAP_DUMP_END => return Ok(SegmentEnd::Complete),
            _ => match other_at(&mut cursor, tag) {
                Some(Other::Root(root)) => {
                    sink.root(root)?;
                    Some(())
                }
                Some(Other::Nothing) => Some(()),
                None => None,
            },
        };
        if read.is_none() {
            return match is_known(tag) {
                true if is_bad_type(bytes, at as usize, ids) => Err(HprofError::at(
                    at,
                    "an array has a type of elements that does not exist",
                )
                .into()),
                true => Ok(SegmentEnd::Cut(at)),
                false => {
                    let message = format!("a record of the heap has the unknown type {tag:#x}");
                    Err(HprofError::at(at, message).into())
                }
            };
        }
    }
    Ok(SegmentEnd::Complete)
}

fn skip_object(cursor: &mut RecordCursor<'_>) -> Option<ObjectRecord> {
    let object = object_at(cursor)?;
    match object {
        ObjectRecord::Class { .. } => skip_class(cursor)?,
        _ => {
            cursor.take(usize::try_from(object.length(cursor.ids)).ok()?)?;
        }
    }
    Some(object)
}

/// Whether a record is an array whose type of elements is not one.
fn is_bad_type(bytes: &[u8], at: usize, ids: IdSize) -> bool {
    let is_array = matches!(bytes.get(at), Some(&(PRIMITIVE_ARRAY | ARRAY_WITHOUT_DATA)));
    let element = bytes.get(at + 1 + ids.bytes() + 8).copied();
    let is_type = |code| JavaType::of(code).is_some_and(|found| found != JavaType::Object);
    is_array && element.is_some_and(|code| !is_type(code))
}

fn is_known(tag: u8) -> bool {
    matches!(
        tag,
        0x01..=0x08
            | CLASS
            | INSTANCE
            | OBJECT_ARRAY
            | PRIMITIVE_ARRAY
            | ARRAY_WITHOUT_DATA
            | HEAP_INFO
            | 0x89..=0x8e
            | UNREACHABLE
            | 0xff
    )
}

/// A record that is no object.
enum Other {
    Root(RootRecord),
    /// It names no root.
    Nothing,
}

/// The record at the cursor, which is no object; `None` if it has no end, or a type that is not known.
fn other_at(cursor: &mut RecordCursor<'_>, tag: u8) -> Option<Other> {
    cursor.u8()?;
    if tag == HEAP_INFO {
        cursor.u32()?;
        cursor.id()?;
        return Some(Other::Nothing);
    }
    if !is_known(tag) {
        return None;
    }
    let id = cursor.id()?;
    let reason = match tag {
        0x01 => {
            cursor.id()?;
            RootReason::JniGlobal
        }
        0x02 => RootReason::JniLocal {
            thread: cursor.u32()?,
            frame: cursor.u32()?,
        },
        0x03 => RootReason::JavaFrame {
            thread: cursor.u32()?,
            frame: cursor.u32()?,
        },
        0x04 => RootReason::NativeStack {
            thread: cursor.u32()?,
        },
        0x05 => RootReason::StickyClass,
        0x06 => RootReason::ThreadBlock {
            thread: cursor.u32()?,
        },
        0x07 => RootReason::Monitor,
        0x08 => RootReason::Thread {
            serial: cursor.u32()?,
            trace: cursor.u32()?,
        },
        0x89 => RootReason::InternedString,
        0x8a => RootReason::Finalizing,
        0x8b => RootReason::Debugger,
        0x8c => RootReason::ReferenceCleanup,
        0x8d => RootReason::VmInternal,
        0x8e => {
            cursor.take(8)?;
            RootReason::JniMonitor
        }
        // What Android's runtime names here keeps nothing alive.
        UNREACHABLE => return Some(Other::Nothing),
        _ => RootReason::Unknown,
    };
    Some(Other::Root(RootRecord { id, reason }))
}
