//! The bytes that a kind of waste has claimed, so that every byte counts once.

use rayon::slice::ParallelSliceMut;

use super::context::Context;
use super::sums::GroupSums;
use base::bits::Bits;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::prefetch;
use heap::survey::{MemorySurvey, ViewUse};

/// The claimed bytes.
pub(super) struct Claims {
    /// Objects of which all bytes are claimed.
    whole: Bits,
    /// Buffers whose end is claimed, with the padding that would remain.
    shrunk: Vec<(ObjectIndex, u32)>,
}

/// Arrays in advance for which memory is prefetched.
const AHEAD: usize = 16;

/// The end of a buffer that nothing uses.
struct UnusedEnd {
    /// What the block would be smaller without it.
    savings: u64,
    /// The padding that the smaller block would have.
    padding_left: u32,
}

impl UnusedEnd {
    /// The end of a buffer of which only the first `used` bytes are used; `None` if its block would not be smaller.
    fn new(context: &Context<'_>, buffer: ObjectIndex, used: u64, sizes: &[u32]) -> Option<Self> {
        let now = context.heap.heap.shallow_size(buffer);
        let after = context.blocks.size_for(used);
        let full = context.blocks.not_contents() + u64::from(sizes[buffer.at()]);
        (after < now).then(|| Self {
            savings: now - after,
            padding_left: after.saturating_sub(full) as u32,
        })
    }
}

impl Claims {
    pub(super) fn new(object_count: usize) -> Result<Self> {
        Ok(Self {
            whole: Bits::new(object_count)?,
            shrunk: Vec::new(),
        })
    }

    /// Claims all of an object.
    pub(super) fn take(&mut self, object: ObjectIndex) {
        self.whole.insert(object.0);
    }

    pub(super) fn has_all_of(&self, object: ObjectIndex) -> bool {
        self.whole.contains(object.0)
    }

    /// Claims the empty containers, each with those of its blocks to which only empty containers refer.
    pub(super) fn take_empty(
        &mut self,
        context: &Context<'_>,
        memory: &MemorySurvey,
    ) -> Result<GroupSums> {
        let mut empty = Bits::new(context.heap.heap.objects.len())?;
        // Each with its own blocks.
        let mut containers: Vec<(ObjectIndex, [Option<ObjectIndex>; 2])> = Vec::new();
        for all in &memory.containers {
            for of in all.arrays.iter().filter(|of| of.is_empty(memory)) {
                columns::push(&mut containers, (of.array, [Some(of.buffer), None]))?;
            }
            for of in all.views.iter().filter(|of| of.is_empty(memory)) {
                columns::push(&mut containers, (of.view, [Some(of.buffer), None]))?;
            }
            for of in all.tables.iter().filter(|of| of.is_empty(memory)) {
                if of.unused(context.class_slot(of.table), memory).is_some() {
                    let own = [Some(of.buckets), Some(of.entries)];
                    columns::push(&mut containers, (of.table, own))?;
                }
            }
            for &array in &all.empty_static_arrays {
                columns::push(&mut containers, (array, [None, None]))?;
            }
        }
        containers.retain(|&(container, _)| !self.whole.contains(container.0));
        for &(container, _) in &containers {
            empty.insert(container.0);
        }
        containers.sort_unstable_by_key(|&(container, _)| container);
        let mut sums = GroupSums::new(context)?;
        for (container, own) in containers {
            let mut savings = context.heap.heap.shallow_size(container);
            self.whole.insert(container.0);
            for own in own.into_iter().flatten() {
                let holders = context.referrers.of(own);
                let is_claimable = !context.is_rooted.contains(own.0)
                    && holders.iter().all(|&holder| empty.contains(holder.0));
                // A block that several of them share counts for the first.
                if is_claimable && self.whole.insert(own.0) {
                    savings += context.heap.heap.shallow_size(own);
                }
            }
            sums.add(context, container, savings)?;
        }
        Ok(sums)
    }

