//! Blocks that the runtime itself vouches for: those in the allocator's free lists, and those in
//! the collector's object lists. Whatever else memory looks like, these are blocks.

use super::blocks::{Allocator, BlockInfo};
use super::collector::{Collector, CollectorState};
use super::objects::next_of;
use crate::dump::Memory;
use crate::units::Address;

/// Blocks of the heap that are in a list, ascending.
#[derive(Debug, Default)]
pub struct KnownBlocks {
    /// Free blocks; `None` if the lists cannot be followed to their ends.
    pub free: Option<Vec<u32>>,
    /// Blocks of managed objects; `None` if the heads of the lists are not known or the lists
    /// cannot be followed to their ends.
    pub objects: Option<Vec<u32>>,
}

impl KnownBlocks {
    /// Follows all lists.
    pub fn read(memory: Memory<'_>, allocator: Allocator, collector: &Collector) -> Self {
        Self {
            free: free_blocks(memory, allocator),
            objects: object_blocks(memory, allocator, collector),
        }
    }

    /// Whether a block is known to begin somewhere between two addresses, both excluded.
    pub fn any_between(&self, low: Address, high: Address) -> bool {
        [&self.free, &self.objects]
            .into_iter()
            .flatten()
            .any(|blocks| {
                let first = blocks.partition_point(|&block| block <= low.0);
                blocks.get(first).is_some_and(|&block| block < high.0)
            })
    }
}

/// No heap can hold more blocks than this.
fn limit(memory: Memory<'_>) -> u64 {
    memory.size() / 16
}

fn free_blocks(memory: Memory<'_>, allocator: Allocator) -> Option<Vec<u32>> {
    const NEXT: u32 = 8;
    let mut blocks = Vec::new();
    for head in allocator.free_list_heads(memory)? {
        let mut block = Address(head);
        while block.0 != 0 {
            if !BlockInfo(memory.word(block)?).is_free() || blocks.len() as u64 > limit(memory) {
                return None;
            }
            blocks.push(block.0);
            block = Address(memory.word(block.checked_add(NEXT)?)?);
        }
    }
    blocks.sort_unstable();
    Some(blocks)
}

fn object_blocks(
    memory: Memory<'_>,
    allocator: Allocator,
    collector: &Collector,
) -> Option<Vec<u32>> {
    let heads = collector.list_heads?;
    let mut blocks = Vec::new();
    for head in heads.all() {
        let mut block = next_of(memory, head)?;
        // What was swept already is gone; the rest of its list begins at the cursor.
        if collector.state == Some(CollectorState::Sweeping) && head == heads.to_space {
            block = collector.cursor?;
        }
        let mut steps = 0;
        while block != head {
            steps += 1;
            if steps > limit(memory) {
                return None;
            }
            if block >= allocator.first_block {
                blocks.push(block.0);
            }
            block = next_of(memory, block)?;
        }
    }
    blocks.sort_unstable();
    Some(blocks)
}
