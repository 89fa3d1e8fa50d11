//! Adds up what every byte of the heap is used for. The parts add up to the heap's size exactly.

use crate::runtime::blocks::{AllocatorData, BLOCK_OVERHEAD, BlockInfo};
use crate::runtime::regions::BlockWalk;
use dumps::Memory;
use heap::{Accounting, CollectorState, FreeBlocks, Heap, LiveBytes, RootKind};

/// The parts that are known from the walk over the blocks alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockTotals {
    pub(super) used: u64,
    pub(super) free: FreeBlocks,
    pub(super) overhead: u64,
    pub(super) gaps: u64,
    pub(super) unread: u64,
}

impl BlockTotals {
    /// Whether a part of the heap could not be read.
    pub(super) fn is_partial(&self) -> bool {
        self.unread > 0
    }

    pub(super) fn add_block(&mut self, info: BlockInfo) {
        let size = u64::from(info.block_size());
        if info.is_free() {
            self.free.bytes += size;
            self.free.blocks += 1;
            self.free.largest = self.free.largest.max(size);
        } else {
            self.used += size;
        }
    }

    /// Adds the memory between the blocks: ends of regions, padding, foreign pages, and the unread part.
    pub(super) fn add_walk(
        &mut self,
        memory: Memory<'_>,
        allocator: AllocatorData,
        walk: &BlockWalk,
    ) {
        let mut covered = u64::from(allocator.first_block.0);
        for (nth, region) in walk.regions.iter().enumerate() {
            // Every region except the first begins at the start of a page, some bytes before its first block.
            let first = u64::from(region.first_block.0);
            let start = if nth == 0 { first } else { first & !0xffff };
            self.gaps += start - covered;
            self.overhead += first - start;
            covered = u64::from(region.end.0);
            if walk.damage.is_none() || nth + 1 < walk.regions.len() {
                self.overhead += u64::from(BLOCK_OVERHEAD);
                covered += u64::from(BLOCK_OVERHEAD);
            }
        }
        let rest = memory.size().saturating_sub(covered);
        match walk.damage {
            None => self.gaps += rest,
            Some(_) => self.unread += rest,
        }
    }
}

/// Adds up what every byte of a heap is used for.
pub(super) fn account(heap: &mut Heap, totals: BlockTotals, collector: Option<CollectorState>) {
    let managed = heap.objects.heap_bytes();
    let mut live = LiveBytes::default();
    for (root, tops) in heap.dominators.trees() {
        let kind = heap
            .roots
            .binary_search_by_key(&root, |&(object, _)| object);
        let bytes = tops.map(|top| heap.retained_size(top)).sum::<u64>();
        match kind.map(|at| heap.roots[at].1) {
            Ok(RootKind::Stack) => live.stack += bytes,
            Ok(RootKind::Pinned) => live.pinned += bytes,
            Ok(RootKind::Global | RootKind::System | RootKind::Host | RootKind::Unreferenced)
            | Err(_) => live.global += bytes,
        }
    }
    heap.live_size = live.global + live.stack + live.pinned;

    let mut counts = vec![0u64; heap.objects.classes.len()];
    for &object in &heap.objects.pinned {
        counts[heap.objects.class_slots[object.at()] as usize] += 1;
    }
    let classes = heap
        .objects
        .classes
        .iter()
        .zip(counts)
        .filter(|&(_, count)| count > 0);
    let mut pinned: Vec<_> = classes
        .map(|(class, count)| (class.name.clone(), count))
        .collect();
    pinned.sort_unstable_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));

    heap.accounting = Some(Accounting {
        live,
        garbage: managed - heap.live_size,
        raw: totals.used - managed,
        free: totals.free,
        overhead: totals.overhead,
        gaps: totals.gaps,
        unread: totals.unread,
        collector,
        pinned,
    });
}
