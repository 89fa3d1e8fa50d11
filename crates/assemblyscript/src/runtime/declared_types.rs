//! Which classes of objects the references of a class can lead to, by the declared types.

use super::classes::{Classes, RuntimeClass};
use base::units::ClassId;
use runtime_code::std_library::{ARRAY_BUFFER, BUCKETS, BUFFER, ENTRIES, FIXED_NAMES, OBJECT_NAME};
use wasm::debug_info::{Class, TypeRef};

/// The starts of the names of classes that stand for each other: one function type can be assigned to another,
/// and programs cast between typed arrays, which have the same fields.
const EXCHANGED: [&str; 2] = ["~lib/function/Function<", "~lib/typedarray/"];

/// More bases than people write.
const MOST_BASES: usize = 64;

/// The declared type of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclaredType<'a> {
    /// Nothing is known: an object of any class.
    Any,
    /// An object of the class with this name, or of one that extends it.
    Class(&'a str),
}

/// The declared types of all references in the objects of a class.
#[derive(Clone, Debug)]
pub struct DeclaredTypes<'a> {
    /// In the order of the offsets of the layout.
    pub fields: Vec<DeclaredType<'a>>,
    /// Of the elements, or of the keys.
    pub first: DeclaredType<'a>,
    /// Of the values of a map.
    pub second: DeclaredType<'a>,
}

impl Classes<'_> {
    /// The declared types of the references in the objects with this id.
    pub(crate) fn declared_types(&self, id: ClassId, class: &RuntimeClass) -> DeclaredTypes<'_> {
        let buffer = DeclaredType::Class(FIXED_NAMES[ARRAY_BUFFER.0 as usize]);
        let flags = self.flags(id);
        let holds_buffer = |offset| match flags {
            Some(flags) if flags.is_array() || flags.is_array_buffer_view() => offset == BUFFER,
            Some(flags) if flags.is_map() || flags.is_set() => {
                offset == BUCKETS || offset == ENTRIES
            }
            _ => false,
        };
        let mut types = DeclaredTypes {
            fields: vec![DeclaredType::Any; class.layout.offsets.len()],
            first: DeclaredType::Any,
            second: DeclaredType::Any,
        };
        for (offset, field) in class.layout.offsets.iter().zip(&mut types.fields) {
            if holds_buffer(*offset) {
                *field = buffer;
            }
        }
        for base in self.lineage(id).take(MOST_BASES) {
            for member in &base.members {
                let position = class.layout.offsets.binary_search(&member.offset);
                if let Some(field) = position
                    .ok()
                    .and_then(|position| types.fields.get_mut(position))
                {
                    *field = match *field {
                        DeclaredType::Any => self.declared(member.type_ref),
                        known => known,
                    };
                }
            }
            if base.name.starts_with("~lib/") {
                let argument = |nth: usize| {
                    let type_ref = base.type_arguments.get(nth).copied();
                    type_ref.map_or(DeclaredType::Any, |type_ref| self.declared(type_ref))
                };
                let is = |start| base.name.starts_with(start);
                if is("~lib/array/Array<")
                    || is("~lib/staticarray/StaticArray<")
                    || is("~lib/set/Set<")
                {
                    types.first = argument(0);
                } else if is("~lib/map/Map<") {
                    (types.first, types.second) = (argument(0), argument(1));
                }
            }
        }
        types
    }

    /// The class of the objects to which a field, an element or a variable of this type refers.
    pub(super) fn declared(&self, type_ref: TypeRef) -> DeclaredType<'_> {
        let TypeRef::Class(_) = type_ref else {
            return DeclaredType::Any;
        };
        let Some(class) = self.described(type_ref) else {
            return DeclaredType::Any;
        };
        // A class without an id has no objects of its own, and one without members may be an interface.
        let is_concrete = class.id.is_some_and(|id| id.0 != 0) && !class.members.is_empty();
        let is_fixed = FIXED_NAMES[1..].contains(&class.name.as_str());
        if is_fixed || (is_concrete && class.name != OBJECT_NAME) {
            DeclaredType::Class(plain_name(class))
        } else {
            DeclaredType::Any
        }
    }

    /// The names of a class and of its bases: a reference that is declared as another class cannot lead to its
    /// objects. `None` if not all of them are known.
    pub(crate) fn names_of_bases(&self, id: ClassId) -> Option<Vec<&str>> {
        // These extend nothing but `Object`.
        if let Some(name) = FIXED_NAMES.get(id.0 as usize) {
            return Some(vec![name]);
        }
        if !self.describes_inheritance() {
            return None;
        }
        let mut names = Vec::new();
        let mut last = None;
        for class in self.lineage(id).take(MOST_BASES) {
            names.push(plain_name(class));
            last = Some(class);
        }
        let is_complete = match last?.base {
            Some(base) => self
                .described(base)
                .is_some_and(|base| base.name == OBJECT_NAME),
            None => true,
        };
        (is_complete && names.len() < MOST_BASES).then_some(names)
    }
}

fn plain_name(class: &Class) -> &str {
    let family = EXCHANGED
        .into_iter()
        .find(|start| class.name.starts_with(start));
    family.unwrap_or_else(|| class.name.strip_suffix("|null").unwrap_or(&class.name))
}
