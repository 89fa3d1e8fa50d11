//! What only some heaps can say of themselves. A question asks a source for the add-on that it needs, and does without,
//! or says what is missing.

use schemars::JsonSchema;
use serde::Serialize;

use crate::blocks::Blocks;
use crate::category::Category;
use crate::content_reader::{ClassNaming, NoContents, OpenedContents};
use crate::{Heap, PathTree, RawTable};
use base::bits::Bits;
use base::control::{Control, Step};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;

/// The memory in which objects lie.
pub trait MemoryContents {
    /// The blocks of objects.
    fn blocks(&self) -> Blocks;

    /// By object: the bytes of its contents, without what containers have in reserve; 0 for what is not alive.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`](base::Error::Io),
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    fn content_sizes(&self, tree: &PathTree, step: &Step<'_>) -> Result<Vec<u32>>;

    /// The bytes of the stack in memory that are in use: 0 if no function was running, unless a caller did not give its
    /// stack back.
    fn stack_size(&self) -> u64 {
        0
    }

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

/// The contents of all objects at once, for an export.
pub trait AllContents {
    /// The bytes that are read if all contents are, for the progress of an export.
    fn size(&self) -> u64 {
        0
    }

    /// How references from the objects of this class slot are named.
    fn class_naming(&self, class_slot: u32) -> ClassNaming;

    /// Opens the contents of all objects. A file may be mapped if `may_map`: if another process truncates it then, a
    /// signal ends this process. By default, references have no names beside their labels, and no object is a string.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`](base::Error::Io).
    fn open(&self, _may_map: bool) -> Result<Box<dyn OpenedContents + '_>> {
        Ok(Box::new(NoContents))
    }
}

/// What a host says of the objects in its heap: names for its roots, categories, distances, and references that keep
/// nothing alive.
pub trait HostNames {
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
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
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

    /// The object that a global has for its value, if the roots do not say it.
    fn global(&self, _name: &str) -> Option<ObjectIndex> {
        None
    }

    /// What only objects of this category keep alive, and these themselves: one bit for each object. `None` if there are
    /// no such objects in this kind of heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
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

    /// The classes that objects without a class of their own have by their properties.
    fn property_classes(&self) -> &[PropertyClass] {
        &[]
    }

    /// The heap with the classes that its objects have by the [`property_classes`](Self::property_classes) of a later
    /// heap, as far as comparisons read it; `None` if they have the same.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    fn with_property_classes(
        &self,
        _later: &[PropertyClass],
        _control: &Control,
    ) -> Result<Option<Heap>> {
        Ok(None)
    }
}

/// Where classes are in the source.
pub trait SourceLocations {
    /// Where the constructor of a class slot is, if the heap says so.
    fn class_location(&self, class_slot: u32) -> Option<SourceLocation>;
}

/// The properties that many objects without a class of their own have: as WTF-8, in the order in which the first such
/// object has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyClass {
    /// What stands for the name of a class.
    pub name: String,
    /// The names of the properties.
    pub properties: Vec<Vec<u8>>,
}

/// A position in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SourceLocation {
    /// The file as the heap names it: a path, a URL, or a name such as `node:internal/timers`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in UTF-16 code units.
    pub column: u32,
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
