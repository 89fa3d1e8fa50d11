//! What is kept of a type after the analysis: the names, places and kinds of its fields.

use super::container_kind::part_at;
use super::names::Namer;
use super::plan::{Plans, SlotKind};
use super::table::{MemberKind, NumberKind, TypeId, TypeKind, TypeMember, TypeTable};
use heap::TypeEvidence;

/// The most fields of a class that are kept, and the deepest nesting of fields.
const MOST_FIELDS: usize = 512;
const DEEPEST: u32 = 8;
/// The most types on the path to a word of a variable, with those of the library that have no part in its name.
const MOST_STEPS: u32 = 32;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldHolds {
    Number(NumberKind),
    /// The address of something.
    Pointer,
    /// Characters, up to the first that is 0.
    Text,
    /// Anything else.
    Bytes,
}

/// A field of a class.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// The path of names from the start of the object; empty for elements that have no fields.
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// Where it lies in the object, or in the element of an array, with its size.
    pub(crate) offset: u32,
    pub(crate) size: u32,
    pub(crate) holds: FieldHolds,
    /// Where the value lies, and its size: a container's is the pointer to its contents.
    pub(crate) value: (u32, u32),
}

impl Field {
    /// Whether a word of the object belongs to it.
    fn contains(&self, offset: u32) -> bool {
        offset >= self.offset && offset - self.offset < self.size
    }
}

/// The objects of one class.
#[derive(Clone, Debug)]
pub(crate) struct ClassLayout {
    pub(crate) name: String,
    pub(crate) evidence: TypeEvidence,
    pub(crate) is_array: bool,
    /// The bytes of an element of an array, or of the object.
    pub(crate) size: u32,
    pub(crate) fields: Vec<Field>,
    /// Whether it is a text: its bytes are characters of UTF-8 or of one byte.
    pub(crate) is_text: bool,
}

impl ClassLayout {
    /// The number of the field at this offset of an object or of an element.
    pub(crate) fn field_at(&self, offset: u32) -> Option<usize> {
        self.fields.iter().position(|field| field.contains(offset))
    }

    /// By the number of a field, whether it holds no reference; empty if the type is a guess.
    pub(crate) fn plain_fields(&self) -> Vec<bool> {
        if self.evidence >= TypeEvidence::Fit {
            return Vec::new();
        }
        let fields = self.fields.iter();
        let is_plain =
            |field: &Field| matches!(field.holds, FieldHolds::Number(_) | FieldHolds::Text);
        fields.map(is_plain).collect()
    }

    /// The label of a field.
    pub(crate) fn label(&self, field: usize, index: Option<u32>) -> String {
        let name = self
            .fields
            .get(field)
            .map_or("", |field| field.name.as_str());
        let element = match (self.is_array, index) {
            (false, _) => return name.to_owned(),
            (true, Some(index)) => format!("[{index}]"),
            (true, None) => "[*]".to_owned(),
        };
        if name.is_empty() {
            element
        } else {
            format!("{element}.{name}")
        }
    }
}

/// Makes layouts.
pub(super) struct Layouts<'t, 'a> {
    pub(super) types: &'t TypeTable<'a>,
    plans: Plans,
}

impl<'t, 'a> Layouts<'t, 'a> {
    pub(super) fn new(types: &'t TypeTable<'a>) -> Self {
        Self {
            types,
            plans: Plans::default(),
        }
    }

    /// The fields of a type.
    pub(super) fn fields(&mut self, id: TypeId, namer: &mut Namer<'_, '_>) -> Vec<Field> {
        let mut fields = Vec::new();
        let id = self.types.resolved(id);
        if matches!(self.types.get(id).kind, TypeKind::Struct | TypeKind::Union) {
            self.add_members(id, ("", 0), namer, &mut fields, DEEPEST);
        } else {
            fields.extend(self.field(id, (String::new(), 0), namer));
        }
        fields
    }

    fn add_members(
        &mut self,
        id: TypeId,
        (path, start): (&str, u32),
        namer: &mut Namer<'_, '_>,
        fields: &mut Vec<Field>,
        depth: u32,
    ) {
        for member in self.types.members(id) {
            let is_field = !matches!(member.kind, MemberKind::Discriminant | MemberKind::Bits);
            let Some(offset) = start.checked_add(member.offset).filter(|_| is_field) else {
                continue;
            };
            if fields.len() >= MOST_FIELDS {
                return;
            }
            let name = joined(path, member);
            let inner = self.types.resolved(member.type_id);
            if depth > 0 && self.is_open(member, inner) {
                self.add_members(inner, (&name, offset), namer, fields, depth - 1);
            } else {
                fields.extend(self.field(member.type_id, (name, offset), namer));
            }
        }
    }

    /// Whether the fields of a member are shown in its place.
    fn is_open(&self, member: &TypeMember<'_>, inner: TypeId) -> bool {
        let found = self.types.get(inner);
        let has_members = matches!(found.kind, TypeKind::Struct | TypeKind::Union);
        let is_own = member.kind != MemberKind::Field || member.name.is_empty();
        has_members
            && (is_own || !self.types.is_of_library(inner) && found.kind == TypeKind::Struct)
    }

    fn field(
        &mut self,
        id: TypeId,
        (name, offset): (String, u32),
        namer: &mut Namer<'_, '_>,
    ) -> Option<Field> {
        let size = self.types.size(id);
        let (holds, at, value_size) = self.value(id);
        let value = (offset.checked_add(at)?, value_size);
        (size > 0).then(|| Field {
            name,
            type_name: namer.name(id).to_string(),
            offset,
            size,
            holds,
            value,
        })
    }

