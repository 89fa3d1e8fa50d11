//! The answer to `waste`.

use schemars::JsonSchema;
use serde::Serialize;

/// The answer to `Heap.waste`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WasteAnswer")]
pub struct Waste {
    /// All live heap objects.
    pub total_live_size: u64,
    /// The bytes that all kinds together could save. Each byte counts once.
    pub total_savings: u64,
    /// All kinds, in the order in which they claim bytes: a byte belongs to the first kind that claims it.
    pub kinds: Vec<WasteKind>,
    /// The headers of live objects: 20 bytes each. They do not count as savings, because an object needs its header.
    /// Absent for a heap snapshot of V8, whose only kind is `duplicate-strings`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "description": "absent for a heap snapshot of V8" }))]
    pub headers: Option<WasteHeaders>,
}

/// A kind of waste.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline, extend("x-agent" = { "type": "string" }))]
pub enum WasteKindName {
    /// Strings with the contents of another string. Of equal strings, a static one is not counted, otherwise the one with
    /// the lowest address.
    DuplicateStrings,
    /// The same for `ArrayBuffer`s and for `StaticArray`s of one class. The buffer of an array, a view, a map or a set does
    /// not count as a duplicate.
    DuplicateBuffers,
    /// Arrays, views, maps and sets without elements, with the blocks to which only empty containers refer.
    EmptyContainers,
    /// Buffers to which only views refer, if the views use less than an eighth of the buffer.
    Views,
    /// The part of an array's buffer after its last element.
    ArrayCapacity,
    /// Unused and deleted entries of maps and sets.
    Entries,
    /// The bytes of blocks after the contents.
    Padding,
}

/// All waste of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WasteKind {
    /// Which kind.
    pub kind: WasteKindName,
    /// The number of objects that waste something: copies, containers, buffers, arrays, maps and sets, objects.
    pub count: u64,
    /// The bytes that could be saved.
    pub savings: u64,
    /// The number of groups. At most `limit` of them are listed.
    pub total: u64,
    /// Order: savings ↓, count ↓; then classes by name, and copies by the address of the one that is not counted.
    pub groups: Vec<WasteGroup>,
}

/// Objects with the same contents, or of one class, that waste something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WasteGroup {
    /// For copies, the contents: the literal of a string, otherwise the class and the first elements. For other
    /// kinds, the class.
    pub what: String,
    /// The number of objects. For copies, the one that is not counted is left out.
    pub count: u64,
    /// Bytes that could be saved.
    pub savings: u64,
    /// `Class.field` of the last step of the objects' paths (`Class.field[*]` for elements), or the root. If the
    /// limit cuts the list, its last entry, `(n more)`, sums up the rest.
    pub holders: Vec<WasteHolder>,
}

/// A field or a root that holds objects that waste something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct WasteHolder {
    /// `Class.field` of the last step of their paths, or the root.
    pub holder: String,
    /// The number of objects that it holds.
    pub count: u64,
    /// The bytes of these objects that could be saved.
    pub savings: u64,
}

/// The headers of live heap objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct WasteHeaders {
    /// All of them.
    pub size: u64,
    /// By class: size ↓, name ↑. If the limit cuts the list, its last entry, `(n more)`, sums up the rest.
    pub classes: Vec<HeaderClass>,
}

/// The headers of the objects of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct HeaderClass {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// The number of its live objects.
    pub count: u64,
    /// The bytes of their headers.
    pub size: u64,
}
