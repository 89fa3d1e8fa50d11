//! What a heap cannot say of itself: names, contents, and what lies between its objects. A [`Source`] answers
//! that, once for each way in. Questions, formats and exports know sources by this trait alone.

use std::any::Any;
use std::sync::Arc;

use serde::Serialize;

use super::blocks::Blocks;
use super::category::Category;
use super::class_use::ClassUse;
use super::container_page::{ContainerPage, WantedEntries};
use super::content_reader::{ClassNaming, NoContents, OpenedContents};
use super::field_reader::{FieldReader, FieldType, NoFields};
use super::joined::JoinedHeaps;
use super::object_state::ObjectState;
use super::value::ShownValue;
use super::{DominatorIndex, EdgeLabel, Heap, Indexes, PathTree, RawTable, RootSlots, Survey};
use base::bits::Bits;
use base::control::{Control, Step};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use base::warning::Warning;

/// A position in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// The file as the heap names it: a path, a URL, or a name such as `node:internal/timers`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in UTF-16 code units.
    pub column: u32,
}

/// Where the objects of a heap come from.
///
/// Methods about one object or one class are for what is shown: some hundred calls for an answer. What concerns
/// all objects is one call, whose loop the source has.
pub trait Source: Send + Sync {
    /// For [`like`](Self::like), where a source looks for another one of its own type.
    fn as_any(&self) -> &dyn Any;

    /// Equal for sources whose addresses can be compared, such as dumps of one module.
    fn program(&self) -> u64;

    /// Why addresses cannot be compared with those of another program, if there is more to say than that.
    /// `name` and `other` are the names of the two inputs.
    fn not_comparable(&self, _name: &str, _other: &str) -> Option<Error> {
        None
    }

