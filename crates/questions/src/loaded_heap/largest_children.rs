//! The immediate children of one object in the dominator tree, or of the virtual root, the largest first. An
//! object can have millions of children: they are sorted once, and kept until a question needs the children
//! of another object with many.

use std::cmp::Reverse;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{DominatorIndex, HUGE, Heap};

/// If there are fewer children than this, they are sorted again for every page.
const MANY: usize = 1 << 12;

/// The sorted children of the last object with many.
#[derive(Debug, Default)]
pub(super) struct LargestChildren(Mutex<Option<ChildList>>);

#[derive(Clone, Debug)]
struct ChildList {
    /// The position of the parent in the dominator tree; `None` for the virtual root.
    parent: Option<u32>,
    children: Arc<Vec<ObjectIndex>>,
}

impl LargestChildren {
    /// The size of the kept list in bytes.
    pub(super) fn memory_size(&self) -> u64 {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let children = kept.as_ref().map_or(0, |list| list.children.capacity());
        (children * size_of::<ObjectIndex>()) as u64
    }

    /// The objects that the one at this position, or the virtual root, immediately dominates: retained size
    /// ↓, shallow size ↓, address ↑.
    pub(super) fn by_size(
        &self,
        heap: &Heap,
        index: &DominatorIndex,
        parent: Option<u32>,
        control: &Control,
    ) -> Result<Arc<Vec<ObjectIndex>>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept()
            .as_ref()
            .filter(|list| list.parent == parent)
            .cloned();
        if let Some(list) = found {
            return Ok(list.children);
        }
        let children = Arc::new(sorted_children(heap, index, parent, control)?);
        if children.len() >= MANY {
            *kept() = Some(ChildList {
                parent,
                children: Arc::clone(&children),
            });
        }
        Ok(children)
    }
}

fn sorted_children(
    heap: &Heap,
    index: &DominatorIndex,
    parent: Option<u32>,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    // With the complements of their sizes, so that sorting needs no lookups.
    let mut children: Vec<(u32, u32, ObjectIndex)> = Vec::new();
    for child in index.children(parent) {
        let object = index.object(child);
        let [retained_size, shallow_size] = [heap.retained_size(object), heap.shallow_size(object)]
            .map(|size| !u32::try_from(size).unwrap_or(HUGE));
        columns::push(&mut children, (retained_size, shallow_size, object))?;
        if children.len().is_multiple_of(CHECK_INTERVAL) {
            control.check()?;
        }
    }
    children.par_sort_unstable();
    // Only snapshots have sizes that need more than 32 bits.
    let huge = children.partition_point(|&(retained_size, ..)| retained_size == !HUGE);
    children[..huge].sort_unstable_by_key(|&(.., object)| {
        let sizes = [heap.retained_size(object), heap.shallow_size(object)];
        (Reverse(sizes), object)
    });
    columns::collected(children.iter().map(|&(_, _, object)| object))
}
