//! Types as the debug information describes them.

use std::collections::HashMap;
use std::ops::Range;

use gimli::{Encoding, EndianSlice, Expression, LittleEndian};

/// A type, by its position in [`TypeTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TypeId(pub(super) u32);

/// What a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum TypeKind {
    Number(NumberKind),
    Pointer,
    Struct,
    Union,
    Array,
    /// Another name, or a qualifier.
    Alias,
    /// A function, and everything that has no values.
    #[default]
    Other,
}

/// What the bits of a number mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// One byte of a text.
    Character,
}

/// A type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DescribedType<'a> {
    /// The name in the source; empty if it has none.
    pub(super) name: &'a str,
    /// The scope in which it lies; 0 if in none.
    pub(super) scope: u32,
    pub(super) kind: TypeKind,
    /// The bytes of a value; 0 if that is not known.
    pub(super) size: u32,
    /// What a pointer refers to, of what an array or an alias is; the concrete type of a table of functions.
    pub(super) target: Option<TypeId>,
    /// The elements of an array, if they are counted.
    pub(super) count: Option<u32>,
}

/// A namespace, a type or a function, in which others lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameScope<'a> {
    pub(super) name: &'a str,
    /// The scope around it; 0 if there is none. It is less than the number of this one.
    pub(super) parent: u32,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberKind {
    Field,
    /// What the type derives from.
    Base,
    /// The number that says which variant a value has.
    Discriminant,
    /// A field that is there if the discriminant has this value; without a value, if it has no other.
    Variant(Option<u64>),
    /// Some bits of a word.
    Bits,
}

/// A member of a struct or a union.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeMember<'a> {
    pub(super) owner: TypeId,
    pub(super) kind: MemberKind,
    pub(super) name: &'a str,
    pub(super) offset: u32,
    pub(super) type_id: TypeId,
}

/// An argument of a generic type.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeArgument<'a> {
    pub(super) owner: TypeId,
    pub(super) name: &'a str,
    pub(super) type_id: TypeId,
}

/// A variable that lies at an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable<'a> {
    pub(super) name: &'a str,
    pub(super) scope: u32,
    pub(super) address: u32,
    pub(super) type_id: TypeId,
}

/// A variable of which an optimiser made several, or that it replaced by a shorter one.
#[derive(Clone, Debug)]
pub(super) struct SplitVariable<'a> {
    pub(super) name: &'a str,
    pub(super) scope: u32,
    pub(super) type_id: TypeId,
    pub(super) pieces: Vec<VariablePiece<'a>>,
}

/// A part of such a variable. What is in no part is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct VariablePiece<'a> {
    /// From the start of the variable.
    pub(super) offset: u32,
    /// Its bytes; more than the variable has if it is all of it.
    pub(super) size: u32,
    pub(super) place: PiecePlace<'a>,
}

/// Where a part of a variable is.
#[derive(Clone, Copy, Debug)]
pub(super) enum PiecePlace<'a> {
    At(u32),
    /// It is computed from memory.
    Computed(Expression<EndianSlice<'a, LittleEndian>>, Encoding),
}

/// All types and variables of a module.
#[derive(Debug, Default)]
pub(super) struct TypeTable<'a> {
    pub(super) all: Vec<DescribedType<'a>>,
    /// By owner, and in the order of the source.
    pub(super) members: Vec<TypeMember<'a>>,
    /// By owner, and in the order of the source.
    pub(super) arguments: Vec<TypeArgument<'a>>,
    /// By address.
    pub(super) variables: Vec<Variable<'a>>,
    pub(super) split: Vec<SplitVariable<'a>>,
    /// The first is that of what lies in no scope.
    pub(super) scopes: Vec<NameScope<'a>>,
    /// Structs and unions that are described, by their names without scopes.
    pub(super) by_name: HashMap<&'a str, Vec<TypeId>>,
    /// What structs derive from, directly and at offset 0, with the struct. By the first, in the order of the source.
    pub(super) derived: Vec<(TypeId, TypeId)>,
    /// By type, where its members begin; they end where those of the next type begin.
    pub(super) member_starts: Vec<u32>,
    /// The same for what derives from it.
    pub(super) derived_starts: Vec<u32>,
}

/// The most aliases and declarations that are followed.
const MOST_ALIASES: usize = 32;
/// The deepest nesting of scopes, and of types in names.
pub(super) const DEEPEST: usize = 16;

impl<'a> TypeTable<'a> {
    /// Sorts, and builds the indexes.
    pub(super) fn indexed(mut self) -> Self {
        self.members.sort_by_key(|member| member.owner);
        self.arguments.sort_by_key(|argument| argument.owner);
        self.variables.sort_by_key(|variable| variable.address);
        for (nth, found) in (0..).zip(&self.all) {
            let is_described = found.size > 0 && !found.name.is_empty();
            if is_described && matches!(found.kind, TypeKind::Struct | TypeKind::Union) {
                self.by_name
                    .entry(found.name)
                    .or_default()
                    .push(TypeId(nth));
            }
        }
        for nth in 0..self.members.len() {
            let member = self.members[nth];
            if member.kind == MemberKind::Base && member.offset == 0 {
                let base = self.resolved(member.type_id);
                self.derived.push((base, member.owner));
            }
        }
        self.derived.sort_by_key(|&(base, _)| base);
        let types = self.all.len();
        self.member_starts = starts(types, self.members.iter().map(|member| member.owner));
        self.derived_starts = starts(types, self.derived.iter().map(|&(base, _)| base));
        self
    }

