//! A page of what a container holds: elements of an array, entries of a map, values of a set, properties.

use schemars::JsonSchema;
use serde::Serialize;

use super::value::ShownValue;

/// Which entries of a container are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedEntries {
    /// The number of entries before the first.
    pub offset: u64,
    /// The largest number of entries.
    pub limit: u64,
}

/// What the entries of a container are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ContainerKind {
    /// Elements by index: arrays and typed arrays.
    Elements,
    /// Keys with values.
    Map,
    /// Values without keys.
    Set,
    /// Elements and properties of an object of JavaScript.
    Properties,
}

/// A page of the entries of a container. One that begins beyond the end is empty.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ContainerPage {
    /// What the entries are: elements of an array or a typed array; keys with values of a `Map`; values of a `Set`.
    /// Of a heap snapshot of V8, `properties`: the elements and properties of any object that is no string, number,
    /// `Map` or `Set`, in the order of the snapshot. V8 leaves out numbers unless it is asked for them; of a `Map` or
    /// a `Set` it leaves out keys and values that are numbers, booleans, null or undefined, which are shown as `(not
    /// in the snapshot)`, and entries without another key or value.
    pub kind: ContainerKind,
    /// The number of entries of the container, as far as its memory holds them.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// In the order of the container. Deleted entries do not count.
    pub entries: Vec<ContainerEntry>,
}

/// An entry of a container.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ContainerEntry {
    /// The number of entries before it.
    pub index: u64,
    /// `[5]` for an element, the name of a property; null for maps and sets.
    pub name: Option<String>,
    /// The key, of a map only.
    pub key: Option<HeldValue>,
    /// The value.
    pub value: HeldValue,
}

/// A value that a container holds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldValue {
    /// As in `FieldValue`; of another object than a string, class and address.
    pub value: ShownValue,
    /// The object to which it refers; null if it refers to none.
    pub address: Option<u64>,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: Option<String>,
    /// The class of that object.
    pub class_name: Option<String>,
    /// The function that the object stands for, as in `FieldValue.functionName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_name: Option<String>,
}

impl HeldValue {
    /// A value that refers to no object.
    pub fn plain(value: ShownValue) -> Self {
        Self {
            value,
            address: None,
            address_text: None,
            class_name: None,
            function_name: None,
        }
    }
}
