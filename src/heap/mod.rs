//! The heap of one dump as a value: its objects, who refers to whom, what is alive and why, and
//! what each object keeps alive. Made once; every view reads it.

mod accounting;
mod address_index;
mod dominators;
mod edges;
mod objects;
mod reader;
mod roots;

pub use accounting::{Accounting, FreeBlocks, LiveBytes};
pub use address_index::AddressIndex;
pub use dominators::DominatorTree;
pub use edges::Edges;
pub use objects::{HeapClass, ObjectTable};

use reader::read_objects;
use roots::{FoundRoots, find_roots};

use crate::control::Control;
use crate::error::Result;
use crate::mismatch::Mismatch;
use crate::runtime::Runtime;
use crate::runtime::classes::Classes;
use crate::runtime::roots::RootKind;
use crate::tolerance::Tolerance;
use crate::units::{Address, ObjectIndex};
use crate::warning::Warning;

/// A heap, analyzed.
#[derive(Debug)]
pub struct Heap {
    /// Memory size − first block, in bytes: allocator space, not just live objects.
    pub total_size: u64,
    /// The shallow size of all live heap objects, in bytes.
    pub live_size: u64,
    /// All objects, alive or not.
    pub objects: ObjectTable,
    /// References between them.
    pub edges: Edges,
    /// The roots, ascending by object, each with its first kind.
    pub roots: Vec<(ObjectIndex, RootKind)>,
    /// The live objects and who keeps them alive.
    pub dominators: DominatorTree,
    /// Per object: what it keeps alive, in bytes; 0 if it is not alive itself.
    pub retained_sizes: Vec<u32>,
    /// Where every byte is.
    pub accounting: Accounting,
    /// Whether the heap is damaged and only what lies before the damage was read.
    pub is_partial: bool,
    /// What may make a number wrong.
    pub warnings: Vec<Warning>,
}

impl Heap {
    /// Analyzes the heap of a runtime. `warnings` are those about the runtime itself.
    ///
    /// # Errors
    /// [`Error::ModuleMismatch`](crate::Error::ModuleMismatch) if the objects are not of this
    /// program, [`Error::HeapCorrupt`](crate::Error::HeapCorrupt) and
    /// [`Error::TooManyReferences`](crate::Error::TooManyReferences) if the memory cannot be read to
    /// its end, unless that is tolerated; [`Error::Aborted`](crate::Error::Aborted).
    pub fn analyze(
        runtime: &Runtime<'_>,
        tolerance: Tolerance,
        mut warnings: Vec<Warning>,
        control: &Control,
    ) -> Result<Self> {
        let memory = runtime.dump.memory;
        let (objects, totals) = read_objects(runtime, tolerance, control, &mut warnings)?;
        tolerance.check(class_id_mismatch(&objects, &runtime.classes), &mut warnings)?;
        let (edges, misfits) = Edges::extract(memory, &objects, control)?;

        let is_partial = totals.unread > 0;
        let FoundRoots { roots, mismatch } =
            find_roots(runtime, &objects, is_partial, &mut warnings);
        tolerance.check(mismatch, &mut warnings)?;
        // Globals first, so that what several kinds of roots reach counts for the first of them.
        let mut by_kind = roots.clone();
        by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
        let root_objects: Vec<_> = by_kind.into_iter().map(|(object, _)| object).collect();
        let dominators = DominatorTree::new(&edges, objects.len(), &root_objects, control)?;
        let retained_sizes = dominators.retained_sizes(&objects.shallow_sizes);

        let mut heap = Self {
            total_size: runtime
                .allocator
                .map_or(0, |allocator| allocator.heap_size(memory)),
            live_size: 0,
            objects,
            edges,
            roots,
            dominators,
            retained_sizes,
            accounting: Accounting::default(),
            is_partial,
            warnings,
        };
        heap.account(totals, runtime.collector.state);
        heap.warn_of_live_misfits(&misfits);
        heap.warn_of_classes();
        Ok(heap)
    }

    /// Live objects that take heap space, in address order.
    pub fn live_heap_objects(&self) -> impl Iterator<Item = ObjectIndex> + '_ {
        // A live heap object retains at least its own block.
        let retained = (0u32..).zip(&self.retained_sizes);
        retained
            .filter(|&(_, &size)| size != 0)
            .map(|(object, _)| ObjectIndex(object))
            .filter(|&object| self.objects.is_on_heap(object))
    }

    /// The address of an object's payload.
    #[inline]
    pub fn address(&self, object: ObjectIndex) -> Address {
        Address(self.objects.addresses[object.at()])
    }

    /// The whole block of an object, in bytes.
    #[inline]
    pub fn shallow_size(&self, object: ObjectIndex) -> u32 {
        self.objects.shallow_sizes[object.at()]
    }

    /// What an object keeps alive, itself included, in bytes.
    #[inline]
    pub fn retained_size(&self, object: ObjectIndex) -> u32 {
        self.retained_sizes[object.at()]
    }

    /// About how many bytes this value takes.
    pub fn memory_size(&self) -> u64 {
        const COLUMNS_AND_NUMBERS: u64 = 9 * 4;
        self.objects.len() as u64 * COLUMNS_AND_NUMBERS + self.edges.len() as u64 * 4
    }

    fn warn_of_live_misfits(&mut self, misfits: &[ObjectIndex]) {
        if misfits.is_empty() {
            return;
        }
        // What the collector has given up may refer to memory that was used again since.
        let mut live = self
            .dominators
            .live()
            .iter()
            .copied()
            .filter(|object| misfits.binary_search(object).is_ok());
        if let Some(any) = live.next() {
            let (first, count) = live.fold((any, 1), |(first, count), object| {
                (object.min(first), count + 1)
            });
            let warning = Warning::ContentsDoNotFit {
                address: self.address(first),
                class_name: self.objects.class_of(first).class.name.clone(),
                count,
            };
            self.warnings.push(warning);
        }
    }

    fn warn_of_classes(&mut self) {
        let mut counts = vec![0u64; self.objects.classes.len()];
        for object in self.live_heap_objects() {
            counts[self.objects.class_slots[object.at()] as usize] += 1;
        }
        let classes = self.objects.classes.iter().zip(counts);
        let mut doubtful: Vec<_> = classes
            .filter(|&(_, count)| count > 0)
            .filter_map(|(class, count)| Some((class.id, doubt_about(class, count)?)))
            .collect();
        doubtful.sort_unstable_by_key(|&(id, _)| id);
        let warnings = doubtful.into_iter().map(|(_, warning)| warning);
        self.warnings.extend(warnings);
    }
}

/// What may be wrong about a class that has live objects.
fn doubt_about(class: &HeapClass, count: u64) -> Option<Warning> {
    let HeapClass { id, class, .. } = class;
    if !class.is_described {
        return Some(Warning::ClassUnknown { id: *id, count });
    }
    if !class.rivals.is_empty() {
        return Some(Warning::ClassAmbiguous {
            id: *id,
            class_name: class.name.clone(),
            rivals: class.rivals.clone(),
        });
    }
    class.is_disputed.then(|| Warning::ClassDisputed {
        class_name: class.name.clone(),
    })
}

/// Every object's class must be in the table of type flags, if there is one.
fn class_id_mismatch(objects: &ObjectTable, classes: &Classes<'_>) -> Option<Mismatch> {
    let count = classes.count();
    let ids = objects.classes.iter().map(|class| class.id);
    let id = ids.filter(|id| count > 0 && id.0 >= count).min()?;
    Some(Mismatch::ObjectBeyondTable { id, count })
}
