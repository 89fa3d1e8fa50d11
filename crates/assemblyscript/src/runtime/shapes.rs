//! The shapes of classes as in the source: fields by name and type, the contents of containers, and the names
//! of references. [`classes`](super::classes) decides which words are references; this file names them.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use super::classes::{Classes, RuntimeClass};
use super::layout::{ContentReferences, EntryLayout, EntrySlot};
use super::type_flags::TypeFlags;
use base::units::ClassId;
use runtime_code::std_library::{
    ARRAY_BUFFER, ARRAY_BUFFER_VIEW_NAME, BUCKETS, BUFFER, ENTRIES, FUNCTION_ENVIRONMENT, STRING,
};
use wasm::debug_info::{Class, Number, TypeRef};

/// The largest number of fields of all shapes together. Classes with more are not from a real program, and
/// their fields get no names.
const FIELDS: usize = 1 << 22;

/// A field with its name in the source.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedField {
    /// The name.
    pub name: String,
    /// Its offset in the payload, in bytes.
    pub offset: u32,
    /// The name of its declared type; `?` if that is not known.
    pub type_name: String,
    /// The kind of its value.
    pub holds: Holds,
}

/// The kind of value of a field, an element, a key or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A number or a boolean.
    Number(Number),
    /// A number of this many bytes whose type is not known.
    Bytes(u32),
    /// A reference to a managed object.
    Reference,
    /// An address that the collector does not follow.
    Pointer,
}

impl Holds {
    /// Bytes in memory.
    pub fn size(self) -> u32 {
        match self {
            Self::Number(number) => number.size(),
            Self::Bytes(size) => size,
            Self::Reference | Self::Pointer => 4,
        }
    }

    fn slot(self) -> EntrySlot {
        EntrySlot {
            size: self.size(),
            is_reference: self == Self::Reference,
        }
    }
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// Nothing but fields.
    Plain,
    /// `ArrayBuffer`.
    Buffer,
    /// `String`.
    Text,
    /// A typed array or a view; `None` if the type of its elements is not known.
    View(Option<Number>),
    /// `Array<T>`.
    Array(Holds),
    /// `StaticArray<T>`.
    StaticArray(Holds),
    /// `Map<K,V>`.
    Map(EntryShape),
    /// `Set<K>`.
    Set(EntryShape),
    /// A tuple.
    Tuple,
    /// A closure.
    Function,
}

/// The entries of a map or a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryShape {
    /// Bytes from one entry to the next.
    pub stride: u32,
    /// Offset of `taggedNext`, whose bit 0 marks a deleted entry.
    pub tagged_next: u32,
    /// The key, at offset 0.
    pub key: Holds,
    /// The value and its offset; `None` for a set.
    pub value: Option<(Holds, u32)>,
}

impl EntryShape {
    fn new(key: Holds, value: Option<Holds>) -> Self {
        let layout = EntryLayout::new(key.slot(), value.map(Holds::slot));
        Self {
            stride: layout.stride,
            tagged_next: layout.tagged_next,
            key,
            value: value.map(|value| (value, key.size().next_multiple_of(value.size().max(1)))),
        }
    }
}

/// The name of a reference at a fixed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceFieldName {
    /// `fields[index]`.
    Field(u32),
    /// It has no name.
    Unnamed,
    /// A closure's environment.
    Environment,
    /// The buffer of an array or a view.
    Buffer,
    /// The buckets of a map or a set.
    Buckets,
    /// The entries of a map or a set.
    Entries,
}

impl ReferenceFieldName {
    /// Whether this is a container's own storage.
    pub fn is_own_storage(self) -> bool {
        !matches!(self, Self::Field(_) | Self::Unnamed)
    }
}

/// A reference at a fixed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceField {
    /// Bytes from the start of the payload.
    pub offset: u32,
    /// Its name.
    pub name: ReferenceFieldName,
}

/// The shape of the objects of one class.
#[derive(Debug)]
pub struct ClassShape {
    /// All fields, inherited ones included, by offset.
    pub fields: Vec<Arc<NamedField>>,
    /// The kind of its objects.
    pub kind: ShapeKind,
    /// The references at fixed offsets, in the order of their labels: named fields by name, unnamed ones by
    /// offset, then a container's own storage.
    pub references: Vec<ReferenceField>,
    /// The position in `references` where a container's own storage begins. Elements and entries come before it.
    pub own_storage: usize,
}

