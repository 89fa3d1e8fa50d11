//! The debug information that an analysis uses: classes with their layouts, and global variables. It is
//! read from DWARF with gimli, in any form and version that gimli supports.
//!
//! Types are kept as the producer wrote them. The source of a heap decides which of them the collector follows.

mod description;
mod number;
mod producer;
mod reader;
pub mod writer;

pub use number::Number;
pub use producer::{Producer, TRANSFORM};

use base::units::{ClassId, GlobalIndex};

/// The classes and global variables of a module.
#[derive(Debug, Default)]
pub struct DebugInfo {
    /// Every class, in the order of the sections. Names need not be unique.
    pub classes: Vec<Class>,
    /// The variables directly under a unit.
    pub globals: Vec<GlobalVariable>,
    /// Whether the descriptions of classes have base classes. Those of older WARPO versions have none, and
    /// no locations of globals. Then inherited fields are unknown.
    pub describes_inheritance: bool,
    /// Who wrote it.
    pub producer: Producer,
}

/// A class as the producer described it.
#[derive(Debug)]
pub struct Class {
    /// The name with its module path, such as `~lib/array/Array<assembly/index/Node>`.
    pub name: String,
    /// The runtime id. Unmanaged classes and entries of maps and sets carry 0, as `Object` does. Of WARPO's classes,
    /// only tuples have none; of those of the transform, only types of functions that are never created.
    pub id: Option<ClassId>,
    /// The base class.
    pub base: Option<TypeRef>,
    /// The class's own fields.
    pub members: Vec<DeclaredField>,
    /// The types that the class was instantiated with.
    pub type_arguments: Vec<TypeRef>,
}

/// A field.
#[derive(Debug)]
pub struct DeclaredField {
    /// The field's name in the source.
    pub name: String,
    /// Its offset in the payload, in bytes.
    pub offset: u32,
    /// Its declared type.
    pub type_ref: TypeRef,
}

/// A variable that lives in a wasm global.
#[derive(Debug)]
pub struct GlobalVariable {
    /// The name, which is also the global's name in the `name` section.
    pub name: String,
    /// Its declared type.
    pub type_ref: TypeRef,
    /// The wasm global, if the producer knew it.
    pub location: Option<GlobalIndex>,
    /// The initial value of a global that is never assigned. Optimisation may have removed the global; its
    /// value is still this one.
    pub initial: Option<u32>,
}

/// The declared type of a field, a type argument or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// A number or a boolean.
    Base {
        /// Which; `None` for a name that is not known.
        number: Option<Number>,
    },
    /// `DebugInfo::classes[index]`.
    Class(u32),
    /// A type that is not described: its class was never compiled, or its description was left out.
    Unresolved,
}

impl DebugInfo {
    /// The class that a type refers to.
    pub fn class(&self, type_ref: TypeRef) -> Option<&Class> {
        match type_ref {
            TypeRef::Class(index) => self.classes.get(index as usize),
            TypeRef::Base { .. } | TypeRef::Unresolved => None,
        }
    }
}
