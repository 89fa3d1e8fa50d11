//! Finds the object or the block at the address of a question.

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use base::control::Control;
use base::error::{Error, Result};
use base::units::{ObjectAddress, ObjectIndex};
use base::warning::Warning;
use heap::Found;

/// The object at an address, or around it.
pub(crate) fn object_at(
    loaded: &LoadedHeap,
    address: u64,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<ObjectIndex> {
    match find_at(loaded, address, notes, control)? {
        Found::Object(object) => Ok(object),
        Found::Block { .. } => Err(no_object(loaded, address)),
    }
}

/// The object or the block at an address, or around it.
pub(crate) fn find_at(
    loaded: &LoadedHeap,
    address: u64,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Found> {
    let heap = &loaded.heap;
    if let Some(object) = heap.objects.at(ObjectAddress(address)) {
        return Ok(Found::Object(object));
    }
    match loaded.source.around(address, notes, control)? {
        Some(found) => Ok(found),
        None => Err(no_object(loaded, address)),
    }
}

fn no_object(loaded: &LoadedHeap, address: u64) -> Error {
    let addresses = &loaded.heap.objects.addresses;
    let after = addresses.first_from(ObjectAddress(address), 0..addresses.len());
    let nearest = [
        after.checked_sub(1),
        (after < addresses.len()).then_some(after),
    ]
    .into_iter()
    .flatten()
    .map(|nth| {
        let object = ObjectIndex(nth as u32);
        let class_name = loaded.class_name(object).to_owned();
        (loaded.shown(object), class_name)
    });
    Error::from(QuestionError::NoObject {
        address: loaded.heap.address_form.of(address),
        nearest: nearest.collect(),
    })
}
