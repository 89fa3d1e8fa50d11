//! The regions of the heap: runs of blocks, each ending in a block of size 0.
//!
//! The allocator merges memory that it grows itself. If anything else called `memory.grow` in
//! between, its next region begins at a later page, and nothing in memory says at which one: the
//! pages in between are foreign and may hold anything, even what looks like a region. What cannot
//! be forged are the lists: every free block of a region is in the allocator's, every object in the
//! collector's, and none of their blocks lies inside another block.

use std::collections::VecDeque;

use super::block_set::BlockSet;
use super::blocks::{Allocator, BLOCK_OVERHEAD, BlockInfo, first_block_from, read_block};
use super::known_blocks::KnownBlocks;
use crate::control::Step;
use crate::dump::Memory;
use crate::error::{Error, Result};
use crate::units::Address;

const PAGE: u32 = 1 << 16;

/// Blocks between two looks at whether to stop.
const CHECK_INTERVAL: u32 = 1 << 16;

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
/// What `visit` and `known` return, and [`Error::Aborted`]. A damaged heap is no error here: see [`Walk::damage`].
pub(crate) fn walk_blocks(
    memory: Memory<'_>,
    allocator: Allocator,
    known: impl FnOnce() -> Result<KnownBlocks>,
    step: &Step<'_>,
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
                if let Some(known) = known.take() {
                    search = Some(RegionSearch {
                        memory,
                        tail: limit,
                        known: known()?,
                        possible: VecDeque::new(),
                        certain: None,
                        step,
                    });
                }
                let next = search.as_mut().map(|search| search.next_region(block));
                let Some(next) = next.transpose()?.flatten() else {
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
    /// First blocks and ends of the possible regions in front of the next certain one. They are kept, so
    /// that memory full of what may be regions is looked at once, not again for each of them.
    possible: VecDeque<(Address, Address)>,
    /// The next certain region, or that there is none, once that was looked for.
    certain: Option<Option<Address>>,
    step: &'a Step<'a>,
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
    fn next_region(&mut self, end: Address) -> Result<Option<Address>> {
        // Not the page right behind: the allocator would have merged it.
        let Some(behind) = end.checked_add(2 * PAGE - 1 + BLOCK_OVERHEAD) else {
            return Ok(None);
        };
        let page = Address(behind.0 & !(PAGE - 1));
        let certain = match self.certain {
            Some(certain) if certain.is_none_or(|first| first > end) => certain,
            _ => self.search(end, page)?,
        };
        self.certain = Some(certain);
        while self
            .possible
            .front()
            .is_some_and(|&(first, _)| first < page)
        {
            self.possible.pop_front();
        }
        Ok(match (self.possible.front().copied(), certain) {
            // Neighbouring regions would have been merged: then the possible one is foreign.
            (Some((first, end)), Some(certain)) => {
                let is_apart = certain.0.saturating_sub(end.0) >= PAGE;
                Some(if is_apart { first } else { certain })
            }
            (possible, certain) => certain.or(possible.map(|(first, _)| first)),
        })
    }

    /// Looks at every page from this one on, behind a region that ends at `end`, up to a certain region.
    /// Keeps the possible ones.
    fn search(&mut self, end: Address, page: Address) -> Result<Option<Address>> {
        // Chains from several pages may run together. What came of the first comes of all.
        let mut seen = BlockSet::between(end, self.tail)?;
        self.possible.clear();
        let mut page = page;
        loop {
            let Some(first) = first_block_from(page).filter(|&first| first < self.tail) else {
                return Ok(None);
            };
            match self.follow(first, &mut seen)? {
                Chain::Broken => {}
                Chain::Possible(end) => self.possible.push_back((first, end)),
                Chain::Certain => return Ok(Some(first)),
            }
            let Some(next) = page.checked_add(PAGE) else {
                return Ok(None);
            };
            page = next;
        }
    }

    /// Follows a chain of blocks by all the rules that the allocator keeps: neighbours of free
    /// blocks know it, free blocks point back at their start, two free blocks never touch, and a
    /// region ends with a page.
    fn follow(&self, first: Address, seen: &mut BlockSet) -> Result<Chain> {
        let mut block = first;
        let mut left_is_free = false;
        let mut is_certain = false;
        let mut followed = 0u32;
        loop {
            if seen.insert(block) != Some(true) {
                return Ok(Chain::Broken);
            }
            followed += 1;
            if followed.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            let Ok((info, next)) = read_block(self.memory, block, self.tail) else {
                return Ok(Chain::Broken);
            };
            if info.is_left_free() != left_is_free || (left_is_free && info.is_free()) {
                return Ok(Chain::Broken);
            }
            if info.ends_region() {
                return Ok(match block == self.tail || is_certain {
                    true => Chain::Certain,
                    false if block.0.wrapping_add(BLOCK_OVERHEAD).is_multiple_of(PAGE) => {
                        Chain::Possible(block)
                    }
                    false => Chain::Broken,
                });
            }
            if self.known.any_between(block, next) {
                return Ok(Chain::Broken);
            }
            if info.is_free() {
                let back = next
                    .checked_sub(BLOCK_OVERHEAD)
                    .and_then(|at| self.memory.word(at));
                let is_listed = is_in(&self.known.free, block);
                if back != Some(block.0) || is_listed == Some(false) {
                    return Ok(Chain::Broken);
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
fn is_in(blocks: &Option<BlockSet>, block: Address) -> Option<bool> {
    Some(blocks.as_ref()?.contains(block))
}