    /// What a value holds, where, and in how many bytes: a wrapper holds what is in it.
    fn value(&mut self, id: TypeId) -> (FieldHolds, u32, u32) {
        let types = self.types;
        let (mut id, mut at) = (types.resolved(id), 0);
        let whole = types.size(id);
        for _ in 0..DEEPEST {
            let found = types.get(id);
            match found.kind {
                TypeKind::Number(kind) => return (FieldHolds::Number(kind), at, found.size),
                TypeKind::Pointer => return (FieldHolds::Pointer, at, 4),
                TypeKind::Array => {
                    let element = found.target.map(|target| types.get(types.resolved(target)));
                    let is_text = element.is_some_and(|element| {
                        element.kind == TypeKind::Number(NumberKind::Character)
                    });
                    if is_text {
                        return (FieldHolds::Text, at, types.size(id));
                    }
                    break;
                }
                _ => {}
            }
            let mut members = types.members(id).iter();
            let only = members.find(|member| {
                let is_part = matches!(member.kind, MemberKind::Field | MemberKind::Base);
                is_part && types.size(member.type_id) == whole
            });
            let Some(only) = only.filter(|_| found.kind == TypeKind::Struct) else {
                break;
            };
            (id, at) = (types.resolved(only.type_id), at.saturating_add(only.offset));
        }
        let plan = self.plans.get(types, id);
        let pointer = plan
            .first()
            .and_then(|slot| self.pointer(slot.offset, slot.holds));
        match pointer {
            Some(offset) => (FieldHolds::Pointer, at.saturating_add(offset), 4),
            None => (FieldHolds::Bytes, at, types.size(id)),
        }
    }

    /// Where the pointer of a slot lies.
    fn pointer(&mut self, offset: u32, holds: SlotKind) -> Option<u32> {
        let types = self.types;
        match holds {
            SlotKind::Pointer(_)
            | SlotKind::One(_)
            | SlotKind::Slice(_)
            | SlotKind::Dynamic { .. } => Some(offset),
            SlotKind::Container(kind, id) => {
                let part = kind
                    .contents()
                    .iter()
                    .find_map(|path| part_at(types, id, path));
                offset.checked_add(part?.offset)
            }
            SlotKind::Variants(owner) => {
                let members = types.members(owner).iter();
                let mut variants =
                    members.filter(|member| matches!(member.kind, MemberKind::Variant(_)));
                variants.find_map(|member| {
                    let plan = self.plans.get(types, types.resolved(member.type_id));
                    let first = plan.first()?;
                    let (SlotKind::Pointer(_) | SlotKind::One(_) | SlotKind::Slice(_)) =
                        first.holds
                    else {
                        return None;
                    };
                    offset.checked_add(member.offset)?.checked_add(first.offset)
                })
            }
            SlotKind::Array(..) | SlotKind::Perhaps(_) => None,
        }
    }

    /// The path to an offset of a type, for the names of roots: `.table`, `[*].next`; empty if it is the whole.
    pub(super) fn path(&self, id: TypeId, mut offset: u32) -> String {
        let types = self.types;
        let (mut id, mut path) = (types.resolved(id), String::new());
        for _ in 0..MOST_STEPS {
            let found = types.get(id);
            let size = types.size(id);
            match (found.kind, found.target) {
                (TypeKind::Array, Some(element)) => {
                    path.push_str("[*]");
                    id = types.resolved(element);
                    let size = types.size(id);
                    if size == 0 {
                        break;
                    }
                    offset %= size;
                }
                (TypeKind::Struct, _) if offset < size => {
                    let Some(member) = self.member_at(id, offset) else {
                        break;
                    };
                    let is_named = member.kind == MemberKind::Field && !member.name.is_empty();
                    if is_named && !types.is_of_library(id) {
                        path.push('.');
                        path.push_str(member.name);
                    }
                    id = types.resolved(member.type_id);
                    offset -= member.offset;
                }
                _ => break,
            }
        }
        path
    }

    /// The member at an offset; of variants, the only one that has a member there.
    fn member_at(&self, id: TypeId, offset: u32) -> Option<TypeMember<'a>> {
        let types = self.types;
        let contains = |member: &TypeMember<'_>, offset: u32| {
            let is_part = !matches!(member.kind, MemberKind::Discriminant | MemberKind::Bits);
            let size = types.size(member.type_id);
            is_part && offset >= member.offset && offset - member.offset < size
        };
        let members = types.members(id).iter().copied();
        let inside: Vec<TypeMember<'a>> =
            members.filter(|member| contains(member, offset)).collect();
        let mut fields = inside.iter();
        if let Some(field) = fields.find(|member| !matches!(member.kind, MemberKind::Variant(_))) {
            return Some(*field);
        }
        // Of a value that may be there, the other variant has no members.
        let mut filled = inside.iter().filter(|variant| {
            let mut inside = types.members(types.resolved(variant.type_id)).iter();
            inside.any(|member| contains(member, offset - variant.offset))
        });
        let only = filled.next()?;
        filled.next().is_none().then_some(*only)
    }
}

/// The path of a member. A base class, a variant and a member without a name add nothing.
fn joined(path: &str, member: &TypeMember<'_>) -> String {
    if member.kind != MemberKind::Field || member.name.is_empty() {
        return path.to_owned();
    }
    if path.is_empty() {
        return member.name.to_owned();
    }
    format!("{path}.{}", member.name)
}
