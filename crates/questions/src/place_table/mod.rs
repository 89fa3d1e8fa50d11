//! The place table of a heap: how many objects each place of the program holds, and how much they contain.
//! Tables of several heaps, of one build or of several, are compared by [`growth`](super::growth).

mod count;
mod finder;
mod make;
mod objects;
mod table;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

pub use make::place_table;
pub(super) use objects::objects_at;
pub use table::{ClassLine, PlaceTable};
pub(super) use table::{PathNode, PathStart};

/// Objects, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct PlaceSum {
    pub(super) count: u64,
    /// The bytes of their contents.
    pub(super) bytes: u64,
    /// The sum of the retained sizes of those that no other of them dominates: at least what the program frees if it
    /// lets go of all of them.
    pub(super) retained: u64,
    /// A hash of which objects they are, for comparison within one table; 0 in a table of an earlier version.
    #[serde(default)]
    pub(super) objects: u64,
}

impl PlaceSum {
    pub(super) fn add(&mut self, other: Self) {
        *self += other;
    }
}

impl AddAssign for PlaceSum {
    fn add_assign(&mut self, other: Self) {
        // A table that was read from bytes can have any numbers.
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.retained = self.retained.saturating_add(other.retained);
        self.objects = self.objects.wrapping_add(other.objects);
    }
}
