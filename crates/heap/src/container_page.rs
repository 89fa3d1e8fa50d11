//! A page of what a container holds: elements of an array, entries of a map, values of a set, properties.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContainerPage {
    /// What the entries are.
    pub kind: ContainerKind,
    /// The number of entries of the container, as far as its memory holds them.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries, in the order of the container.
    pub entries: Vec<ContainerEntry>,
}

/// An entry of a container.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContainerEntry {
    /// The number of entries before it.
    pub index: u64,
    /// Of an element `[5]`, of a property its name; `None` for maps and sets.
    pub name: Option<String>,
    /// The key, if it is an entry of a map.
    pub key: Option<HeldValue>,
    /// The value.
    pub value: HeldValue,
}

/// A value that a container holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldValue {
    /// As the value of a field: a string in quotes and shortened; of another object its class and address.
    pub value: ShownValue,
    /// The object to which it refers.
    pub address: Option<u32>,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: Option<String>,
    /// The class of that object.
    pub class_name: Option<String>,
    /// The function that the object stands for.
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
