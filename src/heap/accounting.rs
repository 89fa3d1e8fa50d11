//! What every byte of the heap is used for. The parts add up to the heap's size exactly.

use super::{Heap, RootKind};
use crate::dump::Memory;
use crate::runtime::blocks::{Allocator, BLOCK_OVERHEAD, BlockInfo};
use crate::runtime::regions::Walk;

/// The whole heap, from the first block to the end of the memory, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounting {
    /// Live objects.
    pub live: LiveBytes,
    /// Objects that the collector has not freed yet.
    pub garbage: u64,
    /// Blocks in use that hold no managed object (`heap.alloc`).
    pub raw: u64,
    /// Blocks that the allocator can give out.
    pub free: FreeBlocks,
    /// The ends of regions and the padding at their starts.
    pub overhead: u64,
    /// Memory that the allocator does not own: pages that other code added, or all memory before the first
    /// allocation.
    pub gaps: u64,
    /// The part after damage, which could not be read; 0 unless the result is partial.
    pub unread: u64,
    /// The state of the collector; `None` if the module does not name the variable that holds it.
    pub collector: Option<CollectorState>,
    /// Pinned objects by class name, most first, then by name.
    pub pinned: Vec<(String, u64)>,
}

/// The collector works in steps; a dump can be taken between any two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectorState {
    /// Between two cycles.
    Idle,
    /// Following references.
    Marking,
    /// Freeing unreachable objects, one object per step.
    Sweeping,
}

impl CollectorState {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Marking => "marking",
            Self::Sweeping => "sweeping",
        }
    }
}

/// Live bytes by the first kind of root that reaches an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveBytes {
    /// Reached from a global variable.
    pub global: u64,
    /// Reached from the shadow stack, but from no global.
    pub stack: u64,
    /// Reached from pinned objects only.
    pub pinned: u64,
}

/// Free blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBlocks {
    /// All of them.
    pub bytes: u64,
    /// Their number.
    pub blocks: u64,
    /// The largest.
    pub largest: u64,
}

impl FreeBlocks {
    /// How much of the free space is not in its largest block: 0 if all is in one piece.
    pub fn fragmentation(self) -> f64 {
        match self.bytes {
            0 => 0.0,
            bytes => 1.0 - self.largest as f64 / bytes as f64,
        }
    }
}

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
    pub(super) fn add_walk(&mut self, memory: Memory<'_>, allocator: Allocator, walk: &Walk) {
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

impl Heap {
    pub(super) fn account(&mut self, totals: BlockTotals, collector: Option<CollectorState>) {
        let managed = self.objects.heap_bytes();
        let mut live = LiveBytes::default();
        for (root, tops) in self.dominators.trees() {
            let kind = self
                .roots
                .binary_search_by_key(&root, |&(object, _)| object);
            let bytes = tops.map(|top| self.retained_size(top)).sum::<u64>();
            match kind.map(|at| self.roots[at].1) {
                Ok(RootKind::Stack) => live.stack += bytes,
                Ok(RootKind::Pinned) => live.pinned += bytes,
                Ok(RootKind::Global | RootKind::System) | Err(_) => live.global += bytes,
            }
        }
        self.live_size = live.global + live.stack + live.pinned;

        let mut counts = vec![0u64; self.objects.classes.len()];
        for &object in &self.objects.pinned {
            counts[self.objects.class_slots[object.at()] as usize] += 1;
        }
        let classes = self
            .objects
            .classes
            .iter()
            .zip(counts)
            .filter(|&(_, count)| count > 0);
        let mut pinned: Vec<_> = classes
            .map(|(class, count)| (class.name.clone(), count))
            .collect();
        pinned.sort_unstable_by(|left, right| {
            right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0))
        });

        self.accounting = Some(Accounting {
            live,
            garbage: managed - self.live_size,
            raw: totals.used - managed,
            free: totals.free,
            overhead: totals.overhead,
            gaps: totals.gaps,
            unread: totals.unread,
            collector,
            pinned,
        });
    }
}
