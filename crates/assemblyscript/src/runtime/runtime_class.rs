//! All known facts about one class.

use super::layout::ReferenceLayout;
use base::units::ClassId;
use wasm::debug_info::Producer;

/// The reason why the references of a class may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubt {
    /// Nothing.
    #[default]
    None,
    /// The debug information names other reference fields than the collector visits.
    Disputed,
    /// The collector's code for it decides by values, and cannot be run on its objects.
    VisitorNotRun,
    /// Its inherited fields are not known: every word before its own fields may be one.
    UnknownBases,
}

/// All known facts about one class.
#[derive(Clone, Debug)]
pub struct RuntimeClass {
    /// The name that views show.
    pub name: String,
    /// If the class has no name, although the module has names of functions: who wrote the debug information,
    /// which does not describe the class.
    pub lacks_name: Option<Producer>,
    /// The references in its objects.
    pub layout: ReferenceLayout,
    /// Whether the class is known. If not, every word counts as a possible reference.
    pub is_described: bool,
    /// The reason why the layout may be wrong.
    pub doubt: Doubt,
    /// The size of its fields, if the debug information describes all of them.
    pub declared_size: Option<u32>,
    /// The sizes that its objects can have.
    pub object_size: ObjectSize,
    /// Whether the collector visits exactly the references in the layout: each is null or an object.
    pub is_certain: bool,
    /// Other classes that the debug information gives the same id.
    pub rivals: Vec<String>,
}

/// The sizes that the objects of a class can have, in bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectSize {
    /// Each object has a size of its own.
    Any,
    /// All objects have this size.
    Exactly(u32),
    /// All objects have the same size, which is at least this.
    Uniform(u32),
}

impl RuntimeClass {
    /// A class of which only the id is known.
    pub fn unknown(id: ClassId) -> Self {
        Self {
            name: format!("Class#{id}"),
            lacks_name: None,
            layout: ReferenceLayout::unknown(),
            is_described: false,
            doubt: Doubt::None,
            declared_size: None,
            object_size: ObjectSize::Any,
            is_certain: false,
            rivals: Vec::new(),
        }
    }
}
