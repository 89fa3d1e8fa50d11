//! Blocks that are certain: those in the allocator's free lists, and those in the collector's object lists.

use super::block_set::{BlockSet, CompleteSet};
use super::blocks::{AllocatorData, BlockInfo};
use super::collector::Collector;
use super::objects::next_of;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::Address;
use dumps::Memory;
use heap::CollectorState;

/// Blocks of the heap that are in a list.
#[derive(Debug, Default)]
pub struct KnownBlocks {
    /// Free blocks; `None` if the lists cannot be followed to their ends.
    pub free: Option<CompleteSet>,
    /// Blocks of managed objects; `None` if the heads of the lists are not known or the lists
    /// cannot be followed to their ends.
    pub objects: Option<CompleteSet>,
}

impl KnownBlocks {
    /// Follows all lists.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted), [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn read(
        memory: Memory<'_>,
        allocator: AllocatorData,
        collector: &Collector,
        step: &Step<'_>,
    ) -> Result<Self> {
        let mut lists = Lists {
            memory,
            allocator,
            step,
            followed: 0,
            statics: 0,
        };
        Ok(Self {
            free: lists.free_blocks()?,
            objects: lists.object_blocks(collector)?,
        })
    }

    /// Whether a block is known to begin somewhere between two blocks, both excluded.
    pub fn any_between(&self, low: Address, high: Address) -> bool {
        let mut sets = [&self.free, &self.objects].into_iter().flatten();
        sets.any(|blocks| blocks.any_between(low, high))
    }
}

struct Lists<'a> {
    memory: Memory<'a>,
    allocator: AllocatorData,
    step: &'a Step<'a>,
    followed: u32,
    /// The number of static objects that were followed. They are in lists too, but are not blocks of the
    /// heap.
    statics: u32,
}

impl Lists<'_> {
    fn no_blocks(&self) -> Result<BlockSet> {
        let end = u32::try_from(self.memory.size()).unwrap_or(u32::MAX);
        BlockSet::between(self.allocator.first_block, Address(end))
    }

    fn free_blocks(&mut self) -> Result<Option<CompleteSet>> {
        const NEXT: u32 = 8;
        let memory = self.memory;
        let Some(heads) = self.allocator.free_list_heads(memory) else {
            return Ok(None);
        };
        let mut blocks = self.no_blocks()?;
        for head in heads {
            let followed = self.follow(
                &mut blocks,
                Address(head),
                |block| block.0 == 0,
                |block| {
                    let is_free = BlockInfo(memory.word(block)?).is_free();
                    let next = memory.word(block.checked_add(NEXT)?)?;
                    is_free.then_some(Address(next))
                },
            )?;
            if !followed {
                return Ok(None);
            }
        }
        Ok(Some(CompleteSet::new(blocks)?))
    }

    fn object_blocks(&mut self, collector: &Collector) -> Result<Option<CompleteSet>> {
        let memory = self.memory;
        let Some(heads) = collector.list_heads else {
            return Ok(None);
        };
        let mut blocks = self.no_blocks()?;
        for head in heads.all() {
            // The objects before the cursor were swept; the rest of the list begins at the cursor.
            let is_swept =
                collector.state == Some(CollectorState::Sweeping) && head == heads.to_space;
            let first = if is_swept {
                collector.cursor
            } else {
                next_of(memory, head)
            };
            let Some(first) = first else {
                return Ok(None);
            };
            let is_end = |block| block == head;
            if !self.follow(&mut blocks, first, is_end, |block| next_of(memory, block))? {
                return Ok(None);
            }
        }
        Ok(Some(CompleteSet::new(blocks)?))
    }

    /// Adds the blocks of a list. Returns whether the list has an end.
    fn follow(
        &mut self,
        blocks: &mut BlockSet,
        first: Address,
        is_end: impl Fn(Address) -> bool,
        next: impl Fn(Address) -> Option<Address>,
    ) -> Result<bool> {
        let mut block = first;
        while !is_end(block) {
            self.followed = self.followed.wrapping_add(1);
            if (self.followed as usize).is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            let is_possible = if block < self.allocator.first_block {
                // All lists together cannot have more objects than the memory.
                self.statics += 1;
                self.statics <= self.allocator.first_block.0 / 16
            } else {
                // A list that visits a block twice is an endless cycle.
                blocks.insert(block) == Some(true)
            };
            match next(block).filter(|_| is_possible) {
                Some(following) => block = following,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