    pub(super) fn get(&self, id: TypeId) -> DescribedType<'a> {
        self.all.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// The type without other names and qualifiers, and of a declaration the description.
    pub(super) fn resolved(&self, mut id: TypeId) -> TypeId {
        for _ in 0..MOST_ALIASES {
            let found = self.get(id);
            let next = match found.kind {
                TypeKind::Alias => found.target,
                TypeKind::Struct | TypeKind::Union if found.size == 0 => self.described(found),
                _ => None,
            };
            match next {
                Some(next) if next != id => id = next,
                _ => break,
            }
        }
        id
    }

    /// The description of a type that is only declared: the first of the same name in the same scopes.
    fn described(&self, declared: DescribedType<'a>) -> Option<TypeId> {
        let mut named = self.by_name.get(declared.name)?.iter().copied();
        named.find(|&id| self.is_same_scope(self.get(id).scope, declared.scope))
    }

    /// Whether two scopes have the same names.
    pub(super) fn is_same_scope(&self, mut left: u32, mut right: u32) -> bool {
        for _ in 0..DEEPEST {
            if left == right {
                return true;
            }
            let (Some(one), Some(other)) = (self.scope(left), self.scope(right)) else {
                return false;
            };
            if one.name != other.name {
                return false;
            }
            (left, right) = (one.parent, other.parent);
        }
        false
    }

    /// A scope that is not the outermost.
    pub(super) fn scope(&self, number: u32) -> Option<NameScope<'a>> {
        let scope = self.scopes.get(number as usize).copied();
        scope.filter(|_| number != 0)
    }

    /// The described types with this name, whatever their scopes are.
    pub(super) fn named(&self, name: &str) -> &[TypeId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// This type with each that derives from it, directly and at offset 0.
    pub(super) fn derived(&self, base: TypeId) -> &[(TypeId, TypeId)] {
        &self.derived[rows_of(&self.derived_starts, base)]
    }

    /// The members of a type.
    pub(super) fn members(&self, owner: TypeId) -> &[TypeMember<'a>] {
        &self.members[rows_of(&self.member_starts, owner)]
    }

    /// The member with this name; for base classes, theirs too.
    pub(super) fn member(&self, owner: TypeId, name: &str) -> Option<TypeMember<'a>> {
        let members = self.members(owner).iter();
        members.copied().find(|member| member.name == name)
    }

    /// The type argument with this name.
    pub(super) fn argument(&self, owner: TypeId, name: &str) -> Option<TypeId> {
        let start = self
            .arguments
            .partition_point(|argument| argument.owner < owner);
        let arguments = self.arguments[start..].iter();
        let mut own = arguments.take_while(|argument| argument.owner == owner);
        Some(own.find(|argument| argument.name == name)?.type_id)
    }

    /// The bytes of a value; 0 if that is not known.
    pub(super) fn size(&self, id: TypeId) -> u32 {
        self.size_within(id, DEEPEST)
    }

    fn size_within(&self, id: TypeId, depth: usize) -> u32 {
        let found = self.get(self.resolved(id));
        match (found.kind, found.target, found.count) {
            (TypeKind::Array, Some(element), Some(count)) if depth > 0 => {
                let element = self.size_within(element, depth - 1);
                count.checked_mul(element).unwrap_or(0)
            }
            _ => found.size,
        }
    }

    /// What a pointer refers to, if it is one and that is known.
    pub(super) fn pointee(&self, pointer: TypeId) -> Option<TypeId> {
        let pointer = self.get(self.resolved(pointer));
        let target = pointer
            .target
            .filter(|_| pointer.kind == TypeKind::Pointer)?;
        Some(self.resolved(target))
    }
}

/// By type, where its rows begin in a column that is sorted by the types, and where those of the last type end.
fn starts(types: usize, owners: impl Iterator<Item = TypeId>) -> Vec<u32> {
    let mut starts = vec![0; types + 1];
    for owner in owners {
        if let Some(count) = starts.get_mut(owner.0 as usize + 1) {
            *count += 1;
        }
    }
    for nth in 1..starts.len() {
        starts[nth] += starts[nth - 1];
    }
    starts
}

/// The rows of a type; none if there is no such type.
fn rows_of(starts: &[u32], id: TypeId) -> Range<usize> {
    let nth = id.0 as usize;
    match starts.get(nth..nth.saturating_add(2)) {
        Some(&[start, end]) => start as usize..end as usize,
        _ => 0..0,
    }
}
