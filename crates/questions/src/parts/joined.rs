//! What answers say of two heaps that were joined. All of it is absent for one heap.

use schemars::JsonSchema;
use serde::Serialize;

use super::labels::after_class;
use crate::loaded_heap::LoadedHeap;
use base::units::ObjectIndex;
use heap::{HolderEvidence, SizeParts};

/// The largest number of possible holders that are listed.
const MOST_POSSIBLE: usize = 20;

/// A slot of JavaScript whose number equals the address of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PossibleReference {
    /// The object that has the slot.
    pub address: u64,
    /// The address as text: the id `@38208`.
    pub address_text: String,
    /// Its class.
    pub class_name: String,
    /// The name of the slot, as in `Step.label`.
    pub label: String,
    /// The label as it follows the name of a class.
    pub label_text: String,
    /// Of the different values of its group of slots, those that are the address of a pinned object.
    pub hits: u64,
    /// The number of different values of the group.
    pub values: u64,
}

/// The slots that may refer to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PossibleReferences {
    /// Their number.
    pub total: u64,
    /// The first of them.
    pub slots: Vec<PossibleReference>,
}

/// The retained size of an object, by heap.
pub(crate) fn retained_parts(loaded: &LoadedHeap, object: ObjectIndex) -> Option<SizeParts> {
    Some(loaded.source.joined()?.retained_parts(object))
}

/// The live bytes of two heaps that were joined; `None` for one heap.
pub fn live_parts(loaded: &LoadedHeap) -> Option<SizeParts> {
    let sums = loaded.source.joined()?.sums();
    Some(SizeParts {
        javascript: sums.javascript.live_size,
        wasm: sums.wasm.live_size,
    })
}

/// The size of an object itself, as that of its heap.
pub(crate) fn shallow_parts(loaded: &LoadedHeap, object: ObjectIndex) -> Option<SizeParts> {
    let first_js = loaded.source.joined()?.wasm_objects();
    let size = loaded.heap.shallow_size(object);
    let is_wasm = object.0 < first_js;
    Some(SizeParts {
        javascript: if is_wasm { 0 } else { size },
        wasm: if is_wasm { size } else { 0 },
    })
}

/// What speaks for a reference between the heaps.
pub(crate) fn evidence(
    loaded: &LoadedHeap,
    holder: ObjectIndex,
    target: ObjectIndex,
) -> Option<HolderEvidence> {
    loaded.source.joined()?.evidence(holder, target)
}

/// The stack of JavaScript that pinned an object.
pub(crate) fn pinned_by(loaded: &LoadedHeap, object: ObjectIndex) -> Option<Vec<String>> {
    let stack = loaded.source.joined()?.pinned_by(object);
    stack.map(<[String]>::to_vec)
}

/// The slots that may refer to an object; `None` if there are none.
pub(crate) fn possible_references(
    loaded: &LoadedHeap,
    object: ObjectIndex,
) -> Option<PossibleReferences> {
    let possible = loaded
        .source
        .joined()?
        .possible_holders(object, MOST_POSSIBLE);
    let slots = possible.holders.into_iter().map(|slot| PossibleReference {
        address: loaded.heap.address(slot.holder).0,
        address_text: loaded.shown(slot.holder).to_string(),
        class_name: loaded.class_name(slot.holder).to_owned(),
        label_text: after_class(&slot.label),
        label: slot.label,
        hits: slot.hits,
        values: slot.values,
    });
    (possible.total > 0).then(|| PossibleReferences {
        total: possible.total,
        slots: slots.collect(),
    })
}