    /// Claims the part of a buffer that its views do not use, if nothing else refers to the buffer and they
    /// use less than an eighth of it.
    pub(super) fn take_unviewed(
        &mut self,
        context: &Context<'_>,
        memory: &MemorySurvey,
    ) -> Result<GroupSums> {
        let mut sums = GroupSums::new(context)?;
        let mut views: Vec<ViewUse> = Vec::new();
        for containers in &memory.containers {
            columns::extend(&mut views, &containers.views)?;
        }
        views.par_sort_unstable_by_key(|view| (view.buffer, view.start, view.length, view.view));
        for views in views.chunk_by(|left, right| left.buffer == right.buffer) {
            let buffer = views[0].buffer;
            let size = u64::from(memory.sizes[buffer.at()]);
            let is_claimable = !context.is_rooted.contains(buffer.0)
                && context.referrers.of(buffer).len() == views.len()
                && !self.whole.contains(buffer.0);
            if !is_claimable {
                continue;
            }
            let (mut used, mut end) = (0, 0);
            for view in views {
                let view_end = view.end().min(size);
                used += view_end.saturating_sub(u64::from(view.start).max(end));
                end = end.max(view_end);
            }
            if used * 8 >= size {
                continue;
            }
            let Some(end) = UnusedEnd::new(context, buffer, used, &memory.sizes) else {
                continue;
            };
            self.take_end(buffer, end.padding_left)?;
            let first = views.iter().map(|view| view.view).min();
            if let Some(first) = first {
                sums.add(context, first, end.savings)?;
            }
        }
        Ok(sums)
    }

    /// Claims the unused capacity of arrays, if nothing else uses the buffer.
    pub(super) fn take_capacity(
        &mut self,
        context: &Context<'_>,
        memory: &MemorySurvey,
    ) -> Result<GroupSums> {
        let sizes = &memory.sizes;
        let (sums, ends) =
            GroupSums::in_parallel(context, &memory.containers, |_, containers, sums| {
                let mut ends = Vec::new();
                for arrays in containers.iter().map(|of| &of.arrays) {
                    for (nth, of) in arrays.iter().enumerate() {
                        if let Some(next) = arrays.get(nth + AHEAD) {
                            prefetch(sizes, next.buffer.0);
                            context.heap.heap.prefetch_block_size(next.buffer);
                            context.referrers.prefetch(next.buffer);
                            context.tree.prefetch(next.array);
                        }
                        let fits = of.used <= sizes[of.buffer.at()];
                        if fits
                            && context.is_own_buffer(of)
                            && !self.whole.contains(of.buffer.0)
                            && let Some(end) =
                                UnusedEnd::new(context, of.buffer, of.used.into(), sizes)
                        {
                            sums.add(context, of.array, end.savings)?;
                            columns::push(&mut ends, (of.buffer, end.padding_left))?;
                        }
                    }
                }
                Ok(ends)
            })?;
        for &(buffer, padding_left) in ends.iter().flatten() {
            self.take_end(buffer, padding_left)?;
        }
        Ok(sums)
    }

    /// Sums up the unused and deleted entries of maps and sets, if nothing else uses the buffer.
    pub(super) fn entries(
        &self,
        context: &Context<'_>,
        memory: &MemorySurvey,
    ) -> Result<GroupSums> {
        let (sums, _) =
            GroupSums::in_parallel(context, &memory.containers, |_, containers, sums| {
                for of in containers.iter().flat_map(|of| &of.tables) {
                    let is_claimed = self.whole.contains(of.entries.0);
                    let is_on_heap = context.heap.heap.objects.is_on_heap(of.entries);
                    if is_on_heap
                        && !is_claimed
                        && context.has_one_reference(of.entries)
                        && let Some(unused) = of.unused(context.class_slot(of.table), memory)
                    {
                        sums.add(context, of.table, unused)?;
                    }
                }
                Ok(())
            })?;
        Ok(sums)
    }

    /// Claims the end of a buffer.
    fn take_end(&mut self, buffer: ObjectIndex, padding_left: u32) -> Result<()> {
        if padding_left > 0 {
            columns::push(&mut self.shrunk, (buffer, padding_left))?;
        }
        self.whole.insert(buffer.0);
        Ok(())
    }

    /// The padding that remains of the buffers whose end is claimed.
    pub(super) fn padding_left(&self) -> &[(ObjectIndex, u32)] {
        &self.shrunk
    }
}
