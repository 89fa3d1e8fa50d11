//! A heap that was opened for questions: the graph, where it comes from, and the indexes that several questions need,
//! which are built by the first of them.

mod after_return;
mod largest_children;
mod lazy;
mod reader;

use std::sync::Arc;

use crate::QuestionError;
use crate::allocation_sites::{BlockSites, SampledBlocks};
use crate::glob::{self, Glob};
use crate::lacking::not_in_heap;
pub(super) use after_return::AfterReturn;
use base::columns;
use base::control::Control;
use base::error::{Error, Result};
use base::frame::Frame;
use base::side_by_side::side_by_side;
use base::trap::Trap;
use base::units::{ObjectIndex, ShownAddress};
use base::warning::Warning;
use heap::views::{ComparisonSort, ComparisonView, Selection};
use heap::{
    Cuts, DominatorIndex, Heap, Opened, PathTree, ReadOrder, ReferrerIndex, RootSlots, Source,
};
use largest_children::LargestChildren;
use lazy::Lazy;
pub(crate) use reader::ReferenceReader;

/// A heap that was opened for questions.
pub struct LoadedHeap {
    pub(super) heap: Arc<Heap>,
    /// Every place from which the collector starts.
    pub(super) roots: RootSlots,
    /// The name of the dump in messages.
    pub(super) dump_name: String,
    pub(super) source: Box<dyn Source>,
    /// The trap at which the memory was taken.
    pub(super) trap: Option<Trap>,
    warnings: Vec<Warning>,
    /// Which line allocated each block, if there is a profile.
    sites: Option<BlockSites>,
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
            warnings: opened.heap.warnings.clone(),
            trap: None,
            sites: None,
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

    /// The same heap with what its container says beside the memory: the trap, and reasons why numbers may be wrong.
    pub fn with_origin(mut self, trap: Option<Trap>, warnings: Vec<Warning>) -> Self {
        self.trap = trap;
        self.warnings.extend(warnings);
        self
    }

    /// The same heap with a profile of the same moment, which names the line that allocated each block.
    ///
    /// # Errors
    /// [`QuestionError::Profile`] for a profile that recorded some allocations only; [`Error::OutOfMemory`],
    /// [`Error::Aborted`].
    pub fn with_profile(mut self, sampled: &SampledBlocks, control: &Control) -> Result<Self> {
        let (sites, warning) = BlockSites::new(&self.heap, self.source(), sampled, control)?;
        self.sites = Some(sites);
        self.warnings.extend(warning);
        Ok(self)
    }

    /// The line that allocated an object, if there is a profile.
    pub(crate) fn allocated_at(&self, object: ObjectIndex) -> Option<Frame> {
        self.sites.as_ref()?.place(object).cloned()
    }

    /// The bytes that the program asked for, if there is a profile.
    pub(crate) fn requested_size(&self, object: ObjectIndex) -> Option<u32> {
        self.sites.as_ref()?.requested(object)
    }

