//! The answer about the lines that allocated them.

use serde::Serialize;

use base::frame::Frame;

/// What is alive, by the line that allocated it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllocationSites {
    /// Whether every allocation was recorded, so that all numbers are exact.
    pub exact: bool,
    /// The mean number of bytes between two samples.
    pub interval: u64,
    /// The live bytes of the dump.
    pub total_live_size: u64,
    /// Sampled blocks without an object in the dump: `heap.alloc`, or freed before the dump was taken.
    pub other_blocks: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// Live objects that were not recorded, of a snapshot of V8: allocated before V8 tracked allocations, or by V8
    /// itself. Absent for a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_objects: Option<OtherObjects>,
    /// The sites with live objects: retained size ↓, size ↓, then file, line and function.
    pub sites: Vec<AllocationSite>,
}

/// Objects whose allocation was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OtherObjects {
    /// Their number.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub size: u64,
}

/// A line of source, and what it allocated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllocationSite {
    /// The function and its line.
    #[serde(flatten)]
    pub place: Frame,
    /// The sampled objects that are alive.
    pub samples: u64,
    /// The number of its live objects, estimated from the samples.
    pub count: u64,
    /// Their shallow size, estimated from the samples.
    pub size: u64,
    /// The standard error of `size`; 0 if it is exact.
    pub size_error: u64,
    /// The retained size of the sampled objects as a set. Not scaled: the objects that were not sampled may
    /// retain more.
    pub retained_size: u64,
    /// The shallow size of its objects that are garbage, estimated.
    pub garbage_size: u64,
}
