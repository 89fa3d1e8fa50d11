//! Questions about a loaded heap: why an object is alive, what it keeps alive, which reference to cut.
//!
//! A [`LoadedHeap`] is opened once. It [answers](LoadedHeap::ask)
//! any [`Question`], from several threads at a time, as a typed [`Answer`]. Indexes that several questions
//! need are built by the first of them, and kept.

mod accounting;
mod after_return;
mod allocation_sites;
mod answer;
mod dominators;
mod find;
mod glob;
mod growth;
mod labels;
mod largest_children;
mod lazy;
mod merged;
mod object;
mod path_text;
mod paths;
mod places;
mod question;
mod referrers;
mod report;
mod sites;
mod summary;
mod suspect_growth;
mod suspect_text;
mod suspects;
mod unreachable;
mod waste;

use std::sync::Arc;

pub use accounting::{AccountingJson, FreeJson, LiveJson, PinnedJson};
pub use allocation_sites::{AllocationSite, AllocationSites, SampledBlocks};
pub use answer::*;
pub use growth::{Accepted, CheckOptions, GrowthOptions, MaxGrowth, MaxObjects, check, growth};
pub(crate) use labels::after_class;
pub(crate) use path_text::{LEFT_OUT, PathText, SEPARATOR, fingerprint};
pub use question::Question;
pub use sites::SiteTable;

use after_return::AfterReturn;
use largest_children::LargestChildren;
use lazy::Lazy;
use question::{Page, PathTarget};

use crate::columns;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::heap::{
    Cuts, DominatorIndex, Heap, Need, ObjectReader, Opened, PathTree, ReadOrder, ReferrerIndex,
    RootSlots, Source,
};
use crate::side_by_side::side_by_side;
use crate::units::ObjectIndex;
use crate::views::{ComparisonSort, ComparisonView, Selection};
use crate::warning::Warning;

/// A heap that was opened for questions.
pub struct LoadedHeap {
    heap: Arc<Heap>,
    /// Every place from which the collector starts.
    roots: RootSlots,
    /// The name of the dump in messages.
    dump_name: String,
    source: Box<dyn Source>,
    dominators: Lazy<DominatorIndex>,
    largest_children: LargestChildren,
    referrers: Lazy<ReferrerIndex>,
    cuts: Lazy<Cuts>,
    paths: Lazy<PathTree>,
    after_return: Lazy<AfterReturn>,
}

impl std::fmt::Debug for LoadedHeap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedHeap")
            .field("heap", &self.heap)
            .finish_non_exhaustive()
    }
}

impl LoadedHeap {
    /// Takes a heap, and the name of the input.
    pub fn new(opened: Opened, dump_name: &str) -> Self {
        let (dominators, referrers, paths) = match opened.indexes {
            Some(indexes) => (
                Lazy::of(indexes.dominators),
                Lazy::of(indexes.referrers),
                Lazy::of(indexes.paths),
            ),
            None => Default::default(),
        };
        Self {
            heap: opened.heap,
            roots: opened.roots,
            dump_name: dump_name.to_owned(),
            source: opened.source,
            dominators,
            largest_children: LargestChildren::default(),
            referrers,
            cuts: Lazy::default(),
            paths,
            after_return: Lazy::default(),
        }
    }

