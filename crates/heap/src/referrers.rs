//! Reverse references: the objects that refer to an object. Only live objects count, because garbage keeps
//! nothing alive.

use super::edges::Edges;
use super::prefetch::prefetch;
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// The live references to every object, in compressed sparse rows.
#[derive(Debug)]
pub struct ReferrerIndex {
    /// Object → the start of its referrers in `sources`; one more entry for the end.
    starts: Vec<u32>,
    /// By target, then ascending. Two references from one object are two entries.
    sources: Vec<ObjectIndex>,
}

impl ReferrerIndex {
    /// The size of the index in bytes.
    pub fn memory_size(&self) -> u64 {
        ((self.starts.capacity() + self.sources.capacity()) * size_of::<u32>()) as u64
    }

    /// Reverses the references of all live objects.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(
        edges: &Edges,
        is_live: impl Fn(ObjectIndex) -> bool + Sync,
        control: &Control,
    ) -> Result<Self> {
        let count = edges.object_count();
        let objects = || (0..count as u32).map(ObjectIndex);
        let step = control.begin(Phase::View, 2 * count as u64);
        // The references to an object are counted two entries after its own entry. After all sources are
        // filled in, `starts` is then correct.
        let mut starts = columns::zeros::<u32>(count + 2)?;
        let live = Bits::of(count as u32, |number| is_live(ObjectIndex(number)), control)?;
        for object in objects() {
            if live.contains(object.0) {
                for &target in edges.targets(object) {
                    starts[target.at() + 2] += 1;
                }
            }
            if object.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut sources = columns::zeros::<ObjectIndex>(sum as usize)?;
        for object in objects() {
            if live.contains(object.0) {
                for &target in edges.targets(object) {
                    let next = &mut starts[target.at() + 1];
                    sources[*next as usize] = object;
                    *next += 1;
                }
            }
            if object.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
        }
        Ok(Self { starts, sources })
    }

    /// Asks for the memory in which [`of`](Self::of) finds the referrers.
    #[inline]
    pub fn prefetch(&self, object: ObjectIndex) {
        prefetch(&self.starts, object.0);
    }

    /// The live objects that refer to this one, ascending, once for each reference.
    #[inline]
    pub fn of(&self, object: ObjectIndex) -> &[ObjectIndex] {
        let start = self.starts[object.at()] as usize;
        let end = self.starts[object.at() + 1] as usize;
        &self.sources[start..end]
    }
}