    /// Where the heap comes from.
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// Reads single objects.
    pub(super) fn reader(&self, control: &Control) -> ReferenceReader<'_> {
        ReferenceReader::new(self.source.reader(ReadOrder::Any, control))
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
        let names = names + self.sites.as_ref().map_or(0, BlockSites::memory_size);
        self.heap.memory_size() + names + indexes.sum::<u64>() + self.largest_children.memory_size()
    }

    /// The reasons why numbers may be wrong.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
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

    /// Refuses a comparison with `after` if one of the heaps has bytes of two kinds.
    ///
    /// # Errors
    /// `ERR_NOT_IN_JOINED` for heaps that were joined.
    pub(crate) fn check_comparable(&self, after: &Self) -> Result<()> {
        const REASON: &str =
            "it would add up the bytes of both heaps; ask it without the heap of the host";
        for heap in [self, after] {
            if heap.source.joined().is_some() {
                let question = "a comparison with an earlier heap";
                return Err(not_in_heap(&*heap.source, question, REASON));
            }
        }
        Ok(())
    }

    /// Refuses a comparison of addresses of two programs with `after`.
    ///
    /// # Errors
    /// [`QuestionError::DifferentModules`], [`QuestionError::DumpWithSnapshot`], [`QuestionError::NumberedAnew`];
    /// `ERR_NOT_IN_JOINED` for heaps that were joined.
    pub fn check_same_module(&self, after: &Self) -> Result<()> {
        self.check_comparable(after)?;
        if self.is_same_module(after) {
            return Ok(());
        }
        let [before, later] = [self, after].map(|heap| heap.dump_name.as_str());
        let with_module = [self, after].map(|heap| heap.source.facts().has_module);
        Err(match with_module {
            [true, false] => with_snapshot(before, later),
            [false, true] => with_snapshot(later, before),
            [false, false] => numbered_anew(before, later),
            _ => Error::from(QuestionError::DifferentModules {
                before: before.to_owned(),
                after: later.to_owned(),
            }),
        })
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
        let earlier = self.earlier_heap(before, control)?;
        ComparisonView::new(earlier, Arc::clone(&self.heap), selection, control)
    }

    /// An earlier heap of the same module with the classes that its objects have beside this one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub fn earlier_heap(&self, before: &Self, control: &Control) -> Result<Arc<Heap>> {
        let names = [before, self].map(|heap| heap.source.host_names());
        let earlier = match names {
            [Some(before), Some(later)] => {
                before.with_property_classes(later.property_classes(), control)?
            }
            _ => None,
        };
        Ok(earlier.map_or_else(|| Arc::clone(&before.heap), Arc::new))
    }

    /// The greatest number of an object, if objects keep their numbers. Those of V8 are odd and rise; what has an even
    /// one is no object but memory outside of the heap, whose number says nothing of its time.
    pub(crate) fn newest_object(&self) -> Option<u64> {
        if !self.source.facts().keeps_numbers {
            return None;
        }
        let numbers = self.heap.objects.addresses.iter();
        numbers
            .map(|number| number.0)
            .filter(|number| number % 2 == 1)
            .max()
    }

    /// Whether both heaps are of one module. Only then can their addresses be compared.
    pub fn is_same_module(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|heap| heap.source.facts());
        one.program == other.program && !one.is_numbered_anew && !other.is_numbered_anew
    }

    /// What each object dominates. It is made when it is first needed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub fn dominator_index(&self, control: &Control) -> Result<&DominatorIndex> {
        self.dominators
            .get(|| DominatorIndex::new(&self.heap, control))
    }

    /// The objects that the one at this position, or the virtual root, immediately dominates: retained size
    /// ↓, shallow size ↓, address ↑.
    pub(super) fn children_by_size(
        &self,
        parent: Option<u32>,
        control: &Control,
    ) -> Result<Arc<Vec<ObjectIndex>>> {
        let index = self.dominator_index(control)?;
        self.largest_children
            .by_size(&self.heap, index, parent, control)
    }

    pub(super) fn referrers(&self, control: &Control) -> Result<&ReferrerIndex> {
        let live = self.dominator_index(control)?;
        self.referrers.get(|| {
            ReferrerIndex::new(
                &self.heap.edges,
                |object| live.position(object).is_some(),
                control,
            )
        })
    }

    pub(super) fn cuts(&self, control: &Control) -> Result<&Cuts> {
        let live = self.dominator_index(control)?;
        let referrers = self.referrers(control)?;
        self.cuts
            .get(|| Cuts::new(live, referrers, &self.roots, control))
    }

    /// A shortest path from the roots to each live object. It is made when it is first needed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub fn path_tree(&self, control: &Control) -> Result<&PathTree> {
        self.paths
            .get(|| PathTree::new(&self.heap.objects, &self.heap.edges, &self.roots, control))
    }

    /// Every place from which the collector starts.
    pub fn root_slots(&self) -> &RootSlots {
        &self.roots
    }

    pub(crate) fn class_name(&self, object: ObjectIndex) -> &str {
        &self.heap.objects.class_of(object).name
    }

    /// The name of an object in paths and places: its class, or what is known better.
    pub(crate) fn place_name(&self, object: ObjectIndex) -> &str {
        self.slot_name(self.heap.objects.place_slot(object))
    }

    /// The slots of the classes whose names match the pattern; without a pattern, the slots of all classes,
    /// even if there are none.
    pub(super) fn class_slots(
        &self,
        pattern: Option<&str>,
        control: &Control,
    ) -> Result<Vec<bool>> {
        let classes = &self.heap.objects.classes;
        let Some(pattern) = pattern else {
            return columns::repeated(true, classes.len());
        };
        let glob = Glob::new(pattern)?;
        let mut slots = Vec::new();
        for class in classes {
            control.check()?;
            columns::push(&mut slots, glob.matches(&class.name))?;
        }
        if slots.contains(&true) {
            return Ok(slots);
        }
        let names = || classes.iter().map(|class| class.name.as_str());
        if let Some(only) = glob::only_short(pattern, names(), control)? {
            for (slot, name) in slots.iter_mut().zip(names()) {
                *slot = name == only;
            }
            return Ok(slots);
        }
        Err(QuestionError::UnknownClass {
            pattern: pattern.to_owned(),
            nearest: expression::nearest(pattern, names(), control)?,
        }
        .into())
    }

    /// The name of the class with this position in the table of classes.
    pub fn slot_name(&self, class_slot: u32) -> &str {
        &self.heap.objects.classes[class_slot as usize].name
    }

    pub(super) fn shown(&self, object: ObjectIndex) -> ShownAddress {
        self.heap.address_form.of(self.heap.address(object).0)
    }

    /// The heap after the running functions have returned.
    pub(super) fn after_return(&self, control: &Control) -> Result<&AfterReturn> {
        let make = || AfterReturn::new(&self.heap, &self.roots, control);
        self.after_return.get(make)
    }
}

fn with_snapshot(dump: &str, snapshot: &str) -> Error {
    Error::from(QuestionError::DumpWithSnapshot {
        dump: dump.to_owned(),
        snapshot: snapshot.to_owned(),
    })
}

pub(crate) fn numbered_anew(before: &str, after: &str) -> Error {
    Error::from(QuestionError::NumberedAnew {
        before: before.to_owned(),
        after: after.to_owned(),
    })
}