    /// Where the heap comes from.
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// Reads single objects.
    fn reader(&self) -> Box<dyn ObjectReader + '_> {
        self.source.reader(ReadOrder::Any)
    }

    /// The heap, for views.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    /// The name of the dump in messages: a path, or the name of an argument.
    pub fn dump_name(&self) -> &str {
        &self.dump_name
    }

    /// The size of the heap and of the indexes built so far, in bytes. Copies of the dump are not counted.
    pub fn memory_size(&self) -> u64 {
        let dominators = self.dominators.ready().map(DominatorIndex::memory_size);
        let referrers = self.referrers.ready().map(ReferrerIndex::memory_size);
        let cuts = self.cuts.ready().map(Cuts::memory_size);
        let paths = self.paths.ready().map(PathTree::memory_size);
        let indexes = [dominators, referrers, cuts, paths].into_iter().flatten();
        let names = self.source.memory_size();
        self.heap.memory_size() + names + indexes.sum::<u64>() + self.largest_children.memory_size()
    }

    /// The reasons why numbers may be wrong.
    pub fn warnings(&self) -> &[Warning] {
        &self.heap.warnings
    }

    /// Builds all indexes that questions share, so that the first questions do not wait for them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub fn prepare(&self, control: &Control) -> Result<()> {
        side_by_side(|| self.referrers(control), || self.path_tree(control))?;
        side_by_side(
            || self.cuts(control),
            || self.children_by_size(None, control),
        )?;
        Ok(())
    }

    /// Answers a question. Some compare with an earlier heap, `before`: `paths` to new objects, `suspects` of
    /// growth, and `report`.
    ///
    /// # Errors
    /// [`Error::NoObject`] for an address without an object, [`Error::UnknownClass`] for a class that no live
    /// object has, [`Error::InvalidOption`] for an invalid question, [`Error::DifferentModules`] for a report
    /// that compares two programs, [`Error::DumpChanged`] and [`Error::Io`] if the dump cannot be read again,
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub fn ask(
        &self,
        question: &Question,
        before: Option<&LoadedHeap>,
        control: &Control,
    ) -> Result<Answer> {
        control.check()?;
        let mut notes = Vec::new();
        let body = match question {
            Question::Summary {} => AnswerBody::Summary(self.summary()),
            Question::Find {
                class,
                min_size,
                contains,
                limit,
                offset,
            } => AnswerBody::Find(self.find(
                find::Wanted {
                    class: class.as_deref(),
                    min_size: *min_size,
                    contains: contains.as_deref(),
                },
                page(*offset, *limit)?,
                control,
            )?),
            Question::Object { address } => {
                AnswerBody::Object(Box::new(self.object(*address, &mut notes, control)?))
            }
            Question::Dominators {
                address,
                by_class,
                limit,
                offset,
            } => {
                let page = page(*offset, *limit)?;
                self.dominated(*address, *by_class, page, &mut notes, control)?
            }
            Question::Referrers {
                address,
                limit,
                offset,
            } => {
                let page = page(*offset, *limit)?;
                AnswerBody::Referrers(self.referrers_of(*address, page, &mut notes, control)?)
            }
            Question::Suspects { threshold, limit } => {
                let limit = page(0, *limit)?.end();
                AnswerBody::Suspects(self.suspects(*threshold, before, limit, control)?)
            }
            Question::Waste { limit, offset } => {
                let page = page(*offset, *limit)?;
                AnswerBody::Waste(self.waste(page, &mut notes, control)?)
            }
            Question::Unreachable { max_nodes, limit } => {
                self.source.check(Need::Garbage)?;
                let limit = page(0, *limit)?.end();
                AnswerBody::Unreachable(self.unreachable(*max_nodes, limit, &mut notes, control)?)
            }
            Question::Report {} => {
                AnswerBody::Report(Box::new(self.report(before, &mut notes, control)?))
            }
            Question::Paths {
                objects,
                class,
                new_since,
                limit,
            } => {
                let target = PathTarget::of(objects.as_deref(), class.as_deref(), *new_since)?;
                let limit = page(0, *limit)?.end();
                self.paths_of(&target, before, limit, &mut notes, control)?
            }
        };
        let mut warnings = match before {
            Some(before) => self.warnings_beside(before),
            None => self.warnings().iter().map(Into::into).collect(),
        };
        warnings.extend(notes.iter().map(WarningText::from));
        let is_partial =
            self.heap.is_partial || before.is_some_and(|before| before.heap.is_partial);
        Ok(Answer::new(body, is_partial, warnings).with_addresses(self.heap.address_form))
    }

    /// The warnings of an earlier heap and of this one. Each names its dump.
    pub fn warnings_beside(&self, before: &Self) -> Vec<WarningText> {
        let names = match before.dump_name == self.dump_name {
            true => ["before", "after"],
            false => [before, self].map(|heap| heap.dump_name.as_str()),
        };
        let heaps = names.into_iter().zip([before, self]);
        let warnings = heaps.flat_map(|(dump, heap)| {
            let warnings = heap.warnings().iter();
            warnings.map(|warning| WarningText::from(warning).in_dump(dump))
        });
        let mut warnings: Vec<WarningText> = warnings.collect();
        if self.is_same_module(before)
            && let [Some(earlier_size), Some(size)] =
                [before, self].map(|heap| heap.heap.total_size)
            && size < earlier_size
        {
            let shrank = Warning::MemoryShrank {
                before: earlier_size,
                after: size,
            };
            warnings.push(WarningText::from(&shrank));
        }
        warnings
    }

    fn paths_of(
        &self,
        target: &PathTarget<'_>,
        before: Option<&LoadedHeap>,
        limit: usize,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<AnswerBody> {
        let set = match *target {
            PathTarget::Object(address) => {
                let path = self.path_answer(address, limit, notes, control)?;
                return Ok(AnswerBody::Path(Box::new(path)));
            }
            PathTarget::Objects(addresses) => self.set_of_addresses(addresses, notes, control)?,
            PathTarget::Class(pattern) => self.set_of_class(pattern, control)?,
            PathTarget::NewSince(class) => match before {
                Some(before) => self.set_of_new(before, class, control)?,
                None => {
                    return Err(Error::InvalidOption {
                        name: "newSince",
                        found: "no earlier heap".to_owned(),
                        expected: "an earlier heap of the same module beside the question",
                    });
                }
            },
        };
        let paths = self.merged_paths(set, limit, control)?;
        Ok(AnswerBody::MergedPaths(paths))
    }

    /// Refuses a comparison of addresses of two programs with `after`.
    ///
    /// # Errors
    /// [`Error::DifferentModules`], [`Error::DumpWithSnapshot`].
    pub fn check_same_module(&self, after: &Self) -> Result<()> {
        if self.is_same_module(after) {
            return Ok(());
        }
        let [before, later] = [self, after].map(|heap| heap.dump_name.as_str());
        let reason = self.source.not_comparable(before, later);
        let reason = reason.or_else(|| after.source.not_comparable(later, before));
        Err(reason.unwrap_or_else(|| Error::DifferentModules {
            before: before.to_owned(),
            after: later.to_owned(),
        }))
    }

    /// The comparison view with an earlier heap of the same module.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub fn compared_with(
        &self,
        before: &Self,
        selection: Selection<ComparisonSort>,
        control: &Control,
    ) -> Result<ComparisonView> {
        let earlier = match before.source.like(&*self.source, control)? {
            Some(earlier) => Arc::new(earlier),
            None => Arc::clone(&before.heap),
        };
        ComparisonView::new(earlier, Arc::clone(&self.heap), selection, control)
    }

    /// Whether both heaps are of one module. Only then can their addresses be compared.
    pub fn is_same_module(&self, other: &Self) -> bool {
        self.source.program() == other.source.program()
    }

    pub(crate) fn dominator_index(&self, control: &Control) -> Result<&DominatorIndex> {
        self.dominators
            .get(|| DominatorIndex::new(&self.heap, control))
    }

    fn referrers(&self, control: &Control) -> Result<&ReferrerIndex> {
        let live = self.dominator_index(control)?;
        self.referrers.get(|| {
            ReferrerIndex::new(
                &self.heap.edges,
                |object| live.position(object).is_some(),
                control,
            )
        })
    }

    fn cuts(&self, control: &Control) -> Result<&Cuts> {
        let live = self.dominator_index(control)?;
        let referrers = self.referrers(control)?;
        self.cuts
            .get(|| Cuts::new(live, referrers, &self.roots, control))
    }

    pub(crate) fn path_tree(&self, control: &Control) -> Result<&PathTree> {
        self.paths
            .get(|| PathTree::new(&self.heap.objects, &self.heap.edges, &self.roots, control))
    }

    /// Every place from which the collector starts.
    pub(crate) fn root_slots(&self) -> &RootSlots {
        &self.roots
    }

    pub(crate) fn class_name(&self, object: ObjectIndex) -> &str {
        &self.heap.objects.class_of(object).name
    }

    fn object_name(&self, object: ObjectIndex) -> ObjectName {
        ObjectName {
            address: self.heap.address(object).0,
            class_name: self.class_name(object).to_owned(),
        }
    }

    /// The slots of the classes whose names match the pattern; without a pattern, the slots of all classes,
    /// even if there are none.
    fn class_slots(&self, pattern: Option<&str>) -> Result<Vec<bool>> {
        let classes = &self.heap.objects.classes;
        let Some(pattern) = pattern else {
            return columns::repeated(true, classes.len());
        };
        let slots: Vec<bool> = classes
            .iter()
            .map(|class| glob::matches(pattern, &class.name))
            .collect();
        if !slots.contains(&true) {
            let names = classes.iter().map(|class| class.name.as_str());
            return Err(Error::UnknownClass {
                pattern: pattern.to_owned(),
                nearest: glob::nearest(pattern, names),
            });
        }
        Ok(slots)
    }
}

fn page(offset: u64, limit: u64) -> Result<Page> {
    match limit {
        0 => Err(Error::InvalidOption {
            name: "limit",
            found: "0".to_owned(),
            expected: "a whole number of at least 1",
        }),
        limit => Ok(Page { offset, limit }),
    }
}
