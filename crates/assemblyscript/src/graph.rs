//! The object graph of a dump: the objects, their references, and the roots. After it is read, the dump is
//! not needed any more, and can be unmapped before the next stages allocate memory.

use std::sync::Arc;

use super::accounting::{BlockTotals, account};
use super::class_slots::DescribedClass;
use super::edge_run::Anomalies;
use super::extraction::{Extraction, KnownReferences};
use super::memory_map::MemoryMap;
use super::memory_pages::MemoryPages;
use super::own_visits::OwnVisits;
use super::reader::{ObjectsInDump, read_objects};
use super::roots::{FoundRoots, class_warning, find_roots};
use super::warnings::{warn_of, warn_of_classes};
use crate::runtime::Runtime;
use crate::runtime::shapes::{ClassShape, Shapes};
use base::control::Control;
use base::error::Result;
use base::input::Release;
use base::tolerance::Tolerance;
use base::units::AddressForm;
use base::warning::Warning;
use base::warnings::shorten;
use heap::{
    CollectorState, FoundSlots, Heap, Indexes, ObjectGraph, RootKind, RootSlots, SearchOrder,
    Solution,
};

/// The object graph of one dump. It does not borrow the dump.
#[derive(Debug)]
pub(super) struct DumpGraph {
    graph: ObjectGraph,
    classes: Arc<Vec<DescribedClass>>,
    anomalies: Anomalies,
    total_size: u64,
    totals: BlockTotals,
    collector_state: Option<CollectorState>,
    tolerance: Tolerance,
    warnings: Vec<Warning>,
}

/// What questions need of a dump in addition to the numbers.
#[derive(Debug)]
pub(crate) struct DumpNames {
    /// By class slot: the class as the program describes it.
    pub classes: Arc<Vec<DescribedClass>>,
    /// By class slot: the names of the references in its objects.
    pub shapes: Vec<ClassShape>,
    /// The use of each part of the memory.
    pub memory_map: MemoryMap,
}

/// The additional results if names are wanted.
#[derive(Default)]
struct FoundNames {
    shapes: Vec<ClassShape>,
    slots: FoundSlots,
    memory_map: MemoryMap,
}

impl DumpGraph {
    /// Reads the graph out of a runtime. `warnings` are those about the runtime itself. What was read for the last time or
    /// is not read soon is released.
    ///
    /// # Errors
    /// [`OtherModule`](base::mismatch::OtherModule) if the objects are not of this
    /// program, [`HeapError::Corrupt`](heap::HeapError::Corrupt) and
    /// [`AssemblyScriptError::TooManyReferences`](crate::AssemblyScriptError::TooManyReferences) if the memory cannot be read to
    /// its end, unless that is tolerated; [`Error::OutOfMemory`](base::Error::OutOfMemory),
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn read(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        warnings: Vec<Warning>,
        release: Release<'_>,
        control: &Control,
    ) -> Result<Self> {
        let read = Self::read_all(runtime, tolerance, warnings, false, release, control);
        Ok(read?.0)
    }

    /// As [`read`](Self::read), with the labels of all references and the names of all roots.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_with_names(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        warnings: Vec<Warning>,
        release: Release<'_>,
        control: &Control,
    ) -> Result<(Self, DumpNames, RootSlots)> {
        let (graph, found) = Self::read_all(runtime, tolerance, warnings, true, release, control)?;
        let found = found.unwrap_or_default();
        let names = DumpNames {
            classes: Arc::clone(&graph.classes),
            shapes: found.shapes,
            memory_map: found.memory_map,
        };
        Ok((graph, names, found.slots.into_slots()?))
    }

    fn read_all(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        mut warnings: Vec<Warning>,
        wants_names: bool,
        release: Release<'_>,
        control: &Control,
    ) -> Result<(Self, Option<FoundNames>)> {
        let memory = runtime.dump.memory;
        let pages = MemoryPages::new(release);
        let ObjectsInDump {
            objects,
            classes,
            totals,
            walk,
        } = read_objects(runtime, tolerance, pages, control, &mut warnings)?;
        let shapes = if wants_names {
            Some(class_shapes(runtime, &classes, control)?)
        } else {
            None
        };
        let visits = OwnVisits::find(runtime, &objects, &classes, control)?;
        let (edges, anomalies) = Extraction::extract(
            memory,
            &objects,
            KnownReferences {
                classes: &classes,
                known: &runtime.classes,
                visits: &visits,
                shapes: shapes.as_deref(),
            },
            pages,
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
        if !totals.is_partial() {
            warnings.extend(class_warning(runtime, &objects, &classes));
        }
        let allocator = runtime.allocator;
        let graph = Self {
            total_size: allocator.map_or(0, |allocator| allocator.heap_size(memory)),
            graph: ObjectGraph {
                objects,
                edges,
                roots,
            },
            classes: Arc::new(classes),
            anomalies,
            totals,
            collector_state: runtime.collector.state,
            tolerance,
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
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn solve(self, order: SearchOrder, control: &Control) -> Result<Heap> {
        let solution = self.graph.find_dominators(order, control)?;
        Ok(self.into_heap(solution))
    }

    /// As [`solve`](Self::solve), with the indexes of questions. Paths and referrers do not depend on dominators,
    /// and are found at the same time.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub(super) fn solve_with_indexes(
        self,
        roots: &RootSlots,
        control: &Control,
    ) -> Result<(Heap, Indexes)> {
        let (solution, indexes) = self.graph.find_dominators_with_indexes(roots, control)?;
        Ok((self.into_heap(solution), indexes))
    }

    fn into_heap(self, solution: Solution) -> Heap {
        let mut heap = Heap {
            total_size: Some(self.total_size),
            address_form: AddressForm::Hexadecimal,
            root_kinds: &[RootKind::Global, RootKind::Stack, RootKind::Pinned],
            is_partial: self.totals.is_partial(),
            warnings: self.warnings,
            ..self.graph.into_heap(solution)
        };
        account(&mut heap, self.totals, self.collector_state);
        warn_of(&mut heap, &self.anomalies, &self.classes, self.tolerance);
        warn_of_classes(&mut heap, &self.classes);
        shorten(&mut heap.warnings);
        heap
    }
}

/// The shape of each class slot.
fn class_shapes(
    runtime: &Runtime<'_>,
    classes: &[DescribedClass],
    control: &Control,
) -> Result<Vec<ClassShape>> {
    let shapes = Shapes::new(&runtime.classes);
    let classes = classes.iter();
    classes
        .map(|class| {
            // Thousands of classes take a while to describe.
            control.check()?;
            Ok(shapes.describe(class.id, &class.class))
        })
        .collect()
}
