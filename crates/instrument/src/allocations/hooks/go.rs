//! Go's allocator.

use super::search::Search;
use super::{Hook, Kind};
use base::units::GlobalIndex;
use wasm::allocation_table::Family;

impl Search<'_, '_> {
    /// `mallocgc`. The stack pointer is the first global.
    pub(super) fn go(&self) -> Option<(Family, Vec<Hook>)> {
        let mut list = Vec::new();
        let stack_pointer = self.module.globals.get(GlobalIndex(0))?;
        if stack_pointer.is_i32 && stack_pointer.mutable {
            self.add(&mut list, "runtime.mallocgc", (1, 1), Kind::GoAllocate);
        }
        (!list.is_empty()).then_some((Family::Go, list))
    }
}
