//! Which type takes a block: by its size, and by what derives from what.

use super::plan::DEEPEST;
use super::spread::{BlockType, Spread};
use super::table::{MemberKind, TypeId, TypeKind};
use heap::TypeEvidence;

/// The most types that may derive from one and are looked at.
const MOST_DERIVED: usize = 256;

/// An array at the end of a type, whose length the type does not say.
#[derive(Clone, Copy)]
pub(super) struct ArrayTail {
    pub(super) offset: u32,
    pub(super) element: TypeId,
}

impl Spread<'_, '_> {
    /// Whether one value of a type takes a block.
    pub(super) fn fits_once(&self, type_id: TypeId, usable: u32) -> bool {
        let size = self.types.size(type_id);
        size > 0 && size <= usable && size.saturating_add(self.slack(usable)) > usable
    }

    /// What a block is, to whose start a pointer to this type refers, by its size.
    pub(super) fn at_start(&self, target: TypeId, usable: u32) -> Option<BlockType> {
        let found = |type_id, is_array, evidence| BlockType {
            type_id,
            is_array,
            evidence,
            base: 0,
        };
        let size = self.types.size(target);
        match self.types.get(target).kind {
            TypeKind::Number(_) | TypeKind::Pointer => {
                return Some(found(target, true, TypeEvidence::Field));
            }
            TypeKind::Struct | TypeKind::Union | TypeKind::Array => {}
            TypeKind::Alias | TypeKind::Other => return None,
        }
        let derived = self.derived_that_fits(target, usable);
        if self.fits_once(target, usable) && derived.is_none() {
            return Some(found(target, false, TypeEvidence::Field));
        }
        if let Some(derived) = derived {
            // The nodes of libc++ derive from a base that has their type for its argument.
            let evidence = if self.types.is_of_library(target) {
                TypeEvidence::Container
            } else {
                TypeEvidence::Fit
            };
            return Some(found(derived, false, evidence));
        }
        let is_multiple = (usable - usable % size).saturating_add(self.slack(usable)) > usable;
        // An object of a class that derives from it, of which nothing more is known.
        let is_multiple = is_multiple && !self.is_polymorphic(target);
        if self.tail(target).is_some() {
            return Some(found(target, false, TypeEvidence::Field));
        }
        if is_multiple || self.ends_with_one(target) {
            return Some(found(target, is_multiple, TypeEvidence::Field));
        }
        // A header before something else, or a cast.
        Some(found(target, false, TypeEvidence::Fit))
    }

    /// Whether its values begin with a table of functions of C++.
    fn is_polymorphic(&self, mut id: TypeId) -> bool {
        for _ in 0..DEEPEST {
            let mut members = self.types.members(id).iter();
            match members.find(|member| member.offset == 0) {
                Some(first) if first.name.starts_with("_vptr") => return true,
                Some(first) if first.kind == MemberKind::Base => {
                    id = self.types.resolved(first.type_id);
                }
                _ => return false,
            }
        }
        false
    }

    /// The array of any length that is the last member.
    pub(super) fn tail(&self, id: TypeId) -> Option<ArrayTail> {
        let last = self.types.members(id).last()?;
        let array = self.types.get(self.types.resolved(last.type_id));
        let is_any = array.count.is_none_or(|count| count == 0);
        let element = array
            .target
            .filter(|_| array.kind == TypeKind::Array && is_any)?;
        Some(ArrayTail {
            offset: last.offset,
            element: self.types.resolved(element),
        })
    }

    /// Whether the last member is an array of one, as old programs of C declare one of any length.
    fn ends_with_one(&self, id: TypeId) -> bool {
        let last = self.types.members(id).last();
        let last = last.map(|member| self.types.get(self.types.resolved(member.type_id)));
        last.is_some_and(|last| last.kind == TypeKind::Array && last.count == Some(1))
    }

    /// The one type that derives from another and takes a block.
    pub(super) fn derived_that_fits(&self, base: TypeId, usable: u32) -> Option<TypeId> {
        // Most types have none, and this is asked for every pointer.
        if self.types.derived(base).is_empty() {
            return None;
        }
        let mut open = vec![base];
        let mut fitting: Vec<TypeId> = Vec::new();
        let mut looked = 0;
        while let Some(next) = open.pop() {
            for &(_, derived) in self.types.derived(next) {
                looked += 1;
                if looked > MOST_DERIVED {
                    return None;
                }
                let is_other = !fitting.iter().any(|&known| self.is_same(known, derived));
                if self.fits_once(derived, usable) && is_other {
                    fitting.push(derived);
                }
                open.push(derived);
            }
        }
        match fitting[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether two descriptions are of one type: each unit of compilation has its own.
    pub(super) fn is_same(&self, left: TypeId, right: TypeId) -> bool {
        let types = self.types;
        let (one, other) = (types.get(left), types.get(right));
        left == right
            || one.kind == other.kind
                && one.size == other.size
                && one.name == other.name
                && self.is_same_inside(left, right)
    }

    /// For types of one kind, size and name: whether they lie in the same scope, or consist of the same type.
    fn is_same_inside(&self, left: TypeId, right: TypeId) -> bool {
        let (types, one) = (self.types, self.types.get(left));
        if matches!(one.kind, TypeKind::Pointer | TypeKind::Array) {
            return types.full_name(left, 4) == types.full_name(right, 4);
        }
        types.is_same_scope(one.scope, types.get(right).scope)
    }

    /// How much a type says: texts and numbers are what everything can be cast to.
    pub(super) fn detail(&self, found: BlockType) -> u32 {
        match self.types.get(found.type_id).kind {
            TypeKind::Number(_) => 0,
            TypeKind::Pointer => 1,
            _ => 2,
        }
    }

    /// Whether a value of one type begins with one of another.
    pub(super) fn begins_with(&self, mut outer: TypeId, inner: TypeId) -> bool {
        for _ in 0..DEEPEST {
            let mut members = self.types.members(outer).iter();
            let first = members.find(|member| {
                let is_part = matches!(member.kind, MemberKind::Field | MemberKind::Base);
                member.offset == 0 && is_part && self.types.size(member.type_id) > 0
            });
            let Some(first) = first else {
                return false;
            };
            outer = self.types.resolved(first.type_id);
            if self.is_same(outer, inner) {
                return true;
            }
        }
        false
    }
}
