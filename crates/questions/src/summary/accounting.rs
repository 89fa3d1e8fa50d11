//! The accounting in the shape of its JSON.

use serde::Serialize;

use heap::{Accounting, CollectorState};

/// What every byte of the heap is used for, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of `Accounting`")]
pub struct AccountingJson {
    pub live: LiveJson,
    pub garbage: u64,
    pub raw: u64,
    pub free: FreeJson,
    pub overhead: u64,
    pub gaps: u64,
    pub unread: u64,
    pub collector: Option<&'static str>,
    pub pinned: Vec<PinnedJson>,
}

/// Live bytes by the first kind of root that reaches them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the fields are those of `LiveBytes`")]
pub struct LiveJson {
    pub global: u64,
    pub stack: u64,
    pub pinned: u64,
}

/// Free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields are those of `FreeBlocks`")]
pub struct FreeJson {
    pub bytes: u64,
    pub blocks: u64,
    pub largest: u64,
    pub fragmentation: f64,
}

/// Pinned objects of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
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
