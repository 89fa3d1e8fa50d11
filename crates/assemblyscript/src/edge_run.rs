//! The references that one task finds, object by object, and what all tasks share.

use std::sync::atomic::{AtomicU64, Ordering};

use super::reference_types::{ANY, ReferenceTypes, TypeNumber};
use crate::AssemblyScriptError;
use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use heap::{EdgeLabel, ObjectTable};

/// How often every word of memory may be read. Once is enough for an undamaged heap, in which every buffer
/// belongs to one container; objects of unknown classes may share buffers.
const READS_PER_WORD: u64 = 16;

/// Words after which to report.
const REPORT: usize = 1 << 14;

/// What all tasks share.
pub(super) struct SharedByTasks<'a> {
    pub(super) objects: &'a ObjectTable,
    /// The declared types of the references.
    pub(super) types: ReferenceTypes,
    /// The largest possible number of references.
    pub(super) limit: u64,
    /// Words of buffers that were read, as far as reported.
    pub(super) words_read: AtomicU64,
    /// References in buffers, as far as reported.
    pub(super) targets_found: AtomicU64,
    pub(super) step: Step<'a>,
}

/// Objects that do not fit the descriptions of their classes, each list ascending.
#[derive(Debug, Default)]
pub(super) struct Anomalies {
    /// Objects whose contents are partly outside their buffers.
    pub(super) misfits: Vec<ObjectIndex>,
    /// Objects that cannot have exactly the fields of their class.
    pub(super) with_other_fields: Vec<ObjectIndex>,
    /// Objects with a reference that is neither null nor to an object that can be there.
    pub(super) with_false_references: Vec<ObjectIndex>,
    /// Objects on which the visitor of their class could not be run.
    pub(super) not_visited: Vec<ObjectIndex>,
}

impl Anomalies {
    /// Appends the lists of later objects.
    pub(super) fn append(&mut self, later: &Self) -> Result<()> {
        columns::extend(&mut self.misfits, &later.misfits)?;
        columns::extend(&mut self.not_visited, &later.not_visited)?;
        columns::extend(&mut self.with_other_fields, &later.with_other_fields)?;
        columns::extend(
            &mut self.with_false_references,
            &later.with_false_references,
        )
    }

    fn clear(&mut self) {
        self.misfits.clear();
        self.with_other_fields.clear();
        self.with_false_references.clear();
        self.not_visited.clear();
    }
}

/// The results of a task, object by object.
#[derive(Default)]
pub(super) struct EdgeRun {
    /// The targets, and room for more.
    targets: Vec<ObjectIndex>,
    /// How many targets there are.
    count: usize,
    /// As many as targets, if labels are wanted.
    pub(super) labels: Vec<u16>,
    /// The end of each object's targets.
    pub(super) ends: Vec<u32>,
    pub(super) anomalies: Anomalies,
    /// Whether a followed word is neither 0 nor the address of an object that can be there, since this was last
    /// reset.
    pub(super) has_false_reference: bool,
    /// The words that it read in buffers since its last report.
    words_read: u64,
    /// The number of targets at the last report.
    reported_targets: usize,
}

impl EdgeRun {
    /// Begins again without references.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.labels.clear();
        self.ends.clear();
        self.anomalies.clear();
        self.reported_targets = 0;
    }

    pub(super) fn targets(&self) -> &[ObjectIndex] {
        &self.targets[..self.count]
    }

    /// Where the targets of the next object begin.
    #[inline]
    pub(super) fn end(&self) -> u32 {
        self.count as u32
    }

    /// Must be called before this number of words is followed: no more targets are kept. Gets memory for them, which
    /// can fail.
    #[inline]
    pub(super) fn make_room<const LABELLED: bool>(&mut self, words: usize) -> Result<()> {
        if self.targets.len() - self.count < words {
            self.grow(words)?;
        }
        if LABELLED {
            columns::make_room(&mut self.labels, words)
        } else {
            Ok(())
        }
    }

    #[cold]
    fn grow(&mut self, words: usize) -> Result<()> {
        let length = self.count + words.max(self.count);
        let more = length - self.targets.len();
        columns::reserve(&mut self.targets, more)?;
        self.targets.resize(length, ObjectIndex(0));
        Ok(())
    }

    /// Adds the object to which a word refers, if it does.
    #[inline]
    pub(super) fn follow<const LABELLED: bool>(
        &mut self,
        shared: &SharedByTasks<'_>,
        word: u32,
        label: EdgeLabel,
        declared: TypeNumber,
    ) {
        if let Some(target) = shared.objects.index.get(Address(word)) {
            if declared != ANY {
                self.has_false_reference |= !shared.types.allows(declared, target, shared.objects);
            }
            // Into what is there: a vector that may grow costs more.
            if let Some(next) = self.targets.get_mut(self.count) {
                *next = target;
                self.count += 1;
                if LABELLED {
                    self.labels.push(label.narrow());
                }
            }
        } else if word != 0 {
            self.has_false_reference = true;
        }
    }

    /// Follows all words of a buffer.
    pub(super) fn follow_all<const LABELLED: bool>(
        &mut self,
        shared: &SharedByTasks<'_>,
        buffer: Memory<'_>,
        label: EdgeLabel,
        declared: TypeNumber,
    ) -> Result<()> {
        for piece in buffer.pieces(4 * REPORT) {
            self.will_read(shared, piece.size() / 4)?;
            self.make_room::<LABELLED>(piece.size() as usize / 4)?;
            for word in piece.words() {
                self.follow::<LABELLED>(shared, word, label, declared);
            }
        }
        Ok(())
    }

    /// Must be called before this number of words of a buffer is read. The number must be small.
    #[inline]
    pub(super) fn will_read(&mut self, shared: &SharedByTasks<'_>, words: u64) -> Result<()> {
        self.words_read += words;
        if self.words_read >= REPORT as u64 {
            self.report(shared)
        } else {
            Ok(())
        }
    }

    fn report(&mut self, shared: &SharedByTasks<'_>) -> Result<()> {
        let add = |total: &AtomicU64, more: u64| total.fetch_add(more, Ordering::Relaxed) + more;
        let words = add(&shared.words_read, std::mem::take(&mut self.words_read));
        let new_targets = self.count - self.reported_targets;
        self.reported_targets = self.count;
        let targets = add(&shared.targets_found, new_targets as u64);
        let limit = shared.limit;
        if words > limit * READS_PER_WORD || targets > limit {
            return Err(AssemblyScriptError::TooManyReferences { limit }.into());
        }
        shared.step.advance(0)
    }
}
