//! Finds the used blocks that hold no object. Only the memory between objects is read.

use super::DumpSource;
use super::memory::MemoryReader;
use crate::runtime::blocks::{BLOCK_OVERHEAD, BlockInfo};
use crate::runtime::objects::HEADER_SIZE;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use heap::RawTable;

impl DumpSource {
    pub(super) fn find_raw_blocks(&self, control: &Control) -> Result<RawTable> {
        let mut table = RawTable::new(BLOCK_OVERHEAD);
        let heap = &self.heap;
        if (heap.accounting.as_ref()).is_none_or(|accounting| accounting.raw == 0) {
            return Ok(table);
        }
        let objects = &heap.objects;
        let step = control.begin(Phase::Blocks, objects.len() as u64);
        let mut reader = MemoryReader::sequential(self, control);
        let mut nth = objects.shallow_sizes.partition_point(|&size| size == 0);
        let mut looked_at = 0u32;
        for region in &self.memory_map.regions {
            let mut block = region.start;
            while block < region.end {
                looked_at = looked_at.wrapping_add(1);
                if (looked_at as usize).is_multiple_of(CHECK_INTERVAL) {
                    step.advance(CHECK_INTERVAL as u64)?;
                }
                while let Some(&payload) = objects.addresses.words().get(nth)
                    && payload - HEADER_SIZE < block
                {
                    nth += 1;
                }
                let object = objects.addresses.words().get(nth);
                let size = match object {
                    Some(&payload) if payload - HEADER_SIZE == block => objects.shallow_sizes[nth],
                    _ => {
                        let Some(info) = reader.word(block)?.map(BlockInfo) else {
                            break;
                        };
                        if info.ends_region() {
                            break;
                        }
                        if !info.is_free() {
                            table.push(block, info.block_size())?;
                        }
                        info.block_size()
                    }
                };
                let Some(next) = block.checked_add(size).filter(|_| size > 0) else {
                    break;
                };
                block = next;
            }
        }
        table.finish()
    }
}