    /// The heap with the classes that its objects have beside a later heap, as far as comparisons read it; `None`
    /// if they have the same.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    fn like(&self, _later: &dyn Source, _control: &Control) -> Result<Option<Heap>> {
        Ok(None)
    }

    /// Refuses what this source cannot answer.
    ///
    /// # Errors
    /// One that says why.
    fn check(&self, _need: Need) -> Result<()> {
        Ok(())
    }

    /// Whether there is a module beside the input.
    fn has_module(&self) -> bool;

    /// The memory that it holds, in bytes, without the heap and without copies of the input.
    fn memory_size(&self) -> u64;

    /// The bytes that are read if all contents are, for the progress of an export.
    fn content_size(&self) -> u64;

    /// The blocks of its objects; `None` if its objects do not lie in blocks.
    fn blocks(&self) -> Option<Blocks>;

    /// What is known of two heaps that were joined; `None` for one heap.
    fn joined(&self) -> Option<&dyn JoinedHeaps> {
        None
    }

    /// A label without index or key, of a reference from an object of this class slot.
    fn class_label(&self, class_slot: u32, label: EdgeLabel) -> String;

    /// The label of the reference at this position of the graph, from an object of this class slot: with the index, if
    /// the graph has it.
    fn label_at(&self, class_slot: u32, position: u32) -> String;

    /// A label whose key or index is unknown in place of one that is known, for paths of other heaps.
    fn without_key<'l>(&self, label: &'l str) -> &'l str;

    /// Whether a label is from the source code, and so the same in another build.
    fn is_label_stable(&self, label: EdgeLabel, text: &str) -> bool;

    /// Whether the name of a class is the same in another build.
    fn is_class_stable(&self, name: &str) -> bool;

    /// Whether the number of an object is its own as long as the program runs: no other object gets it later.
    fn keeps_numbers(&self) -> bool {
        false
    }

    /// The names of the classes of texts that have the size of their contents, with the bytes of a character: the texts
    /// of numbers that gain digits grow without a leak.
    fn text_classes(&self) -> &[(&str, u64)] {
        &[]
    }

    /// The names of the classes of what the engine that runs the program makes for itself, such as compiled code. It
    /// comes and goes as the engine sees fit, so that it is no growth of the program.
    fn engine_classes(&self) -> &[&str] {
        &[]
    }

    /// The names of classes that programs, hosts and libraries use for everything, such as plain objects. That there are
    /// more of them in no one place says nothing of the program.
    fn plain_classes(&self) -> &[&str] {
        &[]
    }

    /// What the objects of the class with this name are used for.
    fn class_use(&self, _name: &str) -> ClassUse {
        ClassUse::Program
    }

    /// Where in the source the constructor of a class slot is, if the heap says so.
    fn class_location(&self, _class_slot: u32) -> Option<SourceLocation> {
        None
    }

    /// Whether a reference from an object of this class slot leads to a container's own contents.
    fn is_own_storage(&self, class_slot: u32, label: EdgeLabel) -> bool;

    /// How many references of an object, from its last on, may lead to its own contents.
    fn storage_references(&self) -> usize;

    /// Whether an object is no object of the program but a part of the root, such as `(GC roots)`, or a global object.
    /// A program cannot release it, so it is no suspect and no reference to cut.
    fn is_root_part(&self, _object: ObjectIndex) -> bool {
        false
    }

    /// The objects that refer to roots which have their name, such as `(Global handles)`: one bit for each object. What
    /// they hold is counted for the roots. A global object is none: its references have names in the program. `None` if
    /// there are no such objects in this kind of heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn root_holders(&self) -> Result<Option<Bits>> {
        Ok(None)
    }

    /// What a path that lists names alone says for a reference with this label, whose index or key is known; `None` if
    /// the program has no name for it, because it leads to a container's own contents.
    fn program_name(
        &self,
        _holder: ObjectIndex,
        _target: ObjectIndex,
        label: &str,
    ) -> Option<String> {
        Some(label.to_owned())
    }

    /// Where objects were allocated, if the input says it.
    fn allocation_lines(&self) -> Option<&AllocationLines> {
        None
    }

    /// What only objects of this category keep alive, and these themselves: one bit for each object. `None` if there are
    /// no such objects in this kind of heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    fn category(&self, _category: Category, _control: &Control) -> Result<Option<Bits>> {
        Ok(None)
    }

    /// The number of references from a root, if the input says it.
    fn distance(&self, _object: ObjectIndex) -> Option<u32> {
        None
    }

    /// The references to an object that keep nothing alive.
    fn other_edges_to(&self, _target: ObjectIndex) -> Vec<OtherEdge> {
        Vec::new()
    }

    /// The label of such a reference.
    fn other_label(&self, _edge: OtherEdge) -> Option<String> {
        None
    }

    /// The object or block around an address that is not the address of an object. `notes` say that the address
    /// is inside of it.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`].
    fn around(
        &self,
        _address: u32,
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
    /// [`Error::OutOfMemory`].
    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>>;

    /// What the field with this name holds in the objects of these class slots; `None` if none of them has such a
    /// field.
    ///
    /// # Errors
    /// [`Error::Aborted`].
    fn field_type(
        &self,
        _name: &str,
        _class_slots: &[bool],
        _control: &Control,
    ) -> Result<Option<FieldType>> {
        Ok(None)
    }

    /// Names of fields of the objects of these class slots, to suggest one; not all if there are many.
    fn field_names(&self, _class_slots: &[bool]) -> Vec<String> {
        Vec::new()
    }

    /// The object that a global has for its value, if the roots do not say it.
    fn global(&self, _name: &str) -> Option<ObjectIndex> {
        None
    }

    /// Reads the fields with these names of many objects, which ascend. Cancelled work reads nothing more.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn field_reader(
        &self,
        _names: &[String],
        _control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(NoFields))
    }

    /// How references from the objects of this class slot are named.
    fn class_naming(&self, _class_slot: u32) -> ClassNaming {
        ClassNaming::default()
    }

    /// Opens the contents of all objects. A file may be mapped if `may_map`: if another process truncates it then,
    /// a signal ends this process.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`].
    fn open_contents(&self, _may_map: bool) -> Result<Box<dyn OpenedContents + '_>> {
        Ok(Box::new(NoContents))
    }

    /// By object: the bytes of its contents, without what containers have in reserve; 0 for what is not alive.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`], [`Error::OutOfMemory`], [`Error::Aborted`].
    fn content_sizes(&self, tree: &PathTree, step: &Step<'_>) -> Result<Vec<u32>>;

    /// The contents of the live objects, as `waste` compares them.
    ///
    /// # Errors
    /// As [`content_sizes`](Self::content_sizes).
    fn survey(&self, live: &DominatorIndex, step: &Step<'_>) -> Result<Survey>;

    /// The used blocks that hold no object.
    ///
    /// # Errors
    /// As [`content_sizes`](Self::content_sizes).
    fn raw_blocks(&self, _control: &Control) -> Result<RawTable> {
        Ok(RawTable::default())
    }

    /// The raw blocks to which nothing refers, ascending; `None` if that is not known. `notes` say why.
    ///
    /// # Errors
    /// As [`content_sizes`](Self::content_sizes).
    fn unreferenced_blocks(
        &self,
        _raw: &RawTable,
        _notes: &mut Vec<Warning>,
        _control: &Control,
    ) -> Result<Option<Vec<u32>>> {
        Ok(Some(Vec::new()))
    }
}

/// Stands for no line.
pub const NO_ALLOCATION: u32 = u32::MAX;

/// A line of source that allocated objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllocationLine {
    /// The name of the function; empty for the code outside of functions.
    pub function: String,
    /// The script.
    pub file: String,
    /// The line of the function, from 1; 0 if it is not known.
    pub line: u32,
}

