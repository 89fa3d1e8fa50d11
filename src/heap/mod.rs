//! The heap of one dump as a value: its objects, who refers to whom, what is alive and why, and
//! what each object keeps alive. Made once; every view reads it.

mod accounting;
mod address_index;
mod dominators;
mod edges;
mod objects;
mod reader;

pub use accounting::{Accounting, FreeBlocks, LiveBytes};
pub use address_index::AddressIndex;
pub use dominators::DominatorTree;
pub use edges::Edges;
pub use objects::{HeapClass, ObjectTable};

use reader::HeapReader;

use crate::control::Control;
use crate::dump::Dump;
use crate::error::Result;
use crate::module::Module;
use crate::program::Tolerance;
use crate::runtime::blocks::Allocator;
use crate::runtime::classes::Classes;
use crate::runtime::collector::Collector;
use crate::runtime::evidence::Evidence;
use crate::runtime::mismatch::{Mismatch, find_mismatch};
use crate::runtime::roots::{
    Certainty, GlobalRoots, RootKind, global_roots, possible_roots, stack_words,
};
use crate::runtime::type_flags::TypeFlagsTable;
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
    /// Analyzes a dump.
    ///
    /// # Errors
    /// [`Error::ModuleMismatch`](crate::Error::ModuleMismatch) if the dump is not of this module, [`Error::HeapCorrupt`](crate::Error::HeapCorrupt) and
    /// [`Error::TooManyReferences`](crate::Error::TooManyReferences) if the memory cannot be read to its end, [`Error::Aborted`](crate::Error::Aborted).
    pub fn analyze(
        dump: &Dump<'_>,
        module: &Module<'_>,
        evidence: &Evidence,
        tolerance: Tolerance,
        control: &Control,
    ) -> Result<Self> {
        let mut warnings = Vec::new();
        let flags = type_flags(dump, module);
        let has_foreign_globals =
            tolerance.check(global_count_mismatch(dump, module), &mut warnings)?;
        tolerance.check(
            find_mismatch(dump, module, &evidence.debug_info, flags),
            &mut warnings,
        )?;
        // Values of other globals say nothing about ours.
        let dump = &if has_foreign_globals {
            dump.without_globals()
        } else {
            *dump
        };
        warn_of_dump(dump, module, &mut warnings);
        let classes = Classes::new(evidence, module, flags);
        let collector = Collector::read(module, dump);
        let allocator = Allocator::locate(dump);
        let total_size = allocator.map_or(0, |allocator| {
            dump.memory
                .size()
                .saturating_sub(u64::from(allocator.first_block.0))
        });
        let (objects, totals) = match allocator {
            Some(allocator) => {
                let mut reader = HeapReader {
                    dump,
                    allocator,
                    classes: &classes,
                    class_count: flags.count(),
                    collector: &collector,
                    tolerance,
                    control,
                    warnings: &mut warnings,
                };
                reader.read()?
            }
            None => Default::default(),
        };
        tolerance.check(class_id_mismatch(&objects, flags), &mut warnings)?;
        let (edges, misfits) = Edges::extract(dump.memory, &objects, control)?;

        let globals = global_roots(evidence, &classes, module, dump);
        let is_partial = totals.unread > 0;
        let (roots, not_an_object) =
            find_roots(dump, module, globals, &objects, is_partial, &mut warnings);
        tolerance.check(not_an_object, &mut warnings)?;
        // Globals first, so that what several kinds of roots reach counts for the first of them.
        let mut by_kind = roots.clone();
        by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
        let root_objects: Vec<_> = by_kind.iter().map(|&(object, _)| object).collect();
        let dominators = DominatorTree::new(&edges, objects.len(), &root_objects, control)?;
        let retained_sizes = dominators.retained_sizes(&objects.shallow_sizes);

        let mut heap = Self {
            total_size,
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
        let managed = heap.objects.heap_bytes();
        heap.account(totals, managed, collector.state);
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
        let mut doubtful: Vec<_> = self
            .objects
            .classes
            .iter()
            .zip(counts)
            .filter(|(class, count)| {
                *count > 0 && (!class.class.is_described || class.class.is_disputed)
            })
            .map(|(class, count)| {
                let warning = if class.class.is_described {
                    Warning::ClassDisputed {
                        class_name: class.class.name.clone(),
                    }
                } else {
                    Warning::ClassUnknown {
                        id: class.id,
                        count,
                    }
                };
                (class.id, warning)
            })
            .collect();
        doubtful.sort_unstable_by_key(|&(id, _)| id);
        self.warnings
            .extend(doubtful.into_iter().map(|(_, warning)| warning));
    }
}

