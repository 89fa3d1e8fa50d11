//! The entries around the current one: to which type a member belongs, and in which scope a name lies.

use super::super::table::TypeId;

/// What an entry is for the entries in it.
#[derive(Clone, Copy)]
pub(super) enum Around {
    /// A struct, a union, or an array.
    Type(TypeId),
    /// The part of a type that says which variant it has.
    VariantPart(TypeId),
    /// One variant, with the discriminant's value.
    Variant(TypeId, Option<u64>),
    /// Only a scope.
    Scope,
}

#[derive(Clone, Copy)]
struct OpenEntry {
    depth: isize,
    around: Around,
    scope: u32,
}

/// The open entries, the innermost last.
#[derive(Default)]
pub(super) struct OpenEntries(Vec<OpenEntry>);

impl OpenEntries {
    /// Closes all that an entry of this depth is not in.
    pub(super) fn close(&mut self, depth: isize) {
        while self.0.last().is_some_and(|open| open.depth >= depth) {
            self.0.pop();
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The entry directly around one of this depth.
    pub(super) fn parent(&self, depth: isize) -> Option<Around> {
        let open = self.0.last().filter(|open| open.depth + 1 == depth)?;
        Some(open.around)
    }

    /// The number of the innermost scope; 0 if there is none.
    pub(super) fn scope(&self) -> u32 {
        self.0.last().map_or(0, |open| open.scope)
    }

    pub(super) fn push(&mut self, depth: isize, around: Around, scope: u32) {
        self.0.push(OpenEntry {
            depth,
            around,
            scope,
        });
    }
}
