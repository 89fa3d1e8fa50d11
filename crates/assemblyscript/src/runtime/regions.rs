//! The regions of the heap: runs of blocks, each ending in a block of size 0.
//!
//! The allocator merges memory that it grows itself. If other code called `memory.grow` before, the
//! allocator's next region begins at a later page, and the memory does not say at which one: the pages
//! between the regions are foreign and may contain anything, even data that looks like a region. The lists
//! are reliable: every free block of a region is in a list of the allocator, every object is in a list of the
//! collector, and these blocks do not overlap other blocks.

use std::collections::VecDeque;

use super::block_set::{BlockSet, CompleteSet};
use super::blocks::{AllocatorData, BLOCK_OVERHEAD, BlockInfo, first_block_from, read_block};
use super::known_blocks::KnownBlocks;
use base::control::{CHECK_INTERVAL, Step};
use base::error::{Error, Result};
use base::units::Address;
use dumps::Memory;
use heap::HeapError;

const PAGE: u32 = 1 << 16;

/// A run of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first block.
    pub first_block: Address,
    /// The block of size 0 after its last one, or the address where the walk failed.
    pub end: Address,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub struct BlockWalk {
    /// The regions, in address order.
    pub regions: Vec<Region>,
    /// Why the walk ended before the heap did, at the end of the last region.
    pub damage: Option<Error>,
    /// The first block whose flags or back pointer contradict its neighbours, and the number of such blocks.
    pub contradictions: Option<(Address, u64)>,
}

/// Walks all blocks of all regions in address order and passes each to `visit`: also free blocks, but not the
/// blocks of size 0 that end regions. `known` is called only if there is more than one region.
///
/// # Errors
/// The errors of `visit` and `known`, [`Error::Aborted`] and [`Error::OutOfMemory`]. A damaged heap is not an
/// error here: see [`BlockWalk::damage`].
pub(crate) fn walk_blocks(
    memory: Memory<'_>,
    allocator: AllocatorData,
    known: impl FnOnce() -> Result<KnownBlocks>,
    step: &Step<'_>,
    mut visit: impl FnMut(Address, BlockInfo) -> Result<()>,
) -> Result<BlockWalk> {
    let mut walk = BlockWalk::default();
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
    // The block before, and whether it is free.
    let mut left = first_block;
    let mut is_left_free = false;
    let damage = loop {
        let found = read_block(memory, block, limit);
        if let Ok((info, _)) = found {
            // Nearly all blocks are in use.
            if is_left_free | info.is_left_free()
                && !fits_left(memory, block, info, is_left_free.then_some(left))
            {
                let (_, count) = walk.contradictions.get_or_insert((block, 0));
                *count += 1;
            }
            left = block;
            is_left_free = info.is_free();
        }
        match found {
            Ok((info, _)) if info.ends_region() => {
                if block == tail {
                    break None;
                }
                if let Some(known) = known.take() {
                    search = Some(RegionSearch {
                        memory,
                        tail: limit,
                        known: known()?,
                        seen: BlockSet::between(block, limit)?,
                        possible: VecDeque::new(),
                        is_searched: false,
                        certain: None,
                        step,
                    });
                }
                let next = search.as_mut().map(|search| search.next_region(block));
                let Some(next) = next.transpose()?.flatten() else {
                    break Some(Error::from(HeapError::Corrupt {
                        address: block,
                        found: "the end of a region and no further region".to_owned(),
                        expected: "regions up to the one that the allocator's tail pointer names",
                    }));
                };
                walk.regions.push(Region {
                    first_block,
                    end: block,
                });
                first_block = next;
                block = next;
                is_left_free = false;
            }
            Ok((info, next)) => {
                visit(block, info)?;
                block = next;
            }
            Err(info) => break Some(bad_header(block, info)),
        }
    };
    walk.regions.push(Region {
        first_block,
        end: block,
    });
    walk.damage = if is_inside {
        damage
    } else {
        // This is reported first: without the allocator's tail, the rest of the heap is missing.
        Some(Error::from(HeapError::Corrupt {
            address: tail,
            found: format!(
                "the allocator's tail pointer there, but the heap reaches from {} to {:#x}",
                allocator.first_block,
                memory.size()
            ),
            expected: "a tail inside the heap (was the dump cut short?)",
        }))
    };
    Ok(walk)
}

