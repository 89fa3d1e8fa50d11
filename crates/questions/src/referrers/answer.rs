//! The answer to `referrers`.

use serde::Serialize;

use crate::parts::references::Edge;

/// The references to an object: roots first, then by address and label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Referrers {
    /// The object.
    pub address: u32,
    /// The address as text: `0x9540`, or the id `@38208`.
    pub address_text: String,
    /// The number of references, roots included.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub referrers: Vec<Edge>,
}
