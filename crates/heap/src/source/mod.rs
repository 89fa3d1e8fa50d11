//! What a heap cannot say of itself: names, contents, and what lies between its objects. A [`Source`] answers
//! that, once for each way in. Questions, formats and exports know sources by this trait alone.
//!
//! Every source has the methods of [`Source`]. What only some heaps can say is an add-on, a trait of its own:
//! [`MemoryContents`], [`HostNames`], [`AllocationLines`], [`JoinedHeaps`], [`SourceLocations`], [`AllContents`]. What is the
//! same for all objects of a source is data: [`Facts`].

mod add_ons;
mod facts;
mod reader;

use std::sync::Arc;

use super::field_reader::{ClassFields, NoFields};
use super::joined::JoinedHeaps;
use super::object_state::ObjectState;
use super::{DominatorIndex, EdgeLabel, Heap, Indexes, RootSlots, Survey};
use base::control::{Control, Step};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;

pub use add_ons::{
    AllContents, AllocationLine, AllocationLines, HostNames, MemoryContents, NO_ALLOCATION,
    OtherEdge, PropertyClass, SourceLocation, SourceLocations,
};
pub use facts::{ClassFacts, ClassPattern, Facts, Lacks};
pub use reader::{FieldValue, ObjectReader, ReadOrder, TextFilter};

/// Where the objects of a heap come from.
///
/// Methods about one object or one class are for what is shown: some hundred calls for an answer. What concerns
/// all objects is one call, whose loop the source has.
pub trait Source: Send + Sync {
    /// What is the same for all objects.
    fn facts(&self) -> &Facts;

    /// The memory that it holds, in bytes, without the heap and without copies of the input.
    fn memory_size(&self) -> u64;

    /// A label without index or key, of a reference from an object of this class slot.
    fn class_label(&self, class_slot: u32, label: EdgeLabel) -> String;

    /// The label of the reference at this position of the graph, from an object of this class slot: with the index, if
    /// the graph has it.
    fn label_at(&self, class_slot: u32, position: u32) -> String;

    /// A label whose key or index is unknown in place of one that is known, for paths of other heaps.
    fn without_key<'l>(&self, label: &'l str) -> &'l str {
        label
    }

    /// Whether a name is from the source code, and so the same in another build.
    fn is_stable(&self, _name: Name<'_>) -> bool {
        true
    }

    /// Whether a reference from an object of this class slot leads to a container's own contents.
    fn is_own_storage(&self, _class_slot: u32, _label: EdgeLabel) -> bool {
        false
    }

    /// The object or block around an address that is not the address of an object. `notes` say that the address
    /// is inside of it.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`](base::Error::Io).
    fn around(
        &self,
        _address: u64,
        _notes: &mut Vec<Warning>,
        _control: &Control,
    ) -> Result<Option<Found>> {
        Ok(None)
    }

    /// Reads objects, which are asked for in this order. Cancelled work reads nothing more.
    fn reader(&self, order: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_>;

    /// Finds the strings that contain a text.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>>;

    /// The fields of many objects as values, for expressions.
    fn fields(&self) -> &dyn ClassFields {
        &NoFields
    }

    /// The contents of the live objects, as `waste` compares them.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`](base::Error::Io),
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    fn survey(&self, _live: &DominatorIndex, _step: &Step<'_>) -> Result<Survey> {
        Ok(Survey::default())
    }

    /// The memory in which the objects lie.
    fn memory(&self) -> Option<&dyn MemoryContents> {
        None
    }

    /// What a host says of its heap.
    fn host_names(&self) -> Option<&dyn HostNames> {
        None
    }

    /// Where objects were allocated, if the input says it.
    fn allocation_lines(&self) -> Option<&AllocationLines> {
        None
    }

    /// What is known of two heaps that were joined; `None` for one heap.
    fn joined(&self) -> Option<&dyn JoinedHeaps> {
        None
    }

    /// Where classes are in the source code.
    fn locations(&self) -> Option<&dyn SourceLocations> {
        None
    }

    /// The contents of all objects at once.
    fn all_contents(&self) -> Option<&dyn AllContents> {
        None
    }
}

/// A name that may be made from what another build does not have, such as the number of a class.
#[derive(Clone, Copy, Debug)]
pub enum Name<'n> {
    /// Of a class.
    Class(&'n str),
    /// Of a reference: its label, and the text of it.
    Label(EdgeLabel, &'n str),
}

/// A heap that was opened for questions.
pub struct Opened {
    /// The heap.
    pub heap: Arc<Heap>,
    /// Every place from which the collector starts.
    pub roots: RootSlots,
    /// Where it comes from.
    pub source: Box<dyn Source>,
    /// Indexes that were built beside it.
    pub indexes: Option<Indexes>,
}

/// The object or the block at an address.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// An object.
    Object(ObjectIndex),
    /// A block without an object.
    Block {
        /// The address after the block's header.
        address: u64,
        /// The size of the block.
        size: u32,
        /// Raw or free.
        state: ObjectState,
    },
}
