//! Objects, named.

use schemars::JsonSchema;
use serde::Serialize;

use crate::loaded_heap::LoadedHeap;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;

/// An object by address and class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// Its payload.
    pub address: u64,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: String,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
}

/// An object with its class.
pub(crate) fn object_name(loaded: &LoadedHeap, object: ObjectIndex) -> ObjectName {
    ObjectName {
        address: loaded.heap.address(object).0,
        address_text: loaded.shown(object).to_string(),
        class_name: loaded.class_name(object).to_owned(),
    }
}

/// The immediate dominator of an object.
pub(crate) fn dominator_of(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<ObjectName>> {
    let index = loaded.dominator_index(control)?;
    let dominator = index
        .position(object)
        .and_then(|position| index.dominator(position));
    Ok(dominator.map(|position| object_name(loaded, index.object(position))))
}
