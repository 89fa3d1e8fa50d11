//! The heap after the running functions have returned: the same without the roots of the stack.

use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{DominatorIndex, DominatorTree, Heap, RootKind, RootSlots, reached_from};

/// The heap without the roots of the stack.
#[derive(Debug)]
pub(crate) struct AfterReturn {
    pub(crate) dominators: DominatorIndex,
    /// Per object.
    pub(crate) retained_sizes: Vec<u32>,
    /// One bit per object: whether the stack reaches it.
    on_stack: Vec<u64>,
}

impl AfterReturn {
    pub(super) fn new(heap: &Heap, roots: &RootSlots, control: &Control) -> Result<Self> {
        let slots = roots.all();
        let of = |is_stack: bool| {
            let slots = slots
                .iter()
                .filter(move |slot| (slot.kind == RootKind::Stack) == is_stack);
            slots.map(|slot| slot.object)
        };
        let mut roots: Vec<ObjectIndex> = of(false).collect();
        roots.sort_unstable();
        roots.dedup();
        let edges = &heap.edges;
        let sizes = &heap.objects.shallow_sizes;
        let (tree, retained_sizes) = DominatorTree::new(edges, sizes, &roots, control)?;
        let dominators = DominatorIndex::of_tree(&tree, sizes.len(), control)?;
        Ok(Self {
            dominators,
            retained_sizes,
            on_stack: reached_from(heap, of(true), &[], control)?,
        })
    }

    pub(crate) fn is_on_stack(&self, object: ObjectIndex) -> bool {
        self.on_stack[object.at() / 64] >> (object.at() % 64) & 1 != 0
    }
}
