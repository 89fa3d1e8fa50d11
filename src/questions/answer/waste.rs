//! The answer to `waste`.

use serde::Serialize;

/// What could be saved. Every byte counts once, for the first kind that claims it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waste {
    /// All live heap objects.
    pub total_live_size: u64,
    /// What all kinds together could save.
    pub total_savings: u64,
    /// All kinds, in the order in which they claim.
    pub kinds: Vec<WasteKind>,
    /// What the headers of live objects take. No savings: an object needs its header.
    pub headers: WasteHeaders,
}

/// A kind of waste.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WasteKindName {
    /// Strings with the same contents as another one, which stays.
    DuplicateStrings,
    /// Buffers and static arrays of the same class and contents as another one, which stays.
    DuplicateBuffers,
    /// Containers without elements, with the blocks that only they refer to.
    EmptyContainers,
    /// Buffers that only views refer to, which use less than an eighth.
    Views,
    /// What the buffers of arrays have room for beyond the length.
    ArrayCapacity,
    /// Unused and deleted entries of maps and sets.
    Entries,
    /// Bytes of blocks behind the contents.
    Padding,
}

/// All waste of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteKind {
    /// Which kind.
    pub kind: WasteKindName,
    /// How many objects waste something.
    pub count: u64,
    /// Bytes that could be saved.
    pub savings: u64,
    /// How many groups there are.
    pub total: u64,
    /// Some of them: savings ↓, count ↓, then classes by name, and copies by the address of the one that
    /// stays.
    pub groups: Vec<WasteGroup>,
}

/// Objects with the same contents, or of the same class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteGroup {
    /// The contents, or the class.
    pub what: String,
    /// How many objects waste something; of copies without the one that stays.
    pub count: u64,
    /// Bytes that could be saved.
    pub savings: u64,
    /// What holds them: savings ↓, count ↓, name ↑. The last entry, `(n more)`, sums up what the limit
    /// leaves out.
    pub holders: Vec<WasteHolder>,
}

/// What holds objects that waste something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteHolder {
    /// `Class.field` of the last step of their paths, or the root.
    pub holder: String,
    /// How many objects it holds.
    pub count: u64,
    /// Bytes of these that could be saved.
    pub savings: u64,
}

/// The headers of live heap objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteHeaders {
    /// All of them.
    pub size: u64,
    /// By class: size ↓, name ↑. The last entry, `(n more)`, sums up what the limit leaves out.
    pub classes: Vec<HeaderClass>,
}

/// The headers of the objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderClass {
    /// The class.
    pub class_name: String,
    /// How many live objects it has.
    pub count: u64,
    /// The bytes of their headers.
    pub size: u64,
}