/// Where objects were allocated.
#[derive(Debug)]
pub struct AllocationLines {
    /// The lines.
    pub lines: Vec<AllocationLine>,
    /// By object: the number of its line, or [`NO_ALLOCATION`].
    pub line_of: Vec<u32>,
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

/// What a question or an export needs of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Objects that are not alive, for `unreachable`.
    Garbage,
    /// What objects contain: strings, elements and entries, for `waste`.
    Contents,
    /// The addresses of blocks as allocation functions return them, for `sites`.
    Blocks,
    /// Another form than a heap snapshot of V8.
    HeapSnapshot,
    /// Bytes of one heap, for comparisons with an earlier one.
    Comparison,
    /// Bytes of one heap, for formats whose readers add them up.
    Sums,
}

/// The order in which objects are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    /// Single ones.
    Any,
    /// Many, by address.
    Ascending,
}

/// Reads objects.
pub trait ObjectReader {
    /// The label of a reference, with its index or key. If `source` refers to `target` more than once under such
    /// labels, it is the reference after `skipped` of them.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`], [`Error::OutOfMemory`].
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String>;

    /// A short form of the contents of an object; `None` if nothing is known of them.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>>;

    /// The fields of an object. `notes` say if there are too many.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn fields(&mut self, object: ObjectIndex, notes: &mut Vec<Warning>) -> Result<Vec<FieldValue>>;

    /// A page of what a container holds; `None` for objects that are no containers.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn entries(
        &mut self,
        _object: ObjectIndex,
        _wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        Ok(None)
    }

    /// A string with its quotes, shortened to some characters; `None` for other objects, and for strings whose
    /// contents are not known.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>>;

    /// What objects with equal contents have in common: the literal of a string, otherwise the class and the
    /// first elements.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String>;

    /// The name of the function that an object stands for; `None` for objects that are no functions, and for functions
    /// whose names are not known.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn function_name(&mut self, _object: ObjectIndex) -> Result<Option<String>> {
        Ok(None)
    }

    /// The label of the reference at this position of the graph, with its index or key: the one after `skipped`
    /// references from `source` to the same target that have the same label without them.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn label_at(&mut self, source: ObjectIndex, position: u32, skipped: usize) -> Result<String>;
}

/// Finds strings that contain a text.
pub trait TextFilter {
    /// Keeps these of some objects, which ascend from call to call.
    ///
    /// # Errors
    /// As [`ObjectReader::label`].
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()>;
}

/// The object or the block at an address.
#[derive(Clone, Copy, Debug)]
pub enum Found {
    /// An object.
    Object(ObjectIndex),
    /// A block without an object.
    Block {
        /// The address after the block's header.
        address: u32,
        /// The size of the block.
        size: u32,
        /// Raw or free.
        state: ObjectState,
    },
}

/// A reference that keeps nothing alive.
#[derive(Clone, Copy, Debug)]
pub struct OtherEdge {
    /// The object that refers.
    pub source: ObjectIndex,
    /// Whether the program made it so.
    pub is_weak: bool,
    /// Its number, for its source.
    pub number: usize,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldValue {
    /// Its name in the source, or its offset (`+8`).
    pub name: String,
    /// Its declared type; `?` if that is not known.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value; for a reference, a preview of the object.
    pub value: ShownValue,
    /// The object to which it refers.
    pub address: Option<u32>,
    /// The class of that object.
    pub class_name: Option<String>,
    /// The function that the field stands for, if it is the index of a function object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_name: Option<String>,
}
