//! The object graph of a dump: the objects, their references, and the roots. After it is read, the dump is
//! not needed any more, and can be unmapped before the next stages allocate memory.

use super::Heap;
use super::accounting::{Accounting, BlockTotals};
use super::dominator_index::DominatorIndex;
use super::dominators::DominatorTree;
use super::edges::{Anomalies, Edges};
use super::live_classes::{class_counts, live_classes};
use super::memory_map::MemoryMap;
use super::objects::ObjectTable;
use super::path_tree::PathTree;
use super::reader::read_objects;
use super::referrers::ReferrerIndex;
use super::root_slots::{FoundSlots, RootSlots};
use super::roots::{FoundRoots, find_roots};
use super::search::Search;
use crate::columns;
use crate::control::Control;
use crate::error::Result;
use crate::runtime::Runtime;
use crate::runtime::collector::CollectorState;
use crate::runtime::roots::RootKind;
use crate::runtime::shapes::{ClassShape, Shapes};
use crate::side_by_side::side_by_side;
use crate::tolerance::Tolerance;
use crate::units::{Address, ObjectIndex};
use crate::warning::{Warning, shorten};

/// The object graph of one dump. It does not borrow the dump.
#[derive(Debug)]
pub struct ObjectGraph {
    objects: ObjectTable,
    edges: Edges,
    roots: Vec<(ObjectIndex, RootKind)>,
    anomalies: Anomalies,
    total_size: u64,
    totals: BlockTotals,
    collector_state: Option<CollectorState>,
    warnings: Vec<Warning>,
}

/// The names in a heap, which questions need in addition to the numbers.
#[derive(Debug)]
pub struct HeapNames {
    /// By class slot: the names of the places in its objects.
    pub shapes: Vec<ClassShape>,
    /// Every place from which the collector starts.
    pub roots: RootSlots,
    /// The first block of the heap; `None` if the memory ends before it.
    pub first_block: Option<Address>,
    /// The use of each part of the memory.
    pub memory_map: MemoryMap,
}

/// The indexes of a heap that are built together with it.
#[derive(Debug)]
pub(crate) struct Indexes {
    pub dominators: DominatorIndex,
    pub paths: PathTree,
    pub referrers: ReferrerIndex,
}

/// The additional results if names are wanted.
#[derive(Default)]
struct FoundNames {
    shapes: Vec<ClassShape>,
    slots: FoundSlots,
    memory_map: MemoryMap,
}

impl ObjectGraph {
    /// Reads the graph out of a runtime. `warnings` are those about the runtime itself.
    ///
    /// # Errors
    /// [`Error::ModuleMismatch`](crate::Error::ModuleMismatch) if the objects are not of this
    /// program, [`Error::HeapCorrupt`](crate::Error::HeapCorrupt) and
    /// [`Error::TooManyReferences`](crate::Error::TooManyReferences) if the memory cannot be read to
    /// its end, unless that is tolerated; [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::Aborted`](crate::Error::Aborted).
    pub fn read(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        warnings: Vec<Warning>,
        control: &Control,
    ) -> Result<Self> {
        Ok(Self::read_all(runtime, tolerance, warnings, false, control)?.0)
    }

