//! The answer to `referrers`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::parts::references::Edge;

/// The answer to `Heap.referrers`: roots first, then by address and label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReferrersAnswer")]
pub struct Referrers {
    /// The object.
    pub address: u64,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
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
