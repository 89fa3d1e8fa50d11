//! The references between blocks. They are conservative: every word that is an address in a block may be one.
//!
//! Each thread scans a run of blocks into a separate buffer. The buffers are then appended in address order, and reused.

use rayon::prelude::*;

use crate::warning::NativeWarning;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use base::warning::Warning;
use dumps::Memory;
use heap::{EdgeLabel, Edges};

use crate::allocator::UsedBlocks;
use crate::block_index::BlockIndex;

/// Blocks that one task scans.
const CHUNK: usize = 1 << 12;
/// The number of runs that a thread scans before the results are appended.
const CHUNKS_PER_THREAD: usize = 8;

/// The references out of all blocks.
pub(crate) struct FoundReferences {
    /// Without labels.
    pub(crate) edges: Edges,
    /// By reference, the number of its word, counted from the start of its block; empty if they are not wanted.
    pub(crate) words: Vec<u32>,
    /// The warning that most memory is in blocks that another allocator divides.
    pub(crate) nested: Option<Warning>,
}

impl FoundReferences {
    /// The labels of the references. `label` gets a block and the number of a word.
    pub(crate) fn labels(&self, label: impl Fn(usize, u32) -> EdgeLabel) -> Result<Vec<u16>> {
        let mut labels = columns::with_capacity(self.words.len())?;
        for block in 0..self.edges.object_count() {
            let range = self.edges.range(ObjectIndex(block as u32));
            let words = self.words.get(range.start as usize..range.end as usize);
            let words = words.into_iter().flatten();
            labels.extend(words.map(|&word| label(block, word).narrow()));
        }
        Ok(labels)
    }
}

/// Blocks that refer to themselves as the memory of another allocator does.
#[derive(Default)]
struct Arenas {
    count: u64,
    size: u64,
    first: Option<Address>,
}

impl Arenas {
    const SMALLEST: u32 = 1 << 16;

    /// Counts a block if more of its words refer into the block than chance explains.
    fn add(&mut self, address: u32, usable: u32, own_words: u64) {
        let words = u64::from(usable) / 4;
        let by_chance = (words * u64::from(usable)) >> 32;
        if usable >= Self::SMALLEST && own_words > 64 + 4 * by_chance {
            self.count += 1;
            self.size += u64::from(usable);
            self.first = self.first.or(Some(Address(address)));
        }
    }

    fn append(&mut self, later: &Self) {
        self.count += later.count;
        self.size += later.size;
        self.first = self.first.or(later.first);
    }

    fn warning(&self, walk: &UsedBlocks) -> Option<Warning> {
        let used: u64 = walk.usable.iter().map(|&usable| u64::from(usable)).sum();
        let first = self.first.filter(|_| self.size * 2 > used)?;
        Some(
            NativeWarning::NestedAllocator {
                count: self.count,
                size: self.size,
                first,
            }
            .into(),
        )
    }
}

/// The references out of a run of blocks.
#[derive(Default)]
struct Run {
    targets: Vec<ObjectIndex>,
    words: Vec<u32>,
    /// The end of the targets of each block.
    ends: Vec<u32>,
    arenas: Arenas,
}

/// What all tasks share.
struct Scan<'a> {
    memory: Memory<'a>,
    walk: &'a UsedBlocks,
    index: &'a BlockIndex<'a>,
    step: Step<'a>,
}

impl Run {
    /// Scans these blocks; with the numbers of the words, or without.
    fn scan<const NUMBERED: bool>(
        &mut self,
        scan: &Scan<'_>,
        blocks: std::ops::Range<usize>,
    ) -> Result<()> {
        self.targets.clear();
        self.words.clear();
        self.ends.clear();
        self.arenas = Arenas::default();
        let count = blocks.len();
        let mut work = 0;
        for nth in blocks {
            let (address, usable) = (scan.walk.addresses[nth], scan.walk.usable[nth]);
            let words = scan.memory.words_at(Address(address), usable / 4);
            let mut own_words = 0;
            for (position, word) in words.into_iter().flatten().enumerate() {
                let Some(target) = scan.index.around(word) else {
                    continue;
                };
                // A block does not keep itself.
                if target.at() == nth {
                    own_words += u64::from(word.is_multiple_of(4));
                    continue;
                }
                columns::push(&mut self.targets, target)?;
                if NUMBERED {
                    columns::push(&mut self.words, position as u32)?;
                }
            }
            self.arenas.add(address, usable, own_words);
            columns::push(&mut self.ends, self.targets.len() as u32)?;
            work += u64::from(usable) / 64 + 1;
            if work >= CHECK_INTERVAL as u64 {
                scan.step.control().count(std::mem::take(&mut work))?;
            }
        }
        scan.step.control().count(work)?;
        scan.step.advance(count as u64)
    }
}

/// Finds the references; with the numbers of their words, if these are wanted.
pub(crate) fn find(
    memory: Memory<'_>,
    walk: &UsedBlocks,
    index: &BlockIndex<'_>,
    wants_words: bool,
    control: &Control,
) -> Result<FoundReferences> {
    let count = walk.addresses.len();
    let scan = Scan {
        memory,
        walk,
        index,
        step: control.begin(Phase::References, count as u64),
    };
    let mut offsets = columns::with_capacity(count + 1)?;
    let (mut targets, mut numbers) = (Vec::new(), Vec::new());
    let mut arenas = Arenas::default();
    offsets.push(0);
    let mut runs: Vec<Run> = Vec::new();
    runs.resize_with(
        rayon::current_num_threads() * CHUNKS_PER_THREAD,
        Run::default,
    );
    for first in (0..count).step_by(CHUNK * runs.len()) {
        runs.par_iter_mut().enumerate().try_for_each(|(nth, run)| {
            let start = (first + nth * CHUNK).min(count);
            let blocks = start..(start + CHUNK).min(count);
            if wants_words {
                run.scan::<true>(&scan, blocks)
            } else {
                run.scan::<false>(&scan, blocks)
            }
        })?;
        for run in &runs {
            let before = targets.len() as u32;
            columns::extend(&mut targets, &run.targets)?;
            columns::extend(&mut numbers, &run.words)?;
            offsets.extend(run.ends.iter().map(|&end| before + end));
            arenas.append(&run.arenas);
        }
    }
    Ok(FoundReferences {
        edges: Edges::with_narrow_labels(offsets, targets, Vec::new()),
        words: numbers,
        nested: arenas.warning(walk),
    })
}