#[cold]
fn bad_header(block: Address, info: BlockInfo) -> Error {
    Error::from(HeapError::Corrupt {
        address: block,
        found: format!(
            "a block header of {:#x} ({} bytes)",
            info.0,
            info.payload_size()
        ),
        expected: "a block whose size is 12 more than a multiple of 16 and that ends inside the heap",
    })
}

/// Whether a block agrees with the block before it, which is at `free_left` if it is free: a block after a
/// free one is marked as such and in use, and the word before it points to the free one.
#[cold]
fn fits_left(
    memory: Memory<'_>,
    block: Address,
    info: BlockInfo,
    free_left: Option<Address>,
) -> bool {
    match free_left {
        None => !info.is_left_free(),
        Some(left) => {
            let back = block
                .checked_sub(BLOCK_OVERHEAD)
                .and_then(|at| memory.word(at));
            info.is_left_free() && !info.is_free() && back == Some(left.0)
        }
    }
}

/// Searches for regions after foreign pages.
struct RegionSearch<'a> {
    memory: Memory<'a>,
    tail: Address,
    known: KnownBlocks,
    /// Blocks that were followed. Chains from several pages may join; then all have the result of the first.
    /// No chain continues after a certain region, because it would be a part of that region.
    seen: BlockSet,
    /// First blocks and ends of the possible regions before the next certain one. They are stored, so that
    /// memory with a large number of possible regions is searched only once.
    possible: VecDeque<(Address, Address)>,
    /// Whether a certain region was searched for.
    is_searched: bool,
    /// The next certain region, if it was searched for and there is one.
    certain: Option<Address>,
    step: &'a Step<'a>,
}

/// The kind of a chain of blocks.
enum Chain {
    /// No region.
    Broken,
    /// It follows all rules, but none of its blocks is in a list: it is a region of raw blocks only, or
    /// foreign. It ends here.
    Possible(Address),
    /// A region.
    Certain,
}

impl RegionSearch<'_> {
    /// The first block of the region after the one that ends at `end`.
    fn next_region(&mut self, end: Address) -> Result<Option<Address>> {
        // The next page cannot be a region: the allocator would have merged it.
        let Some(behind) = end.checked_add(2 * PAGE - 1 + BLOCK_OVERHEAD) else {
            return Ok(None);
        };
        let page = Address(behind.0 & !(PAGE - 1));
        if !self.is_searched || self.certain.is_some_and(|first| first <= end) {
            self.certain = self.search(page)?;
            self.is_searched = true;
        }
        let certain = self.certain;
        while self
            .possible
            .front()
            .is_some_and(|&(first, _)| first < page)
        {
            self.possible.pop_front();
        }
        Ok(match (self.possible.front().copied(), certain) {
            // Adjacent regions would have been merged, so the possible one is foreign.
            (Some((first, end)), Some(certain)) => {
                let is_apart = certain.0.saturating_sub(end.0) >= PAGE;
                Some(if is_apart { first } else { certain })
            }
            (possible, certain) => certain.or(possible.map(|(first, _)| first)),
        })
    }

    /// Searches every page from this one on, up to a certain region. Stores the possible ones.
    fn search(&mut self, page: Address) -> Result<Option<Address>> {
        self.possible.clear();
        let mut page = page;
        loop {
            let Some(first) = first_block_from(page).filter(|&first| first < self.tail) else {
                return Ok(None);
            };
            match self.follow(first)? {
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

    /// Follows a chain of blocks and checks all rules of the allocator: the block after a free block is
    /// marked as such, free blocks have a pointer to their start, two free blocks are never adjacent, and a
    /// region ends at the end of a page.
    fn follow(&mut self, first: Address) -> Result<Chain> {
        let mut block = first;
        let mut left_is_free = false;
        let mut is_certain = false;
        let mut followed = 0u32;
        loop {
            if self.seen.insert(block) != Some(true) {
                return Ok(Chain::Broken);
            }
            followed += 1;
            if (followed as usize).is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            let Ok((info, next)) = read_block(self.memory, block, self.tail) else {
                return Ok(Chain::Broken);
            };
            if info.is_left_free() != left_is_free || (left_is_free && info.is_free()) {
                return Ok(Chain::Broken);
            }
            if info.ends_region() {
                return Ok(if block == self.tail || is_certain {
                    Chain::Certain
                } else if block.0.wrapping_add(BLOCK_OVERHEAD).is_multiple_of(PAGE) {
                    Chain::Possible(block)
                } else {
                    Chain::Broken
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
fn is_in(blocks: &Option<CompleteSet>, block: Address) -> Option<bool> {
    Some(blocks.as_ref()?.contains(block))
}
