//! The answers to `growth` and `check`.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::parts::roots::Root;
use heap::SourceLocation;

/// The class of the stack, which has no objects of its own.
pub(super) const STACK: &str = "(stack)";

/// The answer to `growth`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GrowthAnswer")]
pub struct Growth {
    /// All dumps, those of the warm-up too.
    pub dumps: Vec<GrowthDump>,
    /// The number of ignored dumps at the start.
    pub warmup: u64,
    /// How many places grow, those that are folded into others not counted.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// The growth of live bytes per interval.
    #[schemars(extend("x-agent" = { "description": "live bytes" }))]
    pub per_interval: LiveGrowth,
    /// Order: retained bytes per interval ↓, bytes of contents with folded places ↓, count per interval ↓, path ↑.
    pub places: Vec<GrowingPlace>,
    /// The places that grew at first, and may have stopped: bytes in the last dump ↓, path ↑; at most 1,000.
    #[schemars(extend("x-agent" = { "description": "places that may have stopped growing" }))]
    pub undecided: Vec<UndecidedPlace>,
}

/// A dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct GrowthDump {
    /// Its name; `dump 1` and so on if all have the same.
    pub name: String,
    /// All live heap objects.
    pub total_live_size: u64,
}

/// A place of the program that holds more from dump to dump.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrowingPlace {
    /// Null if the number of objects grows, but not on one path, and for raw blocks.
    pub root: Option<Root>,
    /// The path as text, with the class at its end. Null as for `root`.
    pub path: Option<String>,
    /// The label of the references to the objects; without a path, `Class.label`. Null for all objects with this path
    /// (for example in a linked list), for objects of a root, for a whole class, and for raw blocks.
    pub label: Option<String>,
    /// `(raw blocks)` for blocks of `heap.alloc`.
    pub class_name: String,
    /// Where the constructor of the class is, if a heap snapshot says so and no other class has this name; from the
    /// commands also if there is a source map beside the module (`<module>.map`): the line of the first code of the
    /// constructor, with column 1. The file is a path, a URL, or a name such as `node:internal/timers`; line and
    /// column are from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "description": "of a heap snapshot: where the constructor is" }))]
    pub source: Option<SourceLocation>,
    /// A sentence about growth of a kind that many programs have, such as timers that are not cleared. If Node or V8 holds
    /// the objects: what of the program they hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// A hash of the path; without one, of label and class.
    pub fingerprint: String,
    /// Whether all names are from the source. Other names can change with the next build.
    pub stable: bool,
    /// The number of objects in each dump, in the order of `dumps`. Null if the dump has no object that could hold
    /// them; such dumps do not count.
    pub counts: Vec<Option<u64>>,
    /// For each dump, the bytes that the objects contain: the length of strings, the elements of arrays, the entries
    /// of maps and sets, fields. For raw blocks, the bytes of the blocks.
    pub bytes: Vec<Option<u64>>,
    /// For each dump, the bytes that the objects retain together: the sum of the retained sizes of those that no
    /// other of them dominates. At least so much is freed when the program lets go of all of them.
    #[schemars(extend("x-agent" = { "description": "the bytes that the objects retain together" }))]
    pub retained: Vec<Option<u64>>,
    /// The mean growth per interval, from the first dump that counts and has a number to the last one. Negative where
    /// the last number is smaller: more objects can retain less.
    pub per_interval: Rate,
    /// The places that grow because this one grows: bytes ↓, count ↓, path ↑; at most 1,000.
    pub folded: Vec<FoldedPlace>,
}

impl GrowingPlace {
    /// Whether it is the stack: a caller takes some and does not give it back.
    pub fn is_stack(&self) -> bool {
        self.class_name == STACK
    }
}

/// A place that grew in every interval up to one of the last dumps, or that added less and less. It may be a cache
/// that has filled, or a leak that paused: more dumps, or a longer warm-up, tell. With `strict` it counts as growing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndecidedPlace {
    /// As in [`GrowingPlace`].
    pub path: Option<String>,
    /// As in [`GrowingPlace`].
    pub label: Option<String>,
    /// The class of what is held.
    pub class_name: String,
    /// A hash of the text.
    pub fingerprint: String,
    /// By dump: how many objects.
    pub counts: Vec<Option<u64>>,
    /// By dump: the bytes of their contents.
    pub bytes: Vec<Option<u64>>,
    /// The number of the last dump, from 1 on and with those of the warm-up, in which it had grown; null if it grows
    /// less and less.
    pub stopped_after: Option<u64>,
}

/// A mean over intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Rate {
    /// Objects.
    #[serde(serialize_with = "number")]
    pub count: f64,
    /// The bytes of their contents.
    #[serde(serialize_with = "number")]
    pub bytes: f64,
    /// The bytes that they retain.
    #[serde(serialize_with = "number")]
    pub retained: f64,
}

/// How live bytes grow, as means per interval from the first dump that counts to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LiveGrowth {
    /// All live bytes. Negative if they shrink.
    #[serde(serialize_with = "number")]
    pub live: f64,
    /// The bytes of the objects whose path goes through a growing place: what all growing places explain together.
    /// Each object has one path, so nothing counts twice. More than `live` if others shrink. Of a heap with more than
    /// 100,000 different paths, only the largest count. Raw blocks are no objects, and count neither here nor in
    /// `live`.
    #[serde(serialize_with = "number")]
    pub explained: f64,
}

/// A growing place that another one explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoldedPlace {
    /// The class of what is held.
    pub class_name: String,
    /// What the references are called.
    pub label: Option<String>,
    /// The path as text.
    pub path: Option<String>,
    /// A hash of the text.
    pub fingerprint: String,
    /// The number of objects in the last dump that counts.
    pub count: u64,
}

/// The answer to `check`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CheckAnswer")]
pub struct Check {
    /// Whether no rule is broken.
    pub passed: bool,
    /// All rules.
    pub rules: Vec<CheckedRule>,
    /// As in `GrowthAnswer`, without accepted places.
    #[serde(rename = "perInterval")]
    pub per_interval: LiveGrowth,
    /// All places that grow and are not accepted, in the order of `GrowthAnswer.places`.
    pub places: Vec<GrowingPlace>,
    /// The fingerprints of accepted places that grow.
    pub accepted: Vec<String>,
    /// The fingerprints of accepted places that do not grow. They can be removed from the list.
    pub gone: Vec<String>,
    /// As in `GrowthAnswer`. They break no rule.
    pub undecided: Vec<UndecidedPlace>,
}

/// A rule of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedRule {
    /// `default`, `max-growth`, `max-live`, `max <class>` or `no-growth <class>`.
    pub rule: String,
    /// The largest allowed value: growing places, bytes, or objects.
    pub limit: i64,
    /// The value that was found. It is negative if something shrank.
    pub actual: i64,
    /// Whether it is kept.
    pub passed: bool,
    /// The fingerprints of the growing places that the rule is about.
    pub places: Vec<String>,
}

/// A whole number as one.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}
