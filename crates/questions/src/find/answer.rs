//! The answer to `find`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use heap::{ShownValue, SizeParts};

/// The answer to `Heap.find`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FindAnswer")]
pub struct FoundObjects {
    /// Their number.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// None if only the number or groups were asked for.
    pub objects: Vec<FoundObject>,
    /// What the option `where` was for the objects that meet all other conditions. Absent without it.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionResult>,
    /// The sum that the option `sum` asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<SizeSum>,
    /// Groups by the value of the option `groupBy`, in the order sum ↓, count ↓, value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<FoundGroups>,
}

/// What a condition was for the objects that meet all other conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ConditionResult {
    /// The number of these objects.
    pub examined: u64,
    /// Those that lack a field of the expression. They are not found.
    pub without_field: u64,
    /// Those for which it cannot be computed, by reason. They are not found.
    pub failed: Vec<FailedObjects>,
}

/// Objects for which an expression cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FailedObjects {
    /// Why.
    pub reason: &'static str,
    /// Their number.
    pub count: u64,
}

/// A size of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Size {
    /// Its own.
    Shallow,
    /// With everything that only it keeps alive.
    Retained,
}

/// A sum of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SizeSum {
    /// Which size.
    pub size: Size,
    /// The sum in bytes. Of retained sizes, what one object retains of another one counts once.
    pub bytes: u64,
    /// Of heaps that were joined: these bytes by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<SizeParts>,
}

/// Groups of objects: sum ↓, count ↓, value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FoundGroups {
    /// Their number.
    pub total: u64,
    /// The listed entries, as `offset` and `limit` say.
    pub rows: Vec<FoundGroup>,
}

/// The objects for which an expression has one value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FoundGroup {
    /// The value; of an object its class and address. Null also for objects for which there is none.
    pub value: ShownValue,
    /// The value as text; for objects without one, why, in parentheses.
    pub text: String,
    /// The number of objects.
    pub count: u64,
    /// The sum of their sizes, with the option `sum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Of heaps that were joined, with the option `sum`: these bytes by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<SizeParts>,
}

/// An object that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// Its payload.
    pub address: u64,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Bytes that it keeps alive, with its own.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
    /// The contents of the object, shortened.
    pub preview: Option<String>,
    /// Of a heap snapshot of V8: the number of references from a root of the page, as DevTools counts them; greater
    /// by 100,000,000 for what only V8 reaches. Absent for dumps, and for what nothing reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}
