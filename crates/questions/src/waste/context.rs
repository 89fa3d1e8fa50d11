//! The data that all parts of the report need.

use crate::loaded_heap::LoadedHeap;
use base::bits::Bits;
use base::control::Control;
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::ObjectIndex;
use heap::survey::ArrayUse;
use heap::{BlockSizes, Blocks, DominatorIndex, PathTree, ReferrerIndex};

/// The data that all parts of the report need.
pub(super) struct Context<'h> {
    pub(super) heap: &'h LoadedHeap,
    pub(super) blocks: Blocks,
    pub(super) live: &'h DominatorIndex,
    pub(super) referrers: &'h ReferrerIndex,
    pub(super) tree: &'h PathTree,
    /// The objects that a root refers to.
    pub(super) is_rooted: Bits,
    pub(super) control: &'h Control,
}

impl<'h> Context<'h> {
    pub(super) fn new(heap: &'h LoadedHeap, control: &'h Control) -> Result<Self> {
        let (referrers, tree) =
            side_by_side(|| heap.referrers(control), || heap.path_tree(control))?;
        let mut is_rooted = Bits::new(heap.heap.objects.len())?;
        for slot in heap.roots.all() {
            is_rooted.insert(slot.object.0);
        }
        let blocks = heap.source.memory().map(|memory| memory.blocks());
        Ok(Self {
            heap,
            // Without blocks, there is no memory whose waste would be counted.
            blocks: blocks.unwrap_or(Blocks {
                header: 0,
                sizes: BlockSizes::MultiplesOf(1),
                overhead: None,
            }),
            live: heap.dominator_index(control)?,
            referrers,
            tree,
            is_rooted,
            control,
        })
    }

    /// Whether an object is alive, static or not.
    pub(super) fn is_live(&self, object: ObjectIndex) -> bool {
        if self.heap.heap.objects.is_on_heap(object) {
            self.heap.heap.retained_size(object) != 0
        } else {
            self.live.position(object).is_some()
        }
    }

    pub(super) fn class_slot(&self, object: ObjectIndex) -> u32 {
        self.heap.heap.objects.class_slots[object.at()]
    }

    /// Whether only the array itself refers to its buffer.
    pub(super) fn is_own_buffer(&self, array: &ArrayUse) -> bool {
        let roots = if self.is_rooted.contains(array.buffer.0) {
            self.heap.roots.of(array.buffer).count()
        } else {
            0
        };
        let references = self.referrers.of(array.buffer).len();
        references == array.references as usize && roots == array.roots as usize
    }

    /// Whether there is only one reference to a live object.
    pub(super) fn has_one_reference(&self, object: ObjectIndex) -> bool {
        self.referrers.of(object).len() == 1 && !self.is_rooted.contains(object.0)
    }
}
