//! The live objects after the running functions have returned: the same heap without the roots of the stack.
//! A stack word of the function that took the dump must not hide the effect of a cut.

use super::LoadedHeap;
use crate::columns;
use crate::control::Control;
use crate::error::Result;
use crate::heap::RootKind;
use crate::heap::{DominatorIndex, DominatorTree};
use crate::units::ObjectIndex;

/// The largest number of dominators that are searched for one with exactly one independent reference.
const MOST_DOMINATORS: usize = 10_000;

/// The heap without the roots of the stack.
#[derive(Debug)]
pub(super) struct AfterReturn {
    dominators: DominatorIndex,
    /// Per object.
    retained_sizes: Vec<u32>,
    /// One bit per object: whether the stack reaches it.
    on_stack: Vec<u64>,
}

impl AfterReturn {
    fn new(heap: &LoadedHeap, control: &Control) -> Result<Self> {
        let slots = heap.roots.all();
        let of = |is_stack: bool| {
            let slots = slots.iter();
            let slots = slots.filter(move |slot| (slot.kind == RootKind::Stack) == is_stack);
            slots.map(|slot| slot.object)
        };
        let mut roots: Vec<ObjectIndex> = of(false).collect();
        roots.sort_unstable();
        roots.dedup();
        let edges = &heap.heap.edges;
        let sizes = &heap.heap.objects.shallow_sizes;
        let (tree, retained_sizes) = DominatorTree::new(edges, sizes, &roots, control)?;
        let dominators = DominatorIndex::of_tree(&tree, sizes.len(), control)?;
        Ok(Self {
            dominators,
            retained_sizes,
            on_stack: heap.reached_from(of(true), &[], control)?,
        })
    }

    fn is_on_stack(&self, object: ObjectIndex) -> bool {
        self.on_stack[object.at() / 64] >> (object.at() % 64) & 1 != 0
    }
}

impl LoadedHeap {
    /// The bytes that the cut of [`paths`](super::PathAnswer) frees after the running functions have
    /// returned. The cut is the one for the heap with the stack; if there is none, the one for the heap
    /// without it. `None` if the stack does not reach the object.
    pub(super) fn freed_after_return(
        &self,
        object: ObjectIndex,
        control: &Control,
    ) -> Result<Option<u64>> {
        let dominators = self.dominator_index(control)?;
        let slots = self.roots.all();
        let has_stack = slots.iter().any(|slot| slot.kind == RootKind::Stack);
        if !has_stack || dominators.position(object).is_none() {
            return Ok(None);
        }
        let after = self.after_return.get(|| AfterReturn::new(self, control))?;
        if !after.is_on_stack(object) {
            return Ok(None);
        }
        let cut = match self.cuts(control)?.nearest(dominators, object) {
            Some(cut) => Some(cut),
            None => self.cut_after_return(after, object, control)?,
        };
        let freed = cut.map_or(0, |cut| after.retained_sizes[cut.at()]);
        Ok(Some(freed.into()))
    }

    /// The nearest dominator with exactly one independent reference in the heap without the stack.
    fn cut_after_return(
        &self,
        after: &AfterReturn,
        object: ObjectIndex,
        control: &Control,
    ) -> Result<Option<ObjectIndex>> {
        let referrers = self.referrers(control)?;
        let dominators = &after.dominators;
        let mut position = dominators.position(object);
        for _ in 0..MOST_DOMINATORS {
            let Some(at) = position else {
                break;
            };
            let candidate = dominators.object(at);
            let slots = self.roots.of(candidate);
            let roots = slots.filter(|slot| slot.kind != RootKind::Stack).count();
            let sources = referrers.of(candidate).iter().filter(|&&source| {
                dominators.position(source).is_some() && !dominators.dominates(candidate, source)
            });
            if roots + sources.take(2).count() == 1 {
                return Ok(Some(candidate));
            }
            position = dominators.dominator(at);
        }
        Ok(None)
    }

    /// One bit per object: whether these objects reach it without passing through `removed`. The bits of
    /// `removed` are set too.
    pub(super) fn reached_from(
        &self,
        starts: impl Iterator<Item = ObjectIndex>,
        removed: &[ObjectIndex],
        control: &Control,
    ) -> Result<Vec<u64>> {
        const CHECK_INTERVAL: usize = 1 << 16;
        let edges = &self.heap.edges;
        let mut reached = columns::repeated(0u64, self.heap.objects.len().div_ceil(64))?;
        let mut visit = |object: ObjectIndex| {
            let word = &mut reached[object.at() / 64];
            let bit = 1 << (object.at() % 64);
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        };
        for &object in removed {
            visit(object);
        }
        let mut pending = Vec::new();
        for start in starts {
            if visit(start) {
                columns::push(&mut pending, start)?;
            }
        }
        let mut followed = 0usize;
        while let Some(object) = pending.pop() {
            followed += 1;
            if followed.is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            for &target in edges.targets(object) {
                if visit(target) {
                    columns::push(&mut pending, target)?;
                }
            }
        }
        Ok(reached)
    }
}
