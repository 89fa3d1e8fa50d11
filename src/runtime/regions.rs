//! The regions of the heap: runs of blocks, each ending in a block of size 0.
//!
//! The allocator merges memory that it grows itself. If anything else called `memory.grow` in
//! between, its next region begins at a later page, and nothing in memory says at which one: the
//! pages in between are foreign and may hold anything, even what looks like a region. What cannot
//! be forged are the lists: every free block of a region is in the allocator's, every object in the
//! collector's, and none of their blocks lies inside another block.

use super::blocks::{Allocator, BLOCK_OVERHEAD, BlockInfo, first_block_from, read_block};
use super::known_blocks::KnownBlocks;
use crate::dump::Memory;
use crate::error::{Error, Result};
use crate::units::Address;

const PAGE: u32 = 1 << 16;

/// A run of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first block.
    pub first_block: Address,
    /// The block of size 0 behind its last one, or where it could not be followed any further.
    pub end: Address,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walk {
    /// The regions, in address order.
    pub regions: Vec<Region>,
    /// Why the walk ended before the heap did, at the end of the last region.
    pub damage: Option<Error>,
}

/// Walks all blocks of all regions in address order and hands each to `visit`, the free ones too,
/// but not the zero-size blocks that end regions. `known` is asked for only if there is more than
/// one region.
///
/// # Errors
/// What `visit` returns. A damaged heap is no error here: see [`Walk::damage`].
pub fn walk_blocks(
    memory: Memory<'_>,
    allocator: Allocator,
    known: impl FnOnce() -> KnownBlocks,
    mut visit: impl FnMut(Address, BlockInfo) -> Result<()>,
) -> Result<Walk> {
    let mut walk = Walk::default();
    let Some(tail) = allocator.tail else {
        return Ok(walk);
    };
    let memory_end = Address(u32::try_from(memory.size()).unwrap_or(u32::MAX));
    let is_inside = tail >= allocator.first_block && memory.word(tail).is_some();
    let limit = if is_inside { tail } else { memory_end };
    let mut known = Some(known);
    let mut search = None;
    let mut first_block = allocator.first_block;
    let mut block = first_block;
    let damage = loop {
        match read_block(memory, block, limit) {
            Ok((info, _)) if info.ends_region() => {
                if block == tail {
                    break None;
                }
                let search = search.get_or_insert_with(|| RegionSearch {
                    memory,
                    tail: limit,
                    known: known.take().map(|known| known()).unwrap_or_default(),
                });
                let Some(next) = search.next_region(block) else {
                    break Some(Error::HeapCorrupt {
                        address: block,
                        found: "the end of a region with no further region behind it".to_owned(),
                        expected: "regions up to the one that the allocator's tail pointer names",
                    });
                };
                walk.regions.push(Region {
                    first_block,
                    end: block,
                });
                first_block = next;
                block = next;
            }
            Ok((info, next)) => {
                visit(block, info)?;
                block = next;
            }
            Err(info) => {
                break Some(Error::HeapCorrupt {
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
    };
    walk.regions.push(Region {
        first_block,
        end: block,
    });
    walk.damage = match is_inside {
        true => damage,
        // The first thing to know: without its tail the rest of the heap is not there.
        false => Some(Error::HeapCorrupt {
            address: tail,
            found: format!(
                "the allocator's tail pointer there, but the heap reaches from {} to {:#x}",
                allocator.first_block,
                memory.size()
            ),
            expected: "a tail inside the heap (was the dump cut short?)",
        }),
    };
    Ok(walk)
}

/// Looks for regions behind foreign pages.
struct RegionSearch<'a> {
    memory: Memory<'a>,
    tail: Address,
    known: KnownBlocks,
}

/// What a chain of blocks turns out to be.
enum Chain {
    /// No region.
    Broken,
    /// It keeps all rules, but no list vouches for any block of it: raw memory only, or foreign.
    /// It ends here.
    Possible(Address),
    /// A region.
    Certain,
}

impl RegionSearch<'_> {
    /// The first block of the region behind the one that ends at `end`.
    fn next_region(&self, end: Address) -> Option<Address> {
        // Chains from several pages may run together. What came of the first comes of all.
        let mut seen = SeenBlocks::new(end, self.tail);
        let mut possible = None;
        // Not the page right behind: the allocator would have merged it.
        let mut page = end.checked_add(2 * PAGE - 1 + BLOCK_OVERHEAD)?.0 & !(PAGE - 1);
        let certain = loop {
            let Some(first) = first_block_from(Address(page)).filter(|&first| first < self.tail)
            else {
                break None;
            };
            match self.follow(first, &mut seen) {
                Chain::Broken => {}
                Chain::Possible(end) => possible = possible.or(Some((first, end))),
                Chain::Certain => break Some(first),
            }
            let Some(Address(next)) = Address(page).checked_add(PAGE) else {
                break None;
            };
            page = next;
        };
        match (possible, certain) {
            // Neighbouring regions would have been merged: then the possible one is foreign.
            (Some((first, end)), Some(certain)) => {
                let is_apart = certain.0.saturating_sub(end.0) >= PAGE;
                Some(if is_apart { first } else { certain })
            }
            (possible, certain) => certain.or(possible.map(|(first, _)| first)),
        }
    }

    /// Follows a chain of blocks by all the rules that the allocator keeps: neighbours of free
    /// blocks know it, free blocks point back at their start, two free blocks never touch, and a
    /// region ends with a page.
    fn follow(&self, first: Address, seen: &mut SeenBlocks) -> Chain {
        let mut block = first;
        let mut left_is_free = false;
        let mut is_certain = false;
        loop {
            if seen.contains_or_insert(block) {
                return Chain::Broken;
            }
            let Ok((info, next)) = read_block(self.memory, block, self.tail) else {
                return Chain::Broken;
            };
            if info.is_left_free() != left_is_free || (left_is_free && info.is_free()) {
                return Chain::Broken;
            }
            if info.ends_region() {
                return match block == self.tail || is_certain {
                    true => Chain::Certain,
                    false if block.0.wrapping_add(BLOCK_OVERHEAD).is_multiple_of(PAGE) => {
                        Chain::Possible(block)
                    }
                    false => Chain::Broken,
                };
            }
            if self.known.any_between(block, next) {
                return Chain::Broken;
            }
            if info.is_free() {
                let back = next
                    .checked_sub(BLOCK_OVERHEAD)
                    .and_then(|at| self.memory.word(at));
                let is_listed = is_in(&self.known.free, block);
                if back != Some(block.0) || is_listed == Some(false) {
                    return Chain::Broken;
                }
                is_certain |= is_listed == Some(true);
            } else {
                is_certain |= is_in(&self.known.objects, block) == Some(true);
            }
            left_is_free = info.is_free();
            block = next;
        }
    }
}

/// Whether a block is in a list; `None` if the list is not known.
fn is_in(blocks: &Option<Vec<u32>>, block: Address) -> Option<bool> {
    Some(blocks.as_ref()?.binary_search(&block.0).is_ok())
}

/// One bit per 16 bytes between two addresses.
struct SeenBlocks {
    base: Address,
    bits: Vec<u64>,
}

impl SeenBlocks {
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
