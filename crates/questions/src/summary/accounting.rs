//! The accounting in the shape of its JSON.

use schemars::JsonSchema;
use serde::Serialize;

use heap::{Accounting, CollectorState};

/// The whole heap in bytes. live + garbage + raw + free + overhead + gaps + unread = totalHeapSize, exactly.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of `Accounting`")]
#[schemars(rename = "Accounting")]
pub struct AccountingJson {
    /// Live objects, by the first kind of root that reaches them: global variables, stack, pinned objects.
    pub live: LiveJson,
    /// Objects that the collector has not freed yet.
    pub garbage: u64,
    /// Blocks in use that hold no object (`heap.alloc`).
    pub raw: u64,
    /// Free blocks of the allocator. `fragmentation` is the share of their bytes that is not in the largest one.
    pub free: FreeJson,
    /// Bytes that the allocator uses itself: ends of regions and padding.
    pub overhead: u64,
    /// Memory that does not belong to the allocator: pages that other code added with `memory.grow`.
    pub gaps: u64,
    /// The part after damage; 0 unless the result is partial.
    pub unread: u64,
    /// The state of the collector; null if the module does not name the variable that holds it.
    #[schemars(extend("enum" = ["idle", "marking", "sweeping", null]))]
    pub collector: Option<&'static str>,
    /// Pinned objects by class.
    pub pinned: Vec<PinnedJson>,
}

/// Live bytes by the first kind of root that reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs, reason = "the fields are those of `LiveBytes`")]
#[schemars(inline)]
pub struct LiveJson {
    pub global: u64,
    pub stack: u64,
    pub pinned: u64,
}

/// Free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[allow(missing_docs, reason = "the fields are those of `FreeBlocks`")]
#[schemars(inline)]
pub struct FreeJson {
    pub bytes: u64,
    pub blocks: u64,
    pub largest: u64,
    pub fragmentation: f64,
}

/// Pinned objects of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PinnedJson {
    /// Its full name, such as `assembly/game/Player`.
    pub class_name: String,
    /// Their number.
    pub count: u64,
}

impl From<&Accounting> for AccountingJson {
    fn from(accounting: &Accounting) -> Self {
        let pinned = accounting.pinned.iter();
        Self {
            live: LiveJson {
                global: accounting.live.global,
                stack: accounting.live.stack,
                pinned: accounting.live.pinned,
            },
            garbage: accounting.garbage,
            raw: accounting.raw,
            free: FreeJson {
                bytes: accounting.free.bytes,
                blocks: accounting.free.blocks,
                largest: accounting.free.largest,
                // Four digits are enough, and the same on every machine.
                fragmentation: (accounting.free.fragmentation() * 1e4).round() / 1e4,
            },
            overhead: accounting.overhead,
            gaps: accounting.gaps,
            unread: accounting.unread,
            collector: accounting.collector.map(CollectorState::name),
            pinned: pinned
                .map(|(class_name, count)| PinnedJson {
                    class_name: class_name.clone(),
                    count: *count,
                })
                .collect(),
        }
    }
}
