//! A region of the heap while a scene is made: its blocks, one after the other.

use super::first_block_of_region;

#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) blocks: Vec<Block>,
    /// The address of the next block.
    pub(super) next: u32,
    /// The address after the block of size 0 that ends the region, once it is known.
    pub(super) end: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) address: u32,
    pub(super) payload_size: u32,
    pub(super) kind: BlockKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Free,
    Raw,
    Managed { id: u32, size: u32 },
}

impl Region {
    pub(super) fn starting_at(start: u32) -> Self {
        Self {
            blocks: Vec::new(),
            next: first_block_of_region(start),
            end: None,
        }
    }

    /// Two free blocks never touch.
    pub(super) fn merge_last_two_if_free(&mut self) {
        if let [.., first, second] = &mut self.blocks[..]
            && first.kind == BlockKind::Free
            && second.kind == BlockKind::Free
        {
            first.payload_size += second.payload_size + 4;
            self.blocks.pop();
        }
    }
}