/// Describes the shapes of classes, one after the other.
pub struct Shapes<'c, 'a> {
    classes: &'c Classes<'a>,
    /// The fields that a class adds to those of its bases, by the address of its description.
    own_fields: std::cell::RefCell<HashMap<*const Class, Arc<[Arc<NamedField>]>>>,
    fields_left: Cell<usize>,
}

impl<'c, 'a> Shapes<'c, 'a> {
    /// Shapes of these classes.
    pub fn new(classes: &'c Classes<'a>) -> Self {
        Self {
            classes,
            own_fields: Default::default(),
            fields_left: Cell::new(FIELDS),
        }
    }

    /// The shape of a class whose name and layout are known.
    pub fn describe(&self, id: ClassId, class: &RuntimeClass) -> ClassShape {
        let kind = self.kind(id, class);
        let fields = self.fields(id).unwrap_or_default();
        let mut references: Vec<ReferenceField> = class
            .layout
            .offsets
            .iter()
            .map(|&offset| ReferenceField {
                offset,
                name: own_storage(kind, offset, &fields)
                    .unwrap_or_else(|| field_at(&fields, offset)),
            })
            .collect();
        references.sort_by(|left, right| {
            let key = |reference: &ReferenceField| match reference.name {
                ReferenceFieldName::Field(field) => (0, Some(fields[field as usize].name.as_str())),
                ReferenceFieldName::Unnamed => (1, None),
                ReferenceFieldName::Environment | ReferenceFieldName::Buffer => (2, None),
                ReferenceFieldName::Buckets => (3, None),
                ReferenceFieldName::Entries => (4, None),
            };
            key(left)
                .cmp(&key(right))
                .then(left.offset.cmp(&right.offset))
        });
        ClassShape {
            fields,
            kind,
            own_storage: references.partition_point(|reference| !reference.name.is_own_storage()),
            references,
        }
    }

    /// All fields by offset; `None` if there are too many to be real.
    fn fields(&self, id: ClassId) -> Option<Vec<Arc<NamedField>>> {
        let mut fields = Vec::new();
        for class in self.classes.lineage(id) {
            let own = self.own_fields(class);
            // A base without fields costs a step as well.
            let left = self.fields_left.get().checked_sub(own.len() + 1);
            self.fields_left.set(left.unwrap_or(0));
            left?;
            fields.extend(own.iter().cloned());
        }
        fields.sort_by_key(|field| field.offset);
        Some(fields)
    }

    fn own_fields(&self, class: &Class) -> Arc<[Arc<NamedField>]> {
        let mut known = self.own_fields.borrow_mut();
        let own = known.entry(std::ptr::from_ref(class)).or_insert_with(|| {
            let members = class.members.iter();
            members
                .map(|member| {
                    Arc::new(NamedField {
                        name: member.name.clone(),
                        offset: member.offset,
                        type_name: self.classes.type_name(member.type_ref).to_owned(),
                        holds: self.holds(member.type_ref),
                    })
                })
                .collect()
        });
        Arc::clone(own)
    }

    fn holds(&self, type_ref: TypeRef) -> Holds {
        match type_ref {
            TypeRef::Base {
                number: Some(number),
            } => Holds::Number(number),
            TypeRef::Base { number: None } => Holds::Bytes(4),
            TypeRef::Class(_) | TypeRef::Unresolved => {
                if self.classes.is_reference(type_ref) {
                    Holds::Reference
                } else {
                    Holds::Pointer
                }
            }
        }
    }

    /// The kind of the objects of a class: determined by inheritance, otherwise by the type flags.
    fn kind(&self, id: ClassId, class: &RuntimeClass) -> ShapeKind {
        match id {
            ARRAY_BUFFER => return ShapeKind::Buffer,
            STRING => return ShapeKind::Text,
            _ => {}
        }
        let flags = self.classes.flags(id);
        let lineage = self.classes.lineage(id);
        lineage
            .filter(|class| class.name.starts_with("~lib/"))
            .find_map(|class| self.standard_kind(class, flags))
            .or_else(|| flags.and_then(|flags| kind_from_flags(flags, &class.layout.contents)))
            .unwrap_or(match class.layout.contents {
                ContentReferences::Tuple => ShapeKind::Tuple,
                _ => ShapeKind::Plain,
            })
    }

