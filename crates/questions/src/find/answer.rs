//! The answer to `find`.

use serde::Serialize;

/// The objects that were found: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundObjects {
    /// Their number.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub objects: Vec<FoundObject>,
}

/// An object that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// Its payload.
    pub address: u32,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// Its class.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size.
    pub retained_size: u64,
    /// A short form of its contents.
    pub preview: Option<String>,
    /// Of a snapshot: as in [`ObjectAnswer`](crate::ObjectAnswer). Absent for a dump.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}
