//! The answers to `growth` and `check`.

use serde::{Serialize, Serializer};

use crate::parts::roots::Root;
use heap::SourceLocation;

/// The class of the stack, which has no objects of its own.
pub(super) const STACK: &str = "(stack)";

/// What grows from dump to dump.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// The dumps, in their order.
    pub dumps: Vec<GrowthDump>,
    /// How many of the first dumps are ignored.
    pub warmup: u64,
    /// How many places grow, those that are folded into others not counted.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Live bytes per interval.
    pub per_interval: LiveGrowth,
    /// Some of them: retained bytes per interval ↓, bytes of contents with what is folded ↓, count ↓, text ↑.
    pub places: Vec<GrowingPlace>,
    /// What grew at first and may have stopped, at most 1,000 places: bytes in the last dump ↓, text ↑.
    pub undecided: Vec<UndecidedPlace>,
}

/// A dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrowthDump {
    /// Its name; `dump 1` and so on if all have the same.
    pub name: String,
    /// All live heap objects.
    pub total_live_size: u64,
}

/// A place of the program that holds more from dump to dump.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GrowingPlace {
    /// Where its path begins; `None` if it grows only without regard to paths.
    pub root: Option<Root>,
    /// The path as text, with the class at its end; `None` as for `root`.
    pub path: Option<String>,
    /// What the references are called: a label, without a path `Class.label`; `None` for a path group, a
    /// class as a whole and raw blocks.
    pub label: Option<String>,
    /// The class of what is held.
    pub class_name: String,
    /// Where the constructor of the class is, if the heap says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLocation>,
    /// The first 12 hexadecimal digits of a hash of the text.
    pub fingerprint: String,
    /// Whether all names are those of the source.
    pub stable: bool,
    /// By dump: how many objects; `None` if the dump has nothing that could hold them.
    pub counts: Vec<Option<u64>>,
    /// By dump: the bytes of their contents.
    pub bytes: Vec<Option<u64>>,
    /// By dump: the bytes that they retain together, as the sum of the retained sizes of those that no other of them
    /// dominates. At least so much is freed when the program lets go of all of them.
    pub retained: Vec<Option<u64>>,
    /// From the first dump that counts and has a number to the last one.
    pub per_interval: Rate,
    /// What grows with it.
    pub folded: Vec<FoldedPlace>,
}

impl GrowingPlace {
    /// Whether it is the stack: a caller takes some and does not give it back.
    pub fn is_stack(&self) -> bool {
        self.class_name == STACK
    }
}

/// A place that grew at first, of which the dumps do not say whether it still grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// The number of the dump after which it did not grow any more, from 1 on; `None` if it grew less and less.
    pub stopped_after: Option<u64>,
}

/// A mean over intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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

/// How live bytes grow, and what the growing places have of it: means over the intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LiveGrowth {
    /// All live bytes; negative if they shrink.
    #[serde(serialize_with = "number")]
    pub live: f64,
    /// The bytes of the objects whose path goes through a growing place: what all growing places explain together. Each
    /// object has one path, so nothing counts twice. It can be more than all live bytes if others shrink. Only the paths
    /// that place tables keep count.
    #[serde(serialize_with = "number")]
    pub explained: f64,
}

/// A growing place that another one explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// How many objects the last dump has that counts.
    pub count: u64,
}

/// Whether a program keeps to its rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Whether no rule is broken.
    pub passed: bool,
    /// All rules.
    pub rules: Vec<CheckedRule>,
    /// As in [`Growth`].
    #[serde(rename = "perInterval")]
    pub per_interval: LiveGrowth,
    /// What grows, without what is accepted: all of it.
    pub places: Vec<GrowingPlace>,
    /// The fingerprints of accepted places that grow.
    pub accepted: Vec<String>,
    /// The fingerprints of accepted places that do not grow any more.
    pub gone: Vec<String>,
    /// As in [`Growth`].
    pub undecided: Vec<UndecidedPlace>,
}

/// A rule, and whether it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedRule {
    /// `default`, `max-growth`, `max-live`, `max <class>` or `no-growth <class>`.
    pub rule: String,
    /// The most that is allowed: places, bytes, or objects.
    pub limit: i64,
    /// What was found.
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
