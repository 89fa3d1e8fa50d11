//! The answer to `find`.

use serde::{Deserialize, Serialize};

use heap::{ShownValue, SizeParts};

/// The objects that were found: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundObjects {
    /// Their number.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries; none if only the number or groups were asked for.
    pub objects: Vec<FoundObject>,
    /// What the expression was for the other objects. Absent without an expression.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionResult>,
    /// The sum of their sizes, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<SizeSum>,
    /// The objects by the value of an expression, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<FoundGroups>,
}

/// What a condition was for the objects that meet all other conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionResult {
    /// The number of these objects.
    pub examined: u64,
    /// Those that lack a field, so that it is neither true nor false.
    pub without_field: u64,
    /// Those for which it cannot be computed, by reason.
    pub failed: Vec<FailedObjects>,
}

/// Objects for which an expression cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedObjects {
    /// Why.
    pub reason: &'static str,
    /// Their number.
    pub count: u64,
}

/// A size of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Its own.
    Shallow,
    /// With everything that only it keeps alive.
    Retained,
}

/// A sum of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeSum {
    /// Which size.
    pub size: Size,
    /// The sum in bytes. Of retained sizes, what one object retains of another one counts once.
    pub bytes: u64,
    /// Of heaps that were joined: these bytes by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<SizeParts>,
}

/// Groups of objects: sum ↓, count ↓, value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundGroups {
    /// Their number.
    pub total: u64,
    /// The listed entries, as `offset` and `limit` say.
    pub rows: Vec<FoundGroup>,
}

/// The objects for which an expression has one value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundGroup {
    /// The value; of an object its class and address. Null also for objects for which there is none.
    pub value: ShownValue,
    /// The value as text; for objects without one, why, in parentheses.
    pub text: String,
    /// The number of objects.
    pub count: u64,
    /// The sum of their sizes, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Of heaps that were joined: these bytes by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<SizeParts>,
}

/// An object that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// Its payload.
    pub address: u32,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Bytes that it keeps alive, with its own.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
    /// A short form of its contents.
    pub preview: Option<String>,
    /// Of a snapshot: as in [`ObjectAnswer`](crate::ObjectAnswer). Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}
