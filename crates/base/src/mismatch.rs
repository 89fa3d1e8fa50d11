//! Reasons why a dump cannot have been taken from a module.

use std::fmt;

use crate::error::Coded;
use crate::shown::Shown;
use crate::units::{Address, ClassId};

/// A difference between the module and the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The number of global values.
    GlobalCount {
        /// Values in the dump.
        dump: u32,
        /// Mutable i32 globals of the module.
        module: u32,
    },
    /// A boundary that is constant in the module.
    Boundary {
        /// `__data_end` or `__heap_base`.
        name: &'static str,
        /// In the dump's header.
        dump: Address,
        /// What the module says.
        module: Address,
    },
    /// Static data that a program does not change: a string literal, or the table of type flags.
    StaticData {
        /// Where it lies.
        address: Address,
    },
    /// A class in the debug information whose id is beyond the dump's table of type flags.
    ClassBeyondTable {
        /// In full, such as `assembly/game/Player`.
        class_name: String,
        /// Its id.
        id: ClassId,
        /// How many classes the table has.
        count: u32,
    },
    /// A container class with the type flags of another kind of class.
    ClassKind {
        /// In full, such as `assembly/game/Player`.
        class_name: String,
        /// Its id.
        id: ClassId,
        /// What the dump's table says.
        flags: u32,
    },
    /// A global that the collector starts from, but that refers to no object.
    Root {
        /// Its name, or its number if it has none.
        name: String,
        /// As the dump has it.
        value: Address,
    },
    /// Objects that are too small for the fields of their class, or refer to something after these.
    Fields {
        /// The first such object.
        address: Address,
        /// The full name of its class, such as `assembly/game/Player`.
        class_name: String,
        /// The size of its fields in the debug information, in bytes.
        declared: u32,
        /// How many objects there are, of all classes.
        count: u64,
    },
    /// An object whose class id is beyond the table of type flags.
    ObjectBeyondTable {
        /// The id.
        id: ClassId,
        /// How many classes the table has.
        count: u32,
    },
}

impl Mismatch {
    /// The one of global values. A dump without any is none: its writer could not read globals.
    pub fn of_globals(dump: u32, module: u32) -> Option<Self> {
        (dump != 0 && dump != module).then_some(Self::GlobalCount { dump, module })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GlobalCount { dump, module } => write!(
                f,
                "the dump has {dump} global values (count at offset 20), but the module has {module} mutable i32 globals"
            ),
            Self::Boundary { name, dump, module } => {
                write!(f, "{name} is {dump} in the dump and {module} in the module")
            }
            Self::StaticData { address } => {
                write!(
                    f,
                    "the static data at {address} differs between dump and module"
                )
            }
            Self::ClassBeyondTable {
                class_name,
                id,
                count,
            } => write!(
                f,
                "class {class_name} has id {id} in the module, but the dump has only {count} classes",
                class_name = Shown(class_name)
            ),
            Self::ClassKind {
                class_name,
                id,
                flags,
            } => write!(
                f,
                "class {class_name} (id {id}) has type flags {flags:#x} in the dump, but a container of this kind has other flags",
                class_name = Shown(class_name)
            ),
            Self::Root { name, value } => write!(
                f,
                "the collector starts from global {name}, which is {value}, but none of its lists has an object at this address (unless the dump was taken while the collector moved it)",
                name = Shown(name)
            ),
            Self::Fields {
                address,
                class_name,
                declared,
                count,
            } => write!(
                f,
                "{count} object(s) do not have the fields of their class, the first is the {class_name} at {address}, whose fields take {declared} bytes in the debug information",
                class_name = Shown(class_name)
            ),
            Self::ObjectBeyondTable { id, count } => write!(
                f,
                "there are objects with class id {id} on the heap, but only {count} classes"
            ),
        }
    }
}

/// The dump is not of this module.
#[derive(Debug, thiserror::Error)]
#[error(
    "the dump was taken from another module, or from another build of it: {mismatch}; pass the module that was running"
)]
pub struct OtherModule {
    /// What differs.
    pub mismatch: Mismatch,
}

impl Coded for OtherModule {
    fn code(&self) -> &'static str {
        "ERR_MODULE_MISMATCH"
    }
}
