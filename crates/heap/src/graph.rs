//! The object graph: the objects, their references, and the roots. From it follow the live set, the dominators and
//! the retained sizes. Where the objects were read is not needed any more, and can be unmapped before.

use super::dominator_index::DominatorIndex;
use super::dominators::DominatorTree;
use super::edges::Edges;
use super::live_classes::{class_counts, live_classes};
use super::live_search::{LiveSearch, SearchOrder};
use super::objects::ObjectTable;
use super::path_tree::PathTree;
use super::referrers::ReferrerIndex;
use super::root_slots::RootSlots;
use super::{Heap, RootKind};
use base::columns;
use base::control::Control;
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::{AddressForm, ObjectIndex};
use rayon::prelude::*;

/// The objects of a heap, none of which is [`HUGE`](super::HUGE), and what refers to them.
#[derive(Debug)]
pub struct ObjectGraph {
    /// All objects, alive or not.
    pub objects: ObjectTable,
    /// References between them.
    pub edges: Edges,
    /// The roots, ascending by object, each with its first kind.
    pub roots: Vec<(ObjectIndex, RootKind)>,
}

/// The live objects with their dominators, and the retained sizes.
pub type Solution = (DominatorTree, Vec<u32>);

/// The indexes of a heap that are built together with it.
#[derive(Debug)]
pub struct Indexes {
    /// Of the dominators.
    pub dominators: DominatorIndex,
    /// Of the paths.
    pub paths: PathTree,
    /// Of the references by target.
    pub referrers: ReferrerIndex,
}

impl ObjectGraph {
    /// The dominators of the live objects, and the retained sizes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn find_dominators(&self, order: SearchOrder, control: &Control) -> Result<Solution> {
        // Globals come first, so that an object that several kinds of roots reach counts for the first kind.
        let mut by_kind = columns::collected(self.roots.iter().copied())?;
        by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
        let root_objects = columns::collected(by_kind.into_iter().map(|(object, _)| object))?;
        let sizes = &self.objects.shallow_sizes;
        let search = LiveSearch::run(&self.edges, &root_objects, order, control)?;
        control
            .report_classes(|| class_counts(&self.objects, search.reached().par_iter().copied()));
        DominatorTree::of_search(search, &self.edges, &root_objects, sizes, control)
    }

    /// As [`find_dominators`](Self::find_dominators), with the indexes of questions. Paths and referrers do not
    /// depend on dominators, and are found at the same time.
    ///
    /// # Errors
    /// As [`find_dominators`](Self::find_dominators).
    pub fn find_dominators_with_indexes(
        &self,
        roots: &RootSlots,
        control: &Control,
    ) -> Result<(Solution, Indexes)> {
        let unreported = control.unreported();
        let by_dominators = || {
            let solution = self.find_dominators(SearchOrder::Deep, control)?;
            let index = DominatorIndex::of_tree(&solution.0, self.objects.len(), &unreported)?;
            Ok((solution, index))
        };
        let by_references = || {
            let paths = PathTree::new(&self.objects, &self.edges, roots, &unreported)?;
            let is_live = |object| paths.is_reached(object);
            let referrers = ReferrerIndex::new(&self.edges, is_live, &unreported)?;
            Ok((paths, referrers))
        };
        let ((solution, dominators), (paths, referrers)) =
            side_by_side(by_dominators, by_references)?;
        let indexes = Indexes {
            dominators,
            paths,
            referrers,
        };
        Ok((solution, indexes))
    }

    /// The heap, without what the graph does not say.
    pub fn into_heap(self, (dominators, retained_sizes): Solution) -> Heap {
        let mut heap = Heap {
            total_size: None,
            live_size: 0,
            outside_size: 0,
            objects: self.objects,
            edges: self.edges,
            roots: self.roots,
            dominators,
            retained_sizes,
            huge_retained_sizes: Vec::new(),
            live_classes: Vec::new(),
            accounting: None,
            unreferenced: None,
            address_form: AddressForm::default(),
            root_kinds: &[],
            is_partial: false,
            warnings: Vec::new(),
        };
        heap.live_classes = live_classes(&heap);
        let sizes = heap.live_classes.iter().map(|class| class.shallow_size);
        heap.live_size = sizes.sum();
        heap
    }
}
