//! What is known of a heap of WebAssembly that was joined with the heap of JavaScript around it.

use schemars::JsonSchema;
use std::fmt;

use serde::Serialize;

use base::units::ObjectIndex;

/// Bytes of two heaps that were joined. `retainedSize` beside them is their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SizeParts {
    /// Of objects of JavaScript.
    pub javascript: u64,
    /// Of objects in the memory of WebAssembly.
    pub wasm: u64,
}

impl SizeParts {
    /// Adds those of another object, heap by heap.
    pub fn add(&mut self, other: Self) {
        self.javascript += other.javascript;
        self.wasm += other.wasm;
    }
}

/// Why a number of JavaScript counts as a reference to an object in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum EvidenceKind {
    /// Both ends are in the snapshot, or generated code is known to keep an address there.
    Exact,
    /// Nearly all numbers of a group of slots are addresses of pinned objects, which does not happen by chance.
    Derived,
    /// The caller says so.
    Declared,
}

/// What speaks for a reference between JavaScript and WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Evidence")]
pub struct HolderEvidence {
    /// `exact`: both ends are in the snapshot, or generated code is known to keep an address there. `derived`: nearly
    /// all numbers of a group of slots are addresses of pinned objects. `declared`: the caller says so.
    pub kind: EvidenceKind,
    /// Of the different values of the group of slots, those that are the address of a pinned object.
    pub hits: u64,
    /// The number of different values of the group of slots, without 0 and −1.
    pub values: u64,
}

impl fmt::Display for HolderEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EvidenceKind::Exact => f.write_str("exact"),
            EvidenceKind::Declared => f.write_str("declared"),
            EvidenceKind::Derived => {
                write!(f, "derived: {} of {} values", self.hits, self.values)
            }
        }
    }
}

/// A slot of JavaScript with a number that equals the address of a pinned object, and nothing more that speaks for it.
/// It is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleHolder {
    /// The object that has the slot.
    pub holder: ObjectIndex,
    /// The name of the slot, as the label of a reference.
    pub label: String,
    /// Of the different values of its group of slots, those that are the address of a pinned object.
    pub hits: u64,
    /// The number of different values of the group.
    pub values: u64,
}

/// The first possible holders of an object, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PossibleHolders {
    /// Their number.
    pub total: u64,
    /// The first of them.
    pub holders: Vec<PossibleHolder>,
}

/// The live objects of one of the heaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct HeapTotals {
    /// Their number.
    pub objects: u64,
    /// The sum of their shallow sizes, in bytes.
    pub live_size: u64,
}

/// The pinned objects by the best evidence for a holder. Each counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PinCounts {
    /// Their number.
    pub total: u64,
    /// Those with a holder that is exact.
    pub exact: u64,
    /// Those with a holder that is derived.
    pub derived: u64,
    /// Only slots that may hold other numbers have their addresses.
    pub possible: u64,
    /// Only the table of the bindings has their addresses: the wrapper was collected, and the release has not run.
    pub awaiting_release: u64,
    /// No number that was read equals their addresses.
    pub unseen: u64,
    /// Of those without an exact or derived holder, how many have a stack that pinned them.
    pub with_stack: u64,
}

/// Objects of a class in [`KeptByCycles`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct KeptClass {
    /// The name of the class. Classes of both heaps can have one name.
    pub class_name: String,
    /// The number of its objects.
    pub count: u64,
    /// The sum of their shallow sizes, by heap.
    pub shallow_parts: SizeParts,
}

/// Objects that each heap alone keeps alive, and both together do not: only cycles across the border hold them, with the
/// pins and the arrays of declared slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct KeptByCycles {
    /// Their number.
    pub count: u64,
    /// The sum of their shallow sizes, by heap.
    pub shallow_parts: SizeParts,
    /// The classes with most of them, these first.
    pub classes: Vec<KeptClass>,
}

/// The sums of two heaps that were joined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinedSums {
    /// Of JavaScript.
    pub javascript: HeapTotals,
    /// Of the memory.
    pub wasm: HeapTotals,
    /// The pinned objects by the best evidence for a holder; each counts once.
    pub pinned: PinCounts,
    /// Whether numbers in containers and wrappers were read, which a snapshot alone does not show.
    pub numbers_read: bool,
    /// Whether variables of functions were read.
    pub closures_read: bool,
    /// Whether the instance was found, so that its globals and its stack hang below it.
    pub instance_found: bool,
    /// Objects that each heap alone keeps alive, and both together do not: only cycles across the border hold them,
    /// with the pins and the arrays of declared slots. At most 20 classes are named, those with most objects first.
    /// Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "description": "what only cycles across the border keep, with pins and arrays of slots" }))]
    pub cycles: Option<KeptByCycles>,
}

/// Two heaps that were joined.
pub trait JoinedHeaps {
    /// The totals.
    fn sums(&self) -> &JoinedSums;

    /// How many objects are those of the memory. They come first.
    fn wasm_objects(&self) -> u32;

    /// The retained size of an object, by heap.
    fn retained_parts(&self, object: ObjectIndex) -> SizeParts;

    /// What speaks for the references from an object of one heap to an object of the other; `None` for objects of
    /// one heap.
    fn evidence(&self, holder: ObjectIndex, target: ObjectIndex) -> Option<HolderEvidence>;

    /// What is known of the holders of a pinned object for which none was found.
    fn pin_note(&self, object: ObjectIndex) -> Option<String>;

    /// The stack of JavaScript that pinned an object, from its innermost frame on; `None` if it was not taken.
    fn pinned_by(&self, object: ObjectIndex) -> Option<&[String]>;

    /// The slots that may refer to an object, at most `most` of them.
    fn possible_holders(&self, object: ObjectIndex, most: usize) -> PossibleHolders;
}