    fn standard_kind(&self, class: &Class, flags: Option<TypeFlags>) -> Option<ShapeKind> {
        let argument = |nth: usize| Some(self.holds(*class.type_arguments.get(nth)?));
        let name = class.name.as_str();
        let starts = |start: &str| name.starts_with(start);
        let from_flags =
            || flags.and_then(|flags| kind_from_flags(flags, &ContentReferences::Fixed));
        if starts("~lib/array/Array<") {
            argument(0).map(ShapeKind::Array).or_else(from_flags)
        } else if starts("~lib/staticarray/StaticArray<") {
            argument(0).map(ShapeKind::StaticArray).or_else(from_flags)
        } else if starts("~lib/set/Set<") {
            let set = argument(0).map(|key| ShapeKind::Set(EntryShape::new(key, None)));
            set.or_else(from_flags)
        } else if starts("~lib/map/Map<") {
            let map = || {
                Some(ShapeKind::Map(EntryShape::new(
                    argument(0)?,
                    Some(argument(1)?),
                )))
            };
            map().or_else(from_flags)
        } else if starts("~lib/function/Function<") {
            Some(ShapeKind::Function)
        } else if name == "~lib/tuple/SmallTuple" {
            Some(ShapeKind::Tuple)
        } else if let Some(view) = name.strip_prefix("~lib/typedarray/") {
            element_of_view(view).map(|element| ShapeKind::View(Some(element)))
        } else {
            (name == ARRAY_BUFFER_VIEW_NAME).then_some(ShapeKind::View(None))
        }
    }
}

fn kind_from_flags(flags: TypeFlags, contents: &ContentReferences) -> Option<ShapeKind> {
    let held = |is_managed: bool, size: Option<u32>| {
        if is_managed {
            Holds::Reference
        } else {
            Holds::Bytes(size.unwrap_or(4))
        }
    };
    let value = || held(flags.has_managed_values(), flags.value_size());
    let key = || held(flags.has_managed_keys(), flags.key_size());
    if flags.is_array_buffer_view() {
        Some(ShapeKind::View(None))
    } else if flags.is_array() {
        Some(ShapeKind::Array(value()))
    } else if flags.is_static_array() {
        Some(ShapeKind::StaticArray(value()))
    } else if flags.is_set() {
        Some(ShapeKind::Set(EntryShape::new(value(), None)))
    } else if flags.is_map() {
        Some(ShapeKind::Map(EntryShape::new(key(), Some(value()))))
    } else {
        (*contents == ContentReferences::Tuple).then_some(ShapeKind::Tuple)
    }
}

fn element_of_view(name: &str) -> Option<Number> {
    Some(match name {
        "Int8Array" => Number::I8,
        "Uint8Array" | "Uint8ClampedArray" => Number::U8,
        "Int16Array" => Number::I16,
        "Uint16Array" => Number::U16,
        "Int32Array" => Number::I32,
        "Uint32Array" => Number::U32,
        "Int64Array" => Number::I64,
        "Uint64Array" => Number::U64,
        "Float32Array" => Number::F32,
        "Float64Array" => Number::F64,
        _ => return None,
    })
}

/// The name of a container's own storage at this offset, if there is any.
fn own_storage(
    kind: ShapeKind,
    offset: u32,
    fields: &[Arc<NamedField>],
) -> Option<ReferenceFieldName> {
    match (kind, offset) {
        (ShapeKind::Array(_) | ShapeKind::View(_), BUFFER) => Some(ReferenceFieldName::Buffer),
        (ShapeKind::Map(_) | ShapeKind::Set(_), BUCKETS) => Some(ReferenceFieldName::Buckets),
        (ShapeKind::Map(_) | ShapeKind::Set(_), ENTRIES) => Some(ReferenceFieldName::Entries),
        (ShapeKind::Function, _) => {
            let env = fields.iter().find(|field| field.name == "_env");
            let env_offset = env.map_or(FUNCTION_ENVIRONMENT, |env| env.offset);
            (offset == env_offset).then_some(ReferenceFieldName::Environment)
        }
        _ => None,
    }
}

fn field_at(fields: &[Arc<NamedField>], offset: u32) -> ReferenceFieldName {
    let first = fields.partition_point(|field| field.offset < offset);
    match fields.get(first) {
        Some(field) if field.offset == offset && !field.name.is_empty() => {
            ReferenceFieldName::Field(first as u32)
        }
        _ => ReferenceFieldName::Unnamed,
    }
}
