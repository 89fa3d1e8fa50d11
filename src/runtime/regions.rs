//! The regions of the heap: runs of blocks, each ending in a block of size 0.
//!
//! The allocator merges memory that it grows itself. If anything else called `memory.grow` in
//! between, its next region begins at a later page, and nothing in memory says at which one: the
//! pages in between are foreign and may hold anything. The tail pointer tells whether the last
//! region was reached.

use super::blocks::{Allocator, BLOCK_OVERHEAD, BlockInfo, first_block_from, read_block};
use crate::dump::Memory;
use crate::error::{Error, Result};
use crate::units::Address;

const PAGE: u32 = 1 << 16;

/// Walks all blocks of all regions in address order and hands each to `visit`, the free ones too,
/// but not the zero-size blocks that end regions.
///
/// # Errors
/// [`Error::HeapCorrupt`] with the address of the first block that cannot be one.
pub fn walk_blocks(
    memory: Memory<'_>,
    allocator: Allocator,
    mut visit: impl FnMut(Address, BlockInfo) -> Result<()>,
) -> Result<()> {
    let Some(tail) = allocator.tail else {
        return Ok(());
    };
    if tail < allocator.first_block || memory.word(tail).is_none() {
        return Err(Error::HeapCorrupt {
            address: tail,
            found: format!(
                "the allocator's tail pointer there, but the heap reaches from {} to {:#x}",
                allocator.first_block,
                memory.size()
            ),
            expected: "a tail inside the heap (was the dump cut short?)",
        });
    }
    let mut block = allocator.first_block;
    loop {
        match read_block(memory, block, tail) {
            Ok((info, _)) if info.ends_region() => {
                if block == tail {
                    return Ok(());
                }
                block = next_region(memory, block, tail).ok_or_else(|| Error::HeapCorrupt {
                    address: block,
                    found: "the end of a region with no further region behind it".to_owned(),
                    expected: "regions up to the one that the allocator's tail pointer names",
                })?;
            }
            Ok((info, next)) => {
                visit(block, info)?;
                block = next;
            }
            Err(info) => {
                return Err(Error::HeapCorrupt {
                    address: block,
                    found: format!(
                        "a block header of {:#x} ({} bytes)",
                        info.0,
                        info.payload_size()
                    ),
                    expected: "a block whose size is 12 more than a multiple of 16 and that ends inside the heap",
                });
            }
        }
    }
}

/// The first block of the region behind the one that ends at `end`: the first page from which a
/// chain of blocks can be followed, by all the rules that the allocator keeps, to the end of a
/// region.
fn next_region(memory: Memory<'_>, end: Address, tail: Address) -> Option<Address> {
    // Chains from several pages may run together. Where one failed, all fail.
    let mut failed = FailedBlocks::new(end, tail);
    // Not the page right behind: the allocator would have merged it.
    let mut page = end.checked_add(2 * PAGE - 1 + BLOCK_OVERHEAD)?.0 & !(PAGE - 1);
    loop {
        let first = first_block_from(Address(page))?;
        if first >= tail {
            return None;
        }
        if is_region(memory, first, tail, &mut failed) {
            return Some(first);
        }
        page = page.checked_add(PAGE)?;
    }
}

/// Whether a consistent chain of blocks begins at `first`. Foreign bytes that look like a block
/// rarely also keep the rules: neighbours of free blocks know it, free blocks point back at their
/// start, two free blocks never touch, and a region ends with a page.
fn is_region(memory: Memory<'_>, first: Address, tail: Address, failed: &mut FailedBlocks) -> bool {
    let mut block = first;
    let mut left_is_free = false;
    loop {
        if failed.contains_or_insert(block) {
            return false;
        }
        let Ok((info, next)) = read_block(memory, block, tail) else {
            return false;
        };
        if info.is_left_free() != left_is_free || (left_is_free && info.is_free()) {
            return false;
        }
        if info.ends_region() {
            return block == tail || block.0.wrapping_add(BLOCK_OVERHEAD).is_multiple_of(PAGE);
        }
        if info.is_free() {
            let back = next
                .checked_sub(BLOCK_OVERHEAD)
                .and_then(|at| memory.word(at));
            if back != Some(block.0) {
                return false;
            }
        }
        left_is_free = info.is_free();
        block = next;
    }
}

/// One bit per 16 bytes between two addresses.
struct FailedBlocks {
    base: Address,
    bits: Vec<u64>,
}

impl FailedBlocks {
    fn new(base: Address, end: Address) -> Self {
        let slots = (end.0.saturating_sub(base.0) / 16 + 1) as usize;
        Self {
            base,
            bits: vec![0; slots / 64 + 1],
        }
    }

    fn contains_or_insert(&mut self, block: Address) -> bool {
        let slot = (block.0.wrapping_sub(self.base.0) / 16) as usize;
        let Some(word) = self.bits.get_mut(slot / 64) else {
            return true;
        };
        let bit = 1 << (slot % 64);
        let seen = *word & bit != 0;
        *word |= bit;
        seen
    }
}
