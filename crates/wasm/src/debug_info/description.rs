//! Descriptions of debug information that can be written.

use serde::Deserialize;

/// The contents of one module's debug information.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DebugInfoDescription {
    /// The name of the producer.
    pub producer: String,
    /// The classes; [`TypeReference::Class`] and [`ClassDescription::base`] are positions in here.
    pub classes: Vec<ClassDescription>,
    /// The globals that hold references.
    pub globals: Vec<GlobalDescription>,
}

/// A class, an interface, or the layout of a container's entries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClassDescription {
    /// Its name with the module path and type arguments.
    pub name: String,
    /// The runtime id of its objects; 0 for unmanaged classes, `None` for classes that
    /// cannot have objects.
    #[serde(default)]
    pub runtime_id: Option<u32>,
    /// The position of its base class.
    #[serde(default)]
    pub base: Option<usize>,
    /// Its type arguments, in order.
    #[serde(default)]
    pub type_arguments: Vec<TypeReference>,
    /// Its own fields, without those of its base.
    #[serde(default)]
    pub fields: Vec<FieldDescription>,
}

/// A field of a class.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FieldDescription {
    /// Its name.
    pub name: String,
    /// Where it lies, in bytes from the object's address.
    pub offset: u32,
    /// Its type.
    pub of: TypeReference,
}

/// A global variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GlobalDescription {
    /// The name that it has in the module's name section.
    pub name: String,
    /// Its type.
    pub of: TypeReference,
    /// Its index in the finished module, if it is known; without one, the name identifies it.
    #[serde(default)]
    pub global_index: Option<u32>,
    /// Its initial value, which is an address. An optimiser may remove a global that never changes; then
    /// only this value remains.
    #[serde(default)]
    pub constant_value: Option<u32>,
}

/// A type, as fields, globals and type arguments name it. In JSON: `{"class": 3}`,
/// `{"base": "i32"}`, `"neverCompiled"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TypeReference {
    /// A class, by its position in [`DebugInfoDescription::classes`].
    Class(usize),
    /// A plain value: a number, a boolean, a vector.
    Base(String),
    /// A class that the compiler knew by name only. The type attribute is left out, which readers treat as
    /// an unresolvable type. WARPO writes an invalid reference here, which gimli refuses to write.
    NeverCompiled,
}

/// The three custom sections, named `debug_info`, `debug_abbrev` and `debug_str` in a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugSections {
    /// The entries.
    pub debug_info: Vec<u8>,
    /// The abbreviations, which are the layouts of the entries.
    pub debug_abbrev: Vec<u8>,
    /// The strings that entries point to.
    pub debug_str: Vec<u8>,
}

/// Why a description cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A reference to a class that is not described.
    #[error(
        "{user} refers to class {class}, but only {count} classes are described (0 to {count}, exclusive)"
    )]
    UnknownClass {
        /// The class or global with the reference.
        user: String,
        /// The position that it names.
        class: usize,
        /// The number of classes.
        count: usize,
    },
    /// A name that DWARF cannot hold, because its strings end at a zero byte.
    #[error("the name {name:?} has a zero character, which ends a string in DWARF")]
    ZeroInName {
        /// The name.
        name: String,
    },
    /// The JSON is not a description.
    #[error("the description of the debug information cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// The encoding failed, for example because it has more than 4 GiB.
    #[error("the debug information cannot be encoded: {0}")]
    Encoding(#[from] gimli::write::Error),
}

impl DebugInfoDescription {
    /// Reads a description from JSON with the field names of these structs in camel case.
    pub fn from_json(json: &str) -> Result<Self, WriteError> {
        Ok(serde_json::from_str(json)?)
    }
}
