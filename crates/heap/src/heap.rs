//! The heap itself: columns by object, and what is known of all of it.

use super::accounting::Accounting;
use super::dominators::DominatorTree;
use super::edges::Edges;
use super::huge_sizes::size_of_object;
use super::live_class::LiveClass;
use super::object_state::ObjectState;
use super::objects::ObjectTable;
use super::prefetch::prefetch;
use super::root_kind::RootKind;
use super::unreferenced::UnreferencedTotals;
use base::units::{Address, AddressForm, ObjectAddress, ObjectIndex};
use base::warning::Warning;

/// A heap, analyzed.
#[derive(Debug)]
pub struct Heap {
    /// The memory of the heap in bytes, allocator space included, not just live objects; `None` if it is not known.
    pub total_size: Option<u64>,
    /// The shallow size of all live heap objects, in bytes.
    pub live_size: u64,
    /// Bytes that the host counts beside its objects, such as tables of its collector outside of the heap: of no object,
    /// no class and no place.
    pub outside_size: u64,
    /// All objects, alive or not.
    pub objects: ObjectTable,
    /// References between them.
    pub edges: Edges,
    /// The roots, ascending by object, each with its first kind.
    pub roots: Vec<(ObjectIndex, RootKind)>,
    /// The live objects and their dominators.
    pub dominators: DominatorTree,
    /// Per object: its retained size in bytes; 0 if it is not alive. [`HUGE`](crate::HUGE) stands for a size in
    /// `huge_retained_sizes`.
    pub retained_sizes: Vec<u32>,
    /// The retained sizes of at least [`HUGE`](crate::HUGE) bytes, ascending by object.
    pub huge_retained_sizes: Vec<(ObjectIndex, u64)>,
    /// Per class slot: sums over its live heap objects.
    pub live_classes: Vec<LiveClass>,
    /// What every byte is used for; `None` if it is not known.
    pub accounting: Option<Accounting>,
    /// What no root but one of the kind [`Unreferenced`](RootKind::Unreferenced) leads to; `None` if such a heap has
    /// none.
    pub unreferenced: Option<UnreferencedTotals>,
    /// The form in which addresses are shown.
    pub address_form: AddressForm,
    /// The kinds of roots that such a heap can have.
    pub root_kinds: &'static [RootKind],
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

    /// The bytes of all live heap objects, with those that the host counts beside them.
    pub fn total_live_size(&self) -> u64 {
        self.live_size.saturating_add(self.outside_size)
    }

    /// Whether such a heap can have roots of this kind.
    pub fn has_root_kind(&self, kind: RootKind) -> bool {
        self.root_kinds.contains(&kind)
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

    /// The state of an object.
    pub fn state(&self, object: ObjectIndex) -> ObjectState {
        if self.objects.is_static(object) {
            ObjectState::Static
        } else if self.is_garbage(object) {
            ObjectState::Garbage
        } else {
            ObjectState::Live
        }
    }

    /// The address of an object's payload.
    #[inline]
    pub fn address(&self, object: ObjectIndex) -> ObjectAddress {
        self.objects.addresses.get(object.at())
    }

    /// The address of an object's payload in a memory of 32 bits: for sources that read one.
    #[inline]
    pub fn memory_address(&self, object: ObjectIndex) -> Address {
        self.objects.addresses.word(object.at())
    }

    /// Asks for the memory of [`address`](Self::address).
    #[inline]
    pub fn prefetch_address(&self, object: ObjectIndex) {
        self.objects.addresses.prefetch(object.0);
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

    /// The block of an object in bytes, in a heap in which no object is [`HUGE`](crate::HUGE).
    #[inline]
    pub fn block_size(&self, object: ObjectIndex) -> u32 {
        self.objects.shallow_sizes[object.at()]
    }

    /// Asks for the memory of [`block_size`](Self::block_size).
    #[inline]
    pub fn prefetch_block_size(&self, object: ObjectIndex) {
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
}
