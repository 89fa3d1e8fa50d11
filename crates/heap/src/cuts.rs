//! Finds the reference to cut. A reference u → v is independent if v does not dominate u: v then stays
//! reachable through it when all other references to v are cut. If an object has exactly one independent
//! reference, cutting it frees the object and everything that the object dominates.

use super::dominator_index::DominatorIndex;
use super::referrers::ReferrerIndex;
use super::root_slots::RootSlots;
use base::bits::Bits;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// The live objects with exactly one independent reference, by position in the dominator tree.
#[derive(Debug)]
pub struct Cuts(Bits);

impl Cuts {
    /// The size of the index in bytes.
    pub fn memory_size(&self) -> u64 {
        size_of_val(self.0.words()) as u64
    }

    /// Examines all references of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(
        dominators: &DominatorIndex,
        referrers: &ReferrerIndex,
        roots: &RootSlots,
        control: &Control,
    ) -> Result<Self> {
        let count = dominators.len();
        let _step = control.begin(Phase::View, count as u64);
        // The position of every object that a root refers to, once for each such root.
        let mut from_roots = columns::with_capacity(roots.all().len())?;
        let mut is_rooted = Bits::new(count)?;
        for slot in roots.all() {
            if let Some(position) = dominators.position(slot.object) {
                from_roots.push(position);
                is_rooted.insert(position);
            }
        }
        from_roots.sort_unstable();
        let roots_of = |position| {
            let first = from_roots.partition_point(|&rooted| rooted < position);
            let rooted = from_roots[first..].iter();
            rooted.take_while(move |&&rooted| rooted == position)
        };
        let has_one = |position| {
            let object = dominators.object(position);
            let sources = referrers.of(object).iter();
            let independent = sources.filter(|&&source| !dominators.dominates(object, source));
            // Counting to two is enough.
            let count = independent.take(2).count();
            if is_rooted.contains(position) {
                count + roots_of(position).take(2).count() == 1
            } else {
                count == 1
            }
        };
        Ok(Self(Bits::of(count as u32, has_one, control)?))
    }

    /// The nearest dominator of a live object, or the object, with exactly one independent reference.
    pub fn nearest(&self, dominators: &DominatorIndex, object: ObjectIndex) -> Option<ObjectIndex> {
        let first = dominators.position(object);
        let mut chain = std::iter::successors(first, |&position| dominators.dominator(position));
        let nearest = chain.find(|&position| self.0.contains(position))?;
        Some(dominators.object(nearest))
    }
}
