//! The heap of one dump as a value: its objects, their references, the live set, dominators and retained
//! sizes. It is computed once, and all views read it.

mod accounting;
mod address_index;
mod class_slots;
mod components;
mod cuts;
mod dominator_index;
mod dominators;
mod edges;
mod graph;
mod group_sets;
mod header_checks;
pub(crate) mod labels;
mod live_classes;
mod memory_map;
mod objects;
mod path_groups;
mod path_tree;
mod prefetch;
mod ranked_bits;
mod reader;
mod reference_types;
mod referrers;
mod retained_sets;
mod root_slots;
mod roots;
mod search;

pub use accounting::{Accounting, FreeBlocks, LiveBytes};
pub use address_index::AddressIndex;
pub use components::{Cycle, Cycles};
pub use cuts::Cuts;
pub use dominator_index::DominatorIndex;
pub use dominators::DominatorTree;
pub(crate) use dominators::UnsizedTree;
pub use edges::Edges;
pub(crate) use graph::Indexes;
pub use graph::{HeapNames, ObjectGraph};
pub use labels::{EdgeLabel, LabelKind, NameKind};
pub(crate) use labels::{MOST_NUMBERS, WideLabel};
pub use live_classes::LiveClass;
pub(crate) use live_classes::live_classes;
pub use memory_map::MemoryMap;
pub use objects::{HeapClass, ObjectTable};
pub use path_groups::{GroupInfo, GroupStart, PathGroup, PathGroups};
pub use path_tree::{PathPiece, PathTree};
pub(crate) use prefetch::prefetch;
pub use referrers::ReferrerIndex;
pub use root_slots::{RootOrigin, RootSlot, RootSlots};

use edges::Anomalies;

use crate::runtime::classes::Doubt;
use crate::runtime::roots::RootKind;
use crate::units::{Address, AddressForm, ObjectIndex};
use crate::warning::Warning;

/// A heap, analyzed.
#[derive(Debug)]
pub struct Heap {
    /// Memory size − first block, in bytes: allocator space, not just live objects; 0 for a snapshot.
    pub total_size: u64,
    /// The shallow size of all live heap objects, in bytes.
    pub live_size: u64,
    /// All objects, alive or not.
    pub objects: ObjectTable,
    /// References between them.
    pub edges: Edges,
    /// The roots, ascending by object, each with its first kind.
    pub roots: Vec<(ObjectIndex, RootKind)>,
    /// The live objects and their dominators.
    pub dominators: DominatorTree,
    /// Per object: its retained size in bytes; 0 if it is not alive. [`HUGE`] stands for a size in
    /// `huge_retained_sizes`.
    pub retained_sizes: Vec<u32>,
    /// The retained sizes of at least [`HUGE`] bytes, ascending by object. Only snapshots have them.
    pub huge_retained_sizes: Vec<(ObjectIndex, u64)>,
    /// Per class slot: sums over its live heap objects.
    pub live_classes: Vec<LiveClass>,
    /// What every byte is used for. Means nothing for a snapshot: see [`known_accounting`](Self::known_accounting).
    pub accounting: Accounting,
    /// Whether this is the heap of a snapshot of V8, which has no memory.
    pub is_snapshot: bool,
    /// Whether the heap is damaged and only the part before the damage was read.
    pub is_partial: bool,
    /// The reasons why numbers may be wrong.
    pub warnings: Vec<Warning>,
}

impl Heap {
    /// Adds the name of the dump to all warnings.
    pub fn name_warnings(&mut self, dump: &str) {
        let warnings = self.warnings.drain(..).map(|warning| Warning::InDump {
            dump: dump.to_owned(),
            warning: Box::new(warning),
        });
        self.warnings = warnings.collect();
    }

    /// What every byte is used for; `None` for a snapshot, which does not say so.
    pub fn known_accounting(&self) -> Option<&Accounting> {
        (!self.is_snapshot).then_some(&self.accounting)
    }

    /// Live objects that take heap space, in address order.
    pub fn live_heap_objects(&self) -> impl Iterator<Item = ObjectIndex> {
        let objects = (0..self.objects.len() as u32).map(ObjectIndex);
        objects.filter(|&object| self.is_live_on_heap(object))
    }

    /// Objects that take heap space, but are not alive, in address order.
    pub fn garbage(&self) -> impl Iterator<Item = ObjectIndex> {
        let objects = (0..self.objects.len() as u32).map(ObjectIndex);
        objects.filter(|&object| self.is_garbage(object))
    }

    /// Whether an object takes heap space, but is not alive.
    #[inline]
    pub fn is_garbage(&self, object: ObjectIndex) -> bool {
        self.retained_size(object) == 0 && self.objects.is_on_heap(object)
    }

    /// Whether an object is alive and takes heap space.
    #[inline]
    pub fn is_live_on_heap(&self, object: ObjectIndex) -> bool {
        // A live heap object retains at least its own block.
        self.retained_size(object) != 0 && self.objects.is_on_heap(object)
    }

    /// The form in which addresses are shown.
    pub fn address_form(&self) -> AddressForm {
        match self.is_snapshot {
            true => AddressForm::Id,
            false => AddressForm::Hexadecimal,
        }
    }

    /// The address of an object's payload.
    #[inline]
    pub fn address(&self, object: ObjectIndex) -> Address {
        Address(self.objects.addresses[object.at()])
    }

    /// Asks for the memory of [`address`](Self::address).
    #[inline]
    pub(crate) fn prefetch_address(&self, object: ObjectIndex) {
        prefetch(&self.objects.addresses, object.0);
    }

    /// The whole block of an object, in bytes.
    #[inline]
    pub fn shallow_size(&self, object: ObjectIndex) -> u64 {
        size_of_object(
            &self.objects.shallow_sizes,
            &self.objects.huge_sizes,
            object,
        )
    }

