//! Finds the object or the block around the address of a question.

use super::DumpSource;
use super::memory::MemoryReader;
use crate::runtime::blocks::{BLOCK_OVERHEAD, BlockInfo, checked_block};
use crate::runtime::objects::HEADER_SIZE;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::{Address, ObjectAddress, ObjectIndex};
use base::warning::Warning;
use heap::{Found, ObjectState};

impl DumpSource {
    /// The object or the block around an address that is not the address of an object.
    pub(super) fn find_around(
        &self,
        address: u64,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Option<Found>> {
        let heap = &self.heap;
        let Ok(address) = u32::try_from(address) else {
            return Ok(None);
        };
        let mut inside = |what, start: u64| {
            notes.push(Warning::AddressInside {
                address: Address(address).into(),
                what,
                start: ObjectAddress(start),
            });
        };
        let mut reader = MemoryReader::new(self, control);
        // Objects begin with a header, before their payload.
        let reach = address.saturating_add(HEADER_SIZE);
        let after = heap
            .objects
            .addresses
            .words()
            .partition_point(|&start| start <= reach);
        // Static objects may overlap, heap objects cannot.
        for nth in (after.saturating_sub(2)..after).rev() {
            let object = ObjectIndex(nth as u32);
            let start = heap.memory_address(object).0;
            let end = match heap.block_size(object) {
                0 => start.saturating_add(reader.payload(start)?.size),
                size => (start - HEADER_SIZE).saturating_add(size),
            };
            if start.saturating_sub(HEADER_SIZE) <= address && address < end {
                inside("object", start.into());
                return Ok(Some(Found::Object(object)));
            }
        }
        match self.block_around(address, &mut reader, control)? {
            Some(Found::Block {
                address: start,
                size,
                state,
            }) => {
                if start != u64::from(address) {
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

    /// The block without an object around an address. Only what the analysis walked over is looked at: behind damage,
    /// there are no blocks.
    fn block_around(
        &self,
        address: u32,
        reader: &mut MemoryReader<'_>,
        control: &Control,
    ) -> Result<Option<Found>> {
        let regions = &self.memory_map.regions;
        let nth = regions.partition_point(|region| region.end <= address);
        let Some(region) = regions.get(nth).filter(|it| it.contains(&address)) else {
            return Ok(None);
        };
        let objects = &self.heap.objects;
        let below = objects
            .addresses
            .words()
            .partition_point(|&start| start <= address);
        let before = below.checked_sub(1).map(|nth| ObjectIndex(nth as u32));
        let behind = before
            .filter(|&object| objects.is_on_heap(object))
            .map(|object| {
                (self.heap.memory_address(object).0 - HEADER_SIZE)
                    .saturating_add(self.heap.block_size(object))
            });
        let mut block = region.start.max(behind.unwrap_or_default());
        let mut looked_at = 0u32;
        while block <= address {
            looked_at = looked_at.wrapping_add(1);
            if (looked_at as usize).is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            let Some(info) = reader.word(block)?.map(BlockInfo) else {
                return Ok(None);
            };
            // The dump may have changed since it was analyzed.
            let Ok((info, end)) = checked_block(info, Address(block), Address(region.end)) else {
                return Ok(None);
            };
            if info.ends_region() {
                return Ok(None);
            }
            if address < end.0 {
                let state = if info.is_free() {
                    ObjectState::Free
                } else {
                    ObjectState::Raw
                };
                return Ok(Some(Found::Block {
                    address: u64::from(block + BLOCK_OVERHEAD),
                    size: info.block_size(),
                    state,
                }));
            }
            block = end.0;
        }
        Ok(None)
    }
}
