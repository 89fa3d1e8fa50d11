//! The answer to `waste`.

use serde::Serialize;

/// The memory that could be saved. Every byte counts once, for the first kind that claims it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waste {
    /// All live heap objects.
    pub total_live_size: u64,
    /// The bytes that all kinds together could save.
    pub total_savings: u64,
    /// All kinds, in the order in which they claim bytes. Of a snapshot, the first alone.
    pub kinds: Vec<WasteKind>,
    /// The headers of live objects. They are not savings, because an object needs its header. Absent for a
    /// snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<WasteHeaders>,
}

/// A kind of waste.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WasteKindName {
    /// Strings with the same contents as another one, which is not counted.
    DuplicateStrings,
    /// Buffers and static arrays with the same class and contents as another one, which is not counted.
    DuplicateBuffers,
    /// Containers without elements, with the blocks to which only they refer.
    EmptyContainers,
    /// Buffers to which only views refer, if the views use less than an eighth of them.
    Views,
    /// The parts of the buffers of arrays after the last element.
    ArrayCapacity,
    /// Unused and deleted entries of maps and sets.
    Entries,
    /// Bytes of blocks after the contents.
    Padding,
}

/// All waste of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteKind {
    /// Which kind.
    pub kind: WasteKindName,
    /// The number of objects that waste something.
    pub count: u64,
    /// Bytes that could be saved.
    pub savings: u64,
    /// The number of groups.
    pub total: u64,
    /// The listed groups: savings ↓, count ↓, then classes by name, and copies by the address of the one that
    /// is not counted.
    pub groups: Vec<WasteGroup>,
}

/// Objects with the same contents, or of the same class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteGroup {
    /// The contents, or the class.
    pub what: String,
    /// The number of objects that waste something. For copies, the one that is not counted is left out.
    pub count: u64,
    /// Bytes that could be saved.
    pub savings: u64,
    /// The fields or roots that hold them: savings ↓, count ↓, name ↑. The last entry, `(n more)`, sums up
    /// the entries that the limit leaves out.
    pub holders: Vec<WasteHolder>,
}

/// A field or a root that holds objects that waste something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteHolder {
    /// `Class.field` of the last step of their paths, or the root.
    pub holder: String,
    /// The number of objects that it holds.
    pub count: u64,
    /// The bytes of these objects that could be saved.
    pub savings: u64,
}

/// The headers of live heap objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WasteHeaders {
    /// All of them.
    pub size: u64,
    /// By class: size ↓, name ↑. The last entry, `(n more)`, sums up the entries that the limit leaves out.
    pub classes: Vec<HeaderClass>,
}

/// The headers of the objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeaderClass {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// The number of its live objects.
    pub count: u64,
    /// The bytes of their headers.
    pub size: u64,
}
