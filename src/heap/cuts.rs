//! Finds the reference to cut. A reference u → v is independent if v does not dominate u: v then stays
//! reachable through it when all other references to v are cut. If an object has exactly one independent
//! reference, cutting it frees the object and everything that the object dominates.

use rayon::prelude::*;

use super::dominator_index::DominatorIndex;
use super::referrers::ReferrerIndex;
use super::root_slots::RootSlots;
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::units::ObjectIndex;

/// For every live object, the nearest dominator, itself included, with exactly one independent reference.
#[derive(Debug)]
pub struct Cuts {
    /// Position in the dominator tree → one more than that of the nearest one; 0 if there is none.
    nearest: Vec<u32>,
}

impl Cuts {
    /// The size of the index in bytes.
    pub fn memory_size(&self) -> u64 {
        (self.nearest.capacity() * size_of::<u32>()) as u64
    }

    /// Examines all references of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Aborted`](crate::Error::Aborted).
    pub fn new(
        dominators: &DominatorIndex,
        referrers: &ReferrerIndex,
        roots: &RootSlots,
        control: &Control,
    ) -> Result<Self> {
        const CHUNK: usize = 1 << 16;
        let count = dominators.len();
        let step = control.begin(Phase::View, count as u64);
        let mut independent = columns::zeros::<u8>(count)?;
        independent
            .par_chunks_mut(CHUNK)
            .enumerate()
            .try_for_each(|(nth, counts)| {
                let first = nth * CHUNK;
                for (at, count) in counts.iter_mut().enumerate() {
                    let object = dominators.object((first + at) as u32);
                    let sources = referrers.of(object).iter();
                    let others = sources.filter(|&&source| !dominators.dominates(object, source));
                    // Counting to two is enough.
                    *count = others.take(2).count() as u8;
                }
                step.advance(counts.len() as u64)
            })?;
        for slot in roots.all() {
            if let Some(position) = dominators.position(slot.object) {
                let count = &mut independent[position as usize];
                *count = (*count + 1).min(2);
            }
        }
        let mut nearest = columns::zeros::<u32>(count)?;
        for position in 0..count as u32 {
            nearest[position as usize] = match independent[position as usize] {
                1 => position + 1,
                // Dominators come before the objects that they dominate.
                _ => dominators
                    .dominator(position)
                    .map_or(0, |dominator| nearest[dominator as usize]),
            };
        }
        Ok(Self { nearest })
    }

    /// The nearest dominator of a live object, or the object, with exactly one independent reference.
    pub fn nearest(&self, dominators: &DominatorIndex, object: ObjectIndex) -> Option<ObjectIndex> {
        let position = dominators.position(object)?;
        let nearest = self.nearest[position as usize].checked_sub(1)?;
        Some(dominators.object(nearest))
    }
}
