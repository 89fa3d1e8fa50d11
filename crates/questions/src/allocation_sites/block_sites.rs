//! Which line allocated each block, by a profile of the same moment that recorded every allocation.

use super::SampledBlocks;
use super::sampled::{BlockMatch, matched};
use crate::QuestionError;
use crate::lacking::require;
use crate::warning::QuestionWarning;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::frame::Frame;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{Heap, NO_ALLOCATION, Source};

/// The lines that allocated the blocks of a heap, and how many bytes they asked for.
pub(crate) struct BlockSites {
    places: Vec<Frame>,
    /// By object: the number of its place, or [`NO_ALLOCATION`].
    place_of: Vec<u32>,
    /// By object: the bytes that were asked for.
    requested: Vec<u32>,
}

impl BlockSites {
    /// Joins a heap with a profile; with a warning if they do not have the same blocks.
    ///
    /// # Errors
    /// [`QuestionError::Profile`] for a profile that recorded some allocations only;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(crate) fn new(
        heap: &Heap,
        source: &dyn Source,
        sampled: &SampledBlocks,
        control: &Control,
    ) -> Result<(Self, Option<Warning>)> {
        require(source, "sites", source.facts().lacks.blocks)?;
        if sampled.interval != 1 {
            return Err(QuestionError::Profile {
                message: format!(
                    "it recorded one allocation in {} bytes: expected a profile with the interval 1, which names the \
                     line of every block",
                    sampled.interval
                ),
            }
            .into());
        }
        let step = control.begin(Phase::View, sampled.blocks.len() as u64);
        let mut sites = Self {
            places: sampled.places.clone(),
            place_of: columns::repeated(NO_ALLOCATION, heap.objects.len())?,
            requested: columns::zeros(heap.objects.len())?,
        };
        let (mut only_in_profile, mut matching) = (0u64, 0u64);
        for block in sampled.blocks.chunks_exact(3) {
            let &[address, size, place] = block else {
                continue;
            };
            step.advance(3)?;
            match matched(heap, source, address, size) {
                BlockMatch::Object(object) => {
                    matching += 1;
                    sites.place_of[object.at()] = place;
                    sites.requested[object.at()] = size;
                }
                BlockMatch::OtherSize | BlockMatch::Missing => only_in_profile += 1,
            }
        }
        let live: u64 = heap.live_classes.iter().map(|class| class.count).sum();
        let only_in_dump = live.saturating_sub(matching);
        let differs = only_in_profile + only_in_dump > 0;
        let warning = differs.then_some(
            QuestionWarning::ProfileDiffers {
                matching,
                only_in_profile,
                only_in_dump,
            }
            .into(),
        );
        Ok((sites, warning))
    }

    /// The line that allocated an object.
    pub(crate) fn place(&self, object: ObjectIndex) -> Option<&Frame> {
        self.places.get(self.place_of[object.at()] as usize)
    }

    /// The bytes that it asked for.
    pub(crate) fn requested(&self, object: ObjectIndex) -> Option<u32> {
        self.place(object).map(|_| self.requested[object.at()])
    }

    /// The memory that it takes, in bytes.
    pub(crate) fn memory_size(&self) -> u64 {
        (self.place_of.capacity() + self.requested.capacity()) as u64 * 4
    }
}
