//! Finds the object or the block at the address of a question.

use super::LoadedHeap;
use crate::error::{Error, Result};
use crate::heap::Found;
use crate::units::{Address, ObjectIndex, ShownAddress};
use crate::warning::Warning;

impl LoadedHeap {
    /// The object at an address, or around it.
    pub(super) fn object_at(&self, address: u32, notes: &mut Vec<Warning>) -> Result<ObjectIndex> {
        match self.find_at(address, notes)? {
            Found::Object(object) => Ok(object),
            Found::Block { .. } => Err(self.no_object(address)),
        }
    }

    /// The object or the block at an address, or around it.
    pub(super) fn find_at(&self, address: u32, notes: &mut Vec<Warning>) -> Result<Found> {
        let heap = &self.heap;
        if let Some(object) = heap.objects.at(Address(address)) {
            return Ok(Found::Object(object));
        }
        match self.source.around(address, notes)? {
            Some(found) => Ok(found),
            None => Err(self.no_object(address)),
        }
    }

    /// The address of an object, as it is shown.
    pub(super) fn shown(&self, object: ObjectIndex) -> ShownAddress {
        self.heap.address_form.of(self.heap.address(object).0)
    }

    fn no_object(&self, address: u32) -> Error {
        let addresses = &self.heap.objects.addresses;
        let after = addresses.partition_point(|&start| start < address);
        let nearest = [
            after.checked_sub(1),
            (after < addresses.len()).then_some(after),
        ];
        let nearest = nearest.into_iter().flatten().map(|nth| {
            let object = ObjectIndex(nth as u32);
            let class_name = self.class_name(object).to_owned();
            (self.shown(object), class_name)
        });
        Error::NoObject {
            address: self.heap.address_form.of(address),
            nearest: nearest.collect(),
        }
    }
}
