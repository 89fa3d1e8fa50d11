//! Groups objects with the same contents.

use rayon::prelude::*;

use super::context::Context;
use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::ObjectIndex;
use heap::survey::HashedObject;

/// Objects with the same contents.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyGroup {
    /// The original: a static one, otherwise the one with the lowest address.
    pub(super) original: ObjectIndex,
    /// The start of the copies in the column of all copies.
    start: u32,
    end: u32,
    /// The bytes of the copies.
    pub(super) savings: u64,
}

impl CopyGroup {
    /// The number of copies, without the original.
    pub(super) fn count(&self) -> u64 {
        u64::from(self.end - self.start)
    }
}

/// All groups.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) groups: Vec<CopyGroup>,
    objects: Vec<ObjectIndex>,
}

impl Copies {
    /// The copies of a group, ascending, without the original.
    pub(super) fn of(&self, group: &CopyGroup) -> &[ObjectIndex] {
        &self.objects[group.start as usize..group.end as usize]
    }

    /// All copies of all groups.
    pub(super) fn all(&self) -> &[ObjectIndex] {
        &self.objects
    }
}

impl Context<'_> {
    /// Groups objects by contents.
    pub(super) fn copies(&self, mut all: Vec<HashedObject>, step: &Step<'_>) -> Result<Copies> {
        all.par_sort_unstable();
        step.advance(0)?;
        let heap = &self.heap.heap;
        let mut copies = Copies::default();
        for same in all.chunk_by(|one, next| one.is_copy_of(*next)) {
            let [original, others @ ..] = same else {
                continue;
            };
            let start = copies.objects.len();
            let mut savings = 0;
            for object in others.iter().map(|other| other.object()) {
                if heap.objects.is_on_heap(object) {
                    columns::push(&mut copies.objects, object)?;
                    savings += heap.shallow_size(object);
                }
            }
            let end = copies.objects.len();
            if end > start {
                let group = CopyGroup {
                    original: original.object(),
                    start: start as u32,
                    end: end as u32,
                    savings,
                };
                columns::push(&mut copies.groups, group)?;
            }
        }
        Ok(copies)
    }
}
