//! Dominators from any search whose tree leads from smaller numbers to greater ones.
//!
//! At first, each object is taken to be dominated by its parent in the tree. A reference that is not in the tree
//! is another way to its target: what dominates the target must be above both its source and what is known so far.
//! When no reference changes anything more, all are true: each path to an object was taken into account.
//!
//! In heaps whose search is broad this takes a few passes, in which the memory of many references is asked for at
//! the same time, and which all threads share. There are graphs for which it takes quadratic time, such as a long
//! list whose nodes share others. It is given up for these, and the depth-first search has to find the dominators.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use rayon::prelude::*;

use super::broad_search::BroadTree;
use super::prefetch::prefetch;
use base::columns;
use base::control::Step;
use base::error::Result;

/// The references, or objects, that a thread takes at once.
const CHUNK: usize = 1 << 12;
/// How many references in advance the memory of their targets is prefetched, then that of what is above these, and of
/// what is above that.
const TARGETS_AHEAD: usize = 32;
const ABOVE_AHEAD: usize = 16;
const ABOVE_THAT_AHEAD: usize = 8;
/// How many steps to an object above may be taken per object and reference.
const MOST_STEPS: usize = 40;

impl BroadTree {
    /// By number: the immediate dominator, whose number is smaller. Nothing if finding them takes too long.
    pub(super) fn find_dominators(&self, step: &Step<'_>) -> Result<Option<Vec<u32>>> {
        let mut dominators = columns::with_capacity(self.parents.len())?;
        dominators.par_extend(self.parents.par_iter().copied().map(AtomicU32::new));
        let budget = MOST_STEPS * (self.parents.len() + self.others.len());
        let refinement = Refinement {
            dominators: &dominators,
            has_changed: AtomicBool::new(!self.others.is_empty()),
            taken: AtomicU64::new(0),
            budget: budget as u64,
            step,
        };
        while refinement.has_changed.swap(false, Ordering::Relaxed) {
            refinement.follow_others(&self.others)?;
            refinement.follow_tree(&self.parents)?;
            if refinement.is_exhausted() {
                return Ok(None);
            }
        }
        // The same memory.
        let dominators = dominators.into_iter().map(AtomicU32::into_inner);
        Ok(Some(dominators.collect()))
    }
}

/// The threads read what others write at the same time. They see one of the numbers that were there at some time, all
/// of which are true dominators of the object or below these.
struct Refinement<'r> {
    dominators: &'r [AtomicU32],
    has_changed: AtomicBool,
    /// The steps to objects above.
    taken: AtomicU64,
    budget: u64,
    step: &'r Step<'r>,
}

impl Refinement<'_> {
    fn is_exhausted(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.budget
    }

    fn follow_others(&self, others: &[[u32; 2]]) -> Result<()> {
        others.par_chunks(CHUNK).try_for_each(|chunk| {
            let mut chunk_work = ChunkRefinement::new(self);
            for (nth, &[source, target]) in chunk.iter().enumerate() {
                let target_ahead = |count: usize| chunk.get(nth + count).map(|&[_, target]| target);
                if let Some(ahead) = target_ahead(TARGETS_AHEAD) {
                    prefetch(self.dominators, ahead);
                }
                if let Some(ahead) = target_ahead(ABOVE_AHEAD) {
                    prefetch(self.dominators, chunk_work.above(ahead));
                }
                if let Some(ahead) = target_ahead(ABOVE_THAT_AHEAD) {
                    let above = chunk_work.above(ahead);
                    prefetch(self.dominators, chunk_work.above(above));
                }
                chunk_work.refine(source, target);
            }
            chunk_work.finish(chunk.len())
        })
    }

    /// An object above a parent may not dominate the parent any more.
    fn follow_tree(&self, parents: &[u32]) -> Result<()> {
        let chunks = parents.par_chunks(CHUNK).enumerate();
        chunks.try_for_each(|(nth, chunk)| {
            let mut chunk_work = ChunkRefinement::new(self);
            for (target, &parent) in (nth * CHUNK..).zip(chunk) {
                chunk_work.refine(parent, target as u32);
            }
            chunk_work.finish(chunk.len())
        })
    }
}

/// The work of one thread on a chunk.
struct ChunkRefinement<'r> {
    refinement: &'r Refinement<'r>,
    has_changed: bool,
    taken: u64,
}

impl<'r> ChunkRefinement<'r> {
    fn new(refinement: &'r Refinement<'r>) -> Self {
        Self {
            refinement,
            has_changed: false,
            taken: 0,
        }
    }

    #[inline]
    fn above(&self, number: u32) -> u32 {
        self.refinement.dominators[number as usize].load(Ordering::Relaxed)
    }

    /// Makes the dominator of a target one that is also above this source.
    #[inline]
    fn refine(&mut self, source: u32, target: u32) {
        let known = self.above(target);
        let [mut one, mut other] = [known, source];
        while one != other && self.taken <= self.refinement.budget {
            if one < other {
                other = self.above(other);
            } else {
                one = self.above(one);
            }
            self.taken += 1;
        }
        if one == other && one < known {
            // Of two threads, the one with the smaller number is right.
            let dominator = &self.refinement.dominators[target as usize];
            dominator.fetch_min(one, Ordering::Relaxed);
            self.has_changed = true;
        }
    }

    /// Ends the work on a chunk of this many references.
    fn finish(self, length: usize) -> Result<()> {
        let Self {
            refinement,
            has_changed,
            taken,
        } = self;
        if has_changed {
            refinement.has_changed.store(true, Ordering::Relaxed);
        }
        refinement.taken.fetch_add(taken, Ordering::Relaxed);
        refinement.step.advance(length as u64 + taken)
    }
}
