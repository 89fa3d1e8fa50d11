//! Where the pointers of a type lie: its members are followed down to them once, and not for each value.

use std::rc::Rc;

use super::container_kind::LibraryContainer;
use super::table::{MemberKind, TypeId, TypeKind, TypeMember, TypeTable};

/// The most places of one type. Types of compilers have less.
const MOST_SLOTS: usize = 1 << 12;
/// The most places of all types, for each type. Those of compilers have a tenth.
const PLACES_PER_TYPE: usize = 1 << 6;
/// The deepest nesting of types in each other.
pub(super) const DEEPEST: u32 = 32;

/// A place in a value, by its offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) offset: u32,
    pub(super) holds: SlotKind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum SlotKind {
    /// A pointer to values of this type.
    Pointer(TypeId),
    /// A pointer to one value of this type: in Rust and Zig, those to several are others.
    One(TypeId),
    /// A pointer with a table of functions beside it, at this offset, and to what it refers as far as its own type says.
    Dynamic { table: u32, target: Option<TypeId> },
    /// A pointer to values of this type, with their number in the next word.
    Slice(TypeId),
    /// A container whose members have a meaning.
    Container(LibraryContainer, TypeId),
    /// An array with this number of elements.
    Array(TypeId, u32),
    /// A type with variants.
    Variants(TypeId),
    /// A member of a union that may be there, and is the only one that refers to something.
    Perhaps(TypeId),
}

/// The plans of types.
#[derive(Default)]
pub(super) struct Plans {
    /// By the number of the type. Those that were not asked for yet are missing.
    known: Vec<Option<Rc<[Slot]>>>,
    /// How many places types may still have.
    places_left: usize,
}

impl Plans {
    /// The places of a type. Of a type that contains itself, or is nested too deeply, there are none.
    pub(super) fn get(&mut self, types: &TypeTable<'_>, id: TypeId) -> Rc<[Slot]> {
        self.within(types, types.resolved(id), DEEPEST)
    }

    fn within(&mut self, types: &TypeTable<'_>, id: TypeId, depth: u32) -> Rc<[Slot]> {
        let at = id.0 as usize;
        if let Some(Some(plan)) = self.known.get(at) {
            return Rc::clone(plan);
        }
        if depth == 0 || at >= types.all.len() {
            return Rc::from([]);
        }
        if self.known.is_empty() {
            self.known.resize(types.all.len(), None);
            self.places_left = types.all.len().saturating_mul(PLACES_PER_TYPE) + MOST_SLOTS;
        }
        self.known[at] = Some(Rc::from([]));
        let plan: Rc<[Slot]> = self.made(types, id, depth - 1).into();
        self.known[at] = Some(Rc::clone(&plan));
        plan
    }

    fn made(&mut self, types: &TypeTable<'_>, id: TypeId, depth: u32) -> Vec<Slot> {
        let found = types.get(id);
        let one = |holds| vec![Slot { offset: 0, holds }];
        match (found.kind, found.target) {
            (TypeKind::Pointer, Some(target)) => {
                let target = types.resolved(target);
                // Rust has a type for what C calls void.
                if types.get(target).name == "c_void" {
                    return Vec::new();
                }
                // Those of C have no names.
                let is_one = !found.name.is_empty() && !found.name.contains("[*");
                one(if is_one {
                    SlotKind::One(target)
                } else {
                    SlotKind::Pointer(target)
                })
            }
            (TypeKind::Array, Some(element)) => {
                let element = types.resolved(element);
                let refers = !self.within(types, element, depth).is_empty();
                let count = found.count.filter(|_| refers);
                count.map_or_else(Vec::new, |count| one(SlotKind::Array(element, count)))
            }
            (TypeKind::Union, _) => self.of_union(types, id, depth),
            (TypeKind::Struct, _) => {
                if let Some(kind) = LibraryContainer::of_type(types, id) {
                    if kind.is_perhaps() && self.of_members(types, id, depth).is_empty() {
                        return Vec::new();
                    }
                    let mut slots = one(SlotKind::Container(kind, id));
                    if kind.has_typed_members() {
                        slots.extend(self.of_members(types, id, depth));
                    }
                    return slots;
                }
                if let Some(slot) = dynamic(types, id).or_else(|| slice(types, id)) {
                    return vec![slot];
                }
                self.of_members(types, id, depth)
            }
            _ => Vec::new(),
        }
    }

    fn of_members(&mut self, types: &TypeTable<'_>, id: TypeId, depth: u32) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut has_variants = false;
        for member in types.members(id) {
            match member.kind {
                MemberKind::Field | MemberKind::Base => {
                    let inner = self.within(types, types.resolved(member.type_id), depth);
                    let moved = inner.iter().filter_map(|slot| {
                        let offset = slot.offset.checked_add(member.offset)?;
                        Some(Slot { offset, ..*slot })
                    });
                    let room = MOST_SLOTS - slots.len().min(MOST_SLOTS);
                    let before = slots.len();
                    slots.extend(moved.take(room.min(self.places_left)));
                    self.places_left -= slots.len() - before;
                }
                MemberKind::Variant(_) => {
                    let inner = self.within(types, types.resolved(member.type_id), depth);
                    has_variants |= !inner.is_empty();
                }
                MemberKind::Discriminant | MemberKind::Bits => {}
            }
        }
        if has_variants {
            slots.push(Slot {
                offset: 0,
                holds: SlotKind::Variants(id),
            });
        }
        slots
    }

    /// A union refers to something only if one of its members alone can.
    fn of_union(&mut self, types: &TypeTable<'_>, id: TypeId, depth: u32) -> Vec<Slot> {
        // In libc++, a union of one member is a value that the node constructs later.
        if types.members(id).len() == 1 {
            return self.of_members(types, id, depth);
        }
        let members = types.members(id).iter();
        let mut referring: Vec<&TypeMember<'_>> = members
            .filter(|member| {
                !self
                    .within(types, types.resolved(member.type_id), depth)
                    .is_empty()
            })
            .collect();
        match (referring.pop(), referring.is_empty()) {
            (Some(member), true) => vec![Slot {
                offset: member.offset,
                holds: SlotKind::Perhaps(types.resolved(member.type_id)),
            }],
            _ => Vec::new(),
        }
    }
}

/// The two words of a `&dyn` or `Box<dyn>` of Rust.
fn dynamic(types: &TypeTable<'_>, id: TypeId) -> Option<Slot> {
    let pointer = types.member(id, "pointer")?;
    let table = types.member(id, "vtable")?;
    let is_beside =
        types.members(id).len() == 2 && pointer.offset.checked_add(4) == Some(table.offset);
    is_beside.then_some(Slot {
        offset: pointer.offset,
        holds: SlotKind::Dynamic {
            table: table.offset,
            target: types.pointee(pointer.type_id),
        },
    })
}

/// The two words of a `&[T]`, `Box<[T]>` or `Rc<[T]>` of Rust.
fn slice(types: &TypeTable<'_>, id: TypeId) -> Option<Slot> {
    let pointer = types.member(id, "data_ptr")?;
    let length = types.member(id, "length")?;
    let is_beside =
        types.members(id).len() == 2 && pointer.offset.checked_add(4) == Some(length.offset);
    let target = types.pointee(pointer.type_id)?;
    is_beside.then_some(Slot {
        offset: pointer.offset,
        holds: SlotKind::Slice(target),
    })
}
