//! Finds the object or the block around the address of a question.

use super::DumpSource;
use super::memory::Reader;
use crate::error::Result;
use crate::heap::{Found, ObjectState};
use crate::runtime::blocks::{BLOCK_OVERHEAD, BlockInfo};
use crate::runtime::objects::HEADER_SIZE;
use crate::units::{Address, ObjectIndex};
use crate::warning::Warning;

impl DumpSource {
    /// The object or the block around an address that is not the address of an object.
    pub(super) fn find_around(
        &self,
        address: u32,
        notes: &mut Vec<Warning>,
    ) -> Result<Option<Found>> {
        let heap = &self.heap;
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
                return Ok(Some(Found::Object(object)));
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
                Ok(Some(Found::Block {
                    address: start,
                    size,
                    state,
                }))
            }
            _ => Ok(None),
        }
    }

    /// The block without an object around an address. `after` is the number of objects below it.
    fn block_around(
        &self,
        address: u32,
        after: usize,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Found>> {
        let Some(first_block) = self.first_block else {
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
}
