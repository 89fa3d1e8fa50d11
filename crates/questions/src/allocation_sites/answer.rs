//! The sampled blocks, and the answer about the lines that allocated them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use base::frame::Frame;

/// The blocks that a profiler sampled and that were not freed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampledBlocks {
    /// The mean number of bytes between two samples; 1 if every block is a sample.
    pub interval: u64,
    /// The lines that allocated.
    pub places: Vec<Frame>,
    /// Address, size and place of each block, one block after the other.
    pub blocks: Vec<u32>,
}

/// The answer to `Heap.sites`: retained size ↓, size ↓, then file, line and function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SitesAnswer")]
pub struct AllocationSites {
    /// Whether every allocation was recorded, so that all numbers are exact.
    pub exact: bool,
    /// The mean number of bytes between two samples.
    pub interval: u64,
    /// The live bytes of the dump.
    pub total_live_size: u64,
    /// Sampled blocks without an object in the dump, and their bytes.
    pub other_blocks: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// Of a heap snapshot of V8: live objects that were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_objects: Option<OtherObjects>,
    /// The sites with live objects: retained size ↓, size ↓, then file, line and function.
    pub sites: Vec<AllocationSite>,
}

/// Objects whose allocation was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherObjects {
    /// Their number.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub size: u64,
}

/// What a line allocated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocationSite {
    /// The function and its line.
    #[serde(flatten)]
    pub place: Frame,
    /// The sampled objects that are alive.
    pub samples: u64,
    /// Of its live objects, estimated from the samples unless the answer is exact.
    pub count: u64,
    /// Their shallow size.
    pub size: u64,
    /// The standard error of `size`; 0 if it is exact.
    pub size_error: u64,
    /// The retained size of the sampled objects as a set; the others may retain more.
    pub retained_size: u64,
    /// The shallow size of its objects that are garbage, estimated.
    pub garbage_size: u64,
}