    /// The block of an object of a dump, in bytes.
    #[inline]
    pub(crate) fn block_size(&self, object: ObjectIndex) -> u32 {
        self.objects.shallow_sizes[object.at()]
    }

    /// Asks for the memory of [`block_size`](Self::block_size).
    #[inline]
    pub(crate) fn prefetch_block_size(&self, object: ObjectIndex) {
        prefetch(&self.objects.shallow_sizes, object.0);
    }

    /// Asks for the memory of the address and of both sizes.
    #[inline]
    pub(crate) fn prefetch_sizes(&self, object: ObjectIndex) {
        self.prefetch_address(object);
        self.prefetch_block_size(object);
        prefetch(&self.retained_sizes, object.0);
    }

    /// The retained size of an object in bytes.
    #[inline]
    pub fn retained_size(&self, object: ObjectIndex) -> u64 {
        size_of_object(&self.retained_sizes, &self.huge_retained_sizes, object)
    }

    /// Whether the size of any object needs more than 32 bits.
    pub fn has_huge_sizes(&self) -> bool {
        !self.huge_retained_sizes.is_empty()
    }

    /// The size of the columns of this value in bytes.
    pub fn memory_size(&self) -> u64 {
        let retained_sizes = self.retained_sizes.capacity() * size_of::<u32>()
            + self.huge_retained_sizes.capacity() * size_of::<(ObjectIndex, u64)>();
        let roots = self.roots.capacity() * size_of::<(ObjectIndex, RootKind)>();
        (self.objects.memory_size()
            + self.edges.memory_size()
            + self.dominators.memory_size()
            + retained_sizes
            + roots) as u64
    }

    /// Releases the parts that views do not read: references, roots, dominators, and the spare capacity of
    /// columns. Sizes, classes and addresses of the objects remain.
    pub fn release_graph(&mut self) {
        self.edges = Edges::default();
        self.dominators = DominatorTree::default();
        self.roots = Vec::new();
        self.retained_sizes.shrink_to_fit();
        self.objects.release_index();
    }

    /// Also releases the columns of the objects. Totals, sums by class, accounting and warnings remain.
    pub fn release_objects(&mut self) {
        self.release_graph();
        self.retained_sizes = Vec::new();
        self.huge_retained_sizes = Vec::new();
        self.objects.release_columns();
    }

    fn warn_of(&mut self, anomalies: &Anomalies) {
        if let Some((first, count)) = self.live_of(&anomalies.with_other_fields) {
            let class = &self.objects.class_of(first).class;
            self.warnings.push(Warning::FieldsDiffer {
                address: self.address(first),
                class_name: class.name.clone(),
                declared: class.declared_size.unwrap_or_default(),
                count,
            });
        }
        if let Some((first, count)) = self.live_of(&anomalies.with_false_references) {
            self.warnings.push(Warning::HeapInconsistent {
                problem: "live objects with a reference that is not to an object of the declared class",
                address: self.address(first),
                count,
            });
        }
        if let Some((first, count)) = self.live_of(&anomalies.misfits) {
            self.warnings.push(Warning::ContentsDoNotFit {
                address: self.address(first),
                class_name: self.objects.class_of(first).class.name.clone(),
                count,
            });
        }
    }

    /// The first live one of these objects, and the number of live ones; `objects` ascend. Garbage is
    /// ignored, because it may refer to memory that was reused.
    fn live_of(&self, objects: &[ObjectIndex]) -> Option<(ObjectIndex, u64)> {
        if objects.is_empty() {
            return None;
        }
        let live = self.dominators.live().iter().copied();
        let mut live = live.filter(|object| objects.binary_search(object).is_ok());
        let any = live.next()?;
        Some(live.fold((any, 1), |(first, count), object| {
            (object.min(first), count + 1)
        }))
    }

    fn warn_of_classes(&mut self) {
        let classes = self.objects.classes.iter().zip(&self.live_classes);
        let live: Vec<_> = classes.filter(|(_, live)| live.count > 0).collect();
        let doubtful = live
            .iter()
            .filter_map(|(class, live)| class_warning(class, live.count));
        self.warnings.extend(doubtful);
        let classes = live.iter().map(|(class, _)| &class.class);
        let mut nameless = classes
            .filter(|class| class.is_described)
            .filter_map(|class| Some((class, class.lacks_name?)));
        if let Some((first, debug_info_by)) = nameless.next() {
            self.warnings.push(Warning::NamesIncomplete {
                debug_info_by,
                class_name: first.name.clone(),
                count: 1 + nameless.count() as u64,
            });
        }
    }
}

/// In a column of sizes, stands for a size of at least this many bytes, which is in a list beside it. Blocks of
/// a dump are multiples of 16 bytes, so none has this size.
pub const HUGE: u32 = u32::MAX;

#[inline]
fn size_of_object(column: &[u32], huge: &[(ObjectIndex, u64)], object: ObjectIndex) -> u64 {
    match column[object.at()] {
        HUGE => huge_size(huge, object),
        size => u64::from(size),
    }
}

#[cold]
fn huge_size(huge: &[(ObjectIndex, u64)], object: ObjectIndex) -> u64 {
    let place = huge.binary_search_by_key(&object, |&(object, _)| object);
    place.map_or(u64::from(HUGE), |place| huge[place].1)
}

/// The warning for a class with live objects, if there is one.
fn class_warning(class: &HeapClass, count: u64) -> Option<Warning> {
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
    let class_name = class.name.clone();
    match class.doubt {
        Doubt::None => None,
        Doubt::Disputed => Some(Warning::ClassDisputed { class_name }),
        Doubt::UnknownBases => Some(Warning::BasesUnknown { class_name }),
    }
}
