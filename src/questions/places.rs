//! Finds the object or the block at the address of a question.

use super::LoadedHeap;
use super::answer::ObjectState;
use super::memory::Reader;
use crate::error::{Error, Result};
use crate::runtime::blocks::{BLOCK_OVERHEAD, BlockInfo};
use crate::runtime::objects::HEADER_SIZE;
use crate::units::{Address, ObjectIndex, ShownAddress};
use crate::warning::Warning;

/// The object or the block at an address.
pub(super) enum Found {
    /// An object.
    Object(ObjectIndex),
    /// A block without an object.
    Block {
        /// The address after the block's header.
        address: u32,
        /// The size of the block.
        size: u32,
        state: ObjectState,
    },
}

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
        if self.is_snapshot() {
            return Err(self.no_object(address));
        }
        let mut inside = |what, start| {
            notes.push(Warning::AddressInside {
                address: Address(address),
                what,
                start: Address(start),
            });
        };
        let mut reader = Reader::new(self);
        // Objects begin with a header, before their payload.
        let reach = address.saturating_add(HEADER_SIZE);
        let after = heap
            .objects
            .addresses
            .partition_point(|&start| start <= reach);
        // Static objects may overlap, heap objects cannot.
        for nth in (after.saturating_sub(2)..after).rev() {
            let object = ObjectIndex(nth as u32);
            let start = heap.address(object).0;
            let end = match heap.block_size(object) {
                0 => start.saturating_add(reader.payload(start)?.size),
                size => (start - HEADER_SIZE).saturating_add(size),
            };
            if start.saturating_sub(HEADER_SIZE) <= address && address < end {
                inside("object", start);
                return Ok(Found::Object(object));
            }
        }
        match self.block_around(address, after, &mut reader)? {
            Some(Found::Block {
                address: start,
                size,
                state,
            }) => {
                if start != address {
                    let what = match state {
                        ObjectState::Free => "free block",
                        _ => "raw block",
                    };
                    inside(what, start);
                }
                Ok(Found::Block {
                    address: start,
                    size,
                    state,
                })
            }
            _ => Err(self.no_object(address)),
        }
    }

    /// The block without an object around an address. `after` is the number of objects below it.
    fn block_around(
        &self,
        address: u32,
        after: usize,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Found>> {
        let Some(first_block) = self.names.first_block else {
            return Ok(None);
        };
        let before = (0..after)
            .rev()
            .map(|nth| ObjectIndex(nth as u32))
            .find(|&object| {
                self.heap.objects.is_on_heap(object) && self.heap.address(object).0 <= address
            });
        let mut block = match before {
            Some(object) => (self.heap.address(object).0 - HEADER_SIZE)
                .saturating_add(self.heap.block_size(object)),
            None => first_block.0,
        };
        // Each block begins after the previous one, so the memory bounds their number.
        while block <= address {
            let Some(info) = reader.word(block)?.map(BlockInfo) else {
                return Ok(None);
            };
            let size = info.block_size();
            if info.payload_size() == 0 {
                return Ok(None);
            }
            let Some(end) = block.checked_add(size) else {
                return Ok(None);
            };
            if address < end {
                let state = match info.is_free() {
                    true => ObjectState::Free,
                    false => ObjectState::Raw,
                };
                return Ok(Some(Found::Block {
                    address: block + BLOCK_OVERHEAD,
                    size,
                    state,
                }));
            }
            block = end;
        }
        Ok(None)
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