    /// As [`read`](Self::read), with the labels of all references and the names of all roots.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with_names(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        warnings: Vec<Warning>,
        control: &Control,
    ) -> Result<(Self, HeapNames)> {
        let (graph, found) = Self::read_all(runtime, tolerance, warnings, true, control)?;
        let found = found.unwrap_or_default();
        let names = HeapNames {
            shapes: found.shapes,
            roots: found.slots.into_slots()?,
            first_block: runtime.allocator.map(|allocator| allocator.first_block),
            memory_map: found.memory_map,
        };
        Ok((graph, names))
    }

    fn read_all(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        mut warnings: Vec<Warning>,
        wants_names: bool,
        control: &Control,
    ) -> Result<(Self, Option<FoundNames>)> {
        let memory = runtime.dump.memory;
        let (objects, totals, walk) = read_objects(runtime, tolerance, control, &mut warnings)?;
        let shapes = match wants_names {
            true => Some(class_shapes(runtime, &objects, control)?),
            false => None,
        };
        let (edges, anomalies) = Edges::extract(
            memory,
            &objects,
            &runtime.classes,
            shapes.as_deref(),
            control,
        )?;
        let FoundRoots {
            roots,
            mismatch,
            slots,
        } = find_roots(
            runtime,
            &objects,
            &edges,
            totals.is_partial(),
            wants_names,
            &mut warnings,
        )?;
        tolerance.check(mismatch, &mut warnings)?;
        let allocator = runtime.allocator;
        let graph = Self {
            total_size: allocator.map_or(0, |allocator| allocator.heap_size(memory)),
            objects,
            edges,
            roots,
            anomalies,
            totals,
            collector_state: runtime.collector.state,
            warnings,
        };
        let found = match (shapes, slots) {
            (Some(shapes), Some(slots)) => Some(FoundNames {
                shapes,
                slots,
                memory_map: MemoryMap::new(runtime, &walk)?,
            }),
            _ => None,
        };
        Ok((graph, found))
    }

    /// Computes the live objects and the retained sizes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Aborted`](crate::Error::Aborted).
    pub fn solve(self, control: &Control) -> Result<Heap> {
        let solution = self.find_dominators(control)?;
        Ok(self.into_heap(solution))
    }

    /// As [`solve`](Self::solve), with the indexes of questions. Paths and referrers do not depend on dominators,
    /// and are found at the same time.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub(crate) fn solve_with_indexes(
        self,
        roots: &RootSlots,
        control: &Control,
    ) -> Result<(Heap, Indexes)> {
        let unreported = control.unreported();
        let by_dominators = || {
            let solution = self.find_dominators(control)?;
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
        Ok((self.into_heap(solution), indexes))
    }

    /// The dominators of the live objects, and the retained sizes.
    fn find_dominators(&self, control: &Control) -> Result<(DominatorTree, Vec<u32>)> {
        // Globals come first, so that an object that several kinds of roots reach counts for the first kind.
        let mut by_kind = columns::collected(self.roots.iter().copied())?;
        by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
        let root_objects = columns::collected(by_kind.into_iter().map(|(object, _)| object))?;
        let sizes = &self.objects.shallow_sizes;
        let search = Search::run(&self.edges, &root_objects, control)?;
        control.report_classes(|| class_counts(&self.objects, &search.preorder));
        DominatorTree::of_search(search, sizes, control)
    }

    fn into_heap(self, (dominators, retained_sizes): (DominatorTree, Vec<u32>)) -> Heap {
        let mut heap = Heap {
            total_size: self.total_size,
            live_size: 0,
            objects: self.objects,
            edges: self.edges,
            roots: self.roots,
            dominators,
            retained_sizes,
            huge_retained_sizes: Vec::new(),
            live_classes: Vec::new(),
            accounting: Accounting::default(),
            is_snapshot: false,
            is_partial: self.totals.is_partial(),
            warnings: self.warnings,
        };
        heap.live_classes = live_classes(&heap);
        heap.account(self.totals, self.collector_state);
        heap.warn_of(&self.anomalies);
        heap.warn_of_classes();
        shorten(&mut heap.warnings);
        heap
    }
}

/// The shape of each class slot.
fn class_shapes(
    runtime: &Runtime<'_>,
    objects: &ObjectTable,
    control: &Control,
) -> Result<Vec<ClassShape>> {
    let shapes = Shapes::new(&runtime.classes);
    let classes = objects.classes.iter();
    classes
        .map(|class| {
            // Thousands of classes take a while to describe.
            control.check()?;
            Ok(shapes.describe(class.id, &class.class))
        })
        .collect()
}