fn global_count_mismatch(dump: &Dump<'_>, module: &Module<'_>) -> Option<Mismatch> {
    let (dump, module) = (dump.globals.len(), module.globals.mutable_i32_count());
    // None at all are legal: then the writer of the dump could not read globals.
    (dump != 0 && dump != module).then_some(Mismatch::GlobalCount { dump, module })
}

fn warn_of_dump(dump: &Dump<'_>, module: &Module<'_>, warnings: &mut Vec<Warning>) {
    const PAGE: u64 = 1 << 16;
    let expected = module.globals.mutable_i32_count();
    if dump.globals.is_empty() && expected > 0 {
        warnings.push(Warning::GlobalsMissing { expected });
    }
    let memory_size = dump.memory.size();
    if !memory_size.is_multiple_of(PAGE) {
        warnings.push(Warning::MemoryNotWholePages { memory_size });
    }
}

/// Every object's class must be in the table of type flags, if there is one.
fn class_id_mismatch(objects: &ObjectTable, flags: TypeFlagsTable<'_>) -> Option<Mismatch> {
    let count = flags.count();
    let ids = objects.classes.iter().map(|class| class.id);
    let id = ids.filter(|id| count > 0 && id.0 >= count).min()?;
    Some(Mismatch::ObjectBeyondTable { id, count })
}

fn type_flags<'a>(dump: &Dump<'a>, module: &Module<'_>) -> TypeFlagsTable<'a> {
    let globals = &module.globals;
    globals
        .exported("__rtti_base")
        .or_else(|| globals.named("~lib/rt/__rtti_base"))
        .and_then(|global| global.initial)
        .and_then(|base| TypeFlagsTable::read(dump.memory, Address(base), dump.data_end))
        .unwrap_or(TypeFlagsTable::empty())
}

/// All roots that are objects, ascending, each with its first kind.
fn find_roots(
    dump: &Dump<'_>,
    module: &Module<'_>,
    globals: Option<GlobalRoots>,
    objects: &ObjectTable,
    is_partial: bool,
    warnings: &mut Vec<Warning>,
) -> (Vec<(ObjectIndex, RootKind)>, Option<Mismatch>) {
    let mut mismatch = None;
    let mut roots = Vec::new();
    let globals = globals.unwrap_or_else(|| {
        warnings.push(Warning::RootsUnknown);
        // Globals that never change may have become constants in the code: any static object may
        // be one.
        let static_objects = (0..objects.len() as u32).map(ObjectIndex);
        let static_objects = static_objects.take_while(|&object| !objects.is_on_heap(object));
        roots.extend(static_objects.map(|object| (object, RootKind::Global)));
        possible_roots(module, dump)
    });
    let disputed = globals.disputed.into_iter();
    warnings.extend(disputed.map(|name| Warning::GlobalDisputed { name }));
    for global in globals.roots {
        let is_possible = global.certainty == Certainty::Possible;
        let Some(value) = global.value else {
            // Without any values the one warning about that says it all.
            if !dump.globals.is_empty() && !is_possible {
                warnings.push(Warning::GlobalUnknown { name: global.name });
            }
            continue;
        };
        if let Some(object) = objects.index.get(value) {
            roots.push((object, RootKind::Global));
        } else if value.0 != 0 && !is_possible && !is_partial {
            let name = global.name;
            match global.certainty {
                Certainty::Visited => mismatch = mismatch.or(Some(Mismatch::Root { name, value })),
                _ => warnings.push(Warning::GlobalNotAnObject { name, value }),
            }
        }
    }
    let on_stack = stack_words(dump).filter_map(|word| objects.index.get(Address(word)));
    roots.extend(on_stack.map(|object| (object, RootKind::Stack)));
    roots.extend(
        objects
            .pinned
            .iter()
            .map(|&object| (object, RootKind::Pinned)),
    );
    roots.sort_unstable();
    roots.dedup_by_key(|&mut (object, _)| object);
    (roots, mismatch)
}
