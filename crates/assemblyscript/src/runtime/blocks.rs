//! The allocator's blocks (TLSF): every byte of a region belongs to one.

use base::units::Address;
use dumps::{Dump, Memory};
pub use runtime_code::std_library::ALIGNMENT;
use runtime_code::std_library::ROOT_SIZE;

/// The size of the `mmInfo` word before every payload.
pub const BLOCK_OVERHEAD: u32 = 4;
/// The offset of the list heads in the allocator's root. The tail pointer follows them.
const HEADS_OFFSET: u32 = 96;
const TAIL_OFFSET: u32 = 1568;
/// A free block holds two links and a back pointer.
const MINIMUM_PAYLOAD: u32 = 12;

/// The word that starts a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo(pub u32);

impl BlockInfo {
    /// Bytes after the `mmInfo` word.
    #[inline]
    pub fn payload_size(self) -> u32 {
        self.0 & !3
    }

    /// The size of the whole block, which is the shallow size of an object.
    #[inline]
    pub fn block_size(self) -> u32 {
        self.payload_size().wrapping_add(BLOCK_OVERHEAD)
    }

    /// Whether the block is free.
    #[inline]
    pub fn is_free(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the block before this one is free.
    #[inline]
    pub fn is_left_free(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether this is the block of size 0 that ends a region.
    #[inline]
    pub fn ends_region(self) -> bool {
        self.payload_size() == 0
    }
}

/// The addresses of the allocator's data.
#[derive(Clone, Copy, Debug)]
pub struct AllocatorData {
    /// The control structure.
    root: Address,
    /// The first block of the first region.
    pub first_block: Address,
    /// The block that ends the last region; `None` if nothing was ever allocated.
    pub tail: Option<Address>,
}

impl AllocatorData {
    /// Whether an allocator that was used has its root at this address: its tail pointer is that of a block that
    /// ends a region, at the end of a page.
    pub fn is_root(memory: Memory<'_>, root: Address) -> bool {
        const PAGE: u32 = 1 << 16;
        let tail = root
            .checked_add(TAIL_OFFSET)
            .and_then(|at| memory.word(at))
            .map(Address);
        root.0.is_multiple_of(ALIGNMENT)
            && tail.is_some_and(|tail| {
                tail > root
                    && tail.0.wrapping_add(BLOCK_OVERHEAD).is_multiple_of(PAGE)
                    && memory
                        .word(tail)
                        .is_some_and(|info| BlockInfo(info).ends_region())
            })
    }

    /// Finds the allocator after the heap base; `None` if it would begin past 4 GiB.
    pub fn locate(dump: &Dump<'_>) -> Option<Self> {
        let root = dump.heap_base.checked_add(ALIGNMENT - 1)?.0 & !(ALIGNMENT - 1);
        let tail = dump.memory.word(Address(root).checked_add(TAIL_OFFSET)?);
        Some(Self {
            root: Address(root),
            first_block: first_block_from(Address(root).checked_add(ROOT_SIZE)?)?,
            tail: tail.filter(|&tail| tail != 0).map(Address),
        })
    }

    /// The bytes from the first block to the end of the memory.
    pub fn heap_size(self, memory: Memory<'_>) -> u64 {
        memory.size().saturating_sub(u64::from(self.first_block.0))
    }

    /// The first blocks of all free lists; 0 where a list is empty.
    pub fn free_list_heads(self, memory: Memory<'_>) -> Option<impl Iterator<Item = u32>> {
        memory.words_at(
            self.root.checked_add(HEADS_OFFSET)?,
            (TAIL_OFFSET - HEADS_OFFSET) / 4,
        )
    }
}

/// The first block of a region that begins at `start`: its payload is aligned.
pub fn first_block_from(start: Address) -> Option<Address> {
    let payload = start.checked_add(BLOCK_OVERHEAD + ALIGNMENT - 1)?.0 & !(ALIGNMENT - 1);
    Address(payload).checked_sub(BLOCK_OVERHEAD)
}

/// The block at `address` and the address of the next one, if this can be a block of a region
/// that ends at or before `tail`.
#[inline]
pub fn read_block(
    memory: Memory<'_>,
    address: Address,
    tail: Address,
) -> Result<(BlockInfo, Address), BlockInfo> {
    let info = BlockInfo(memory.word(address).unwrap_or(u32::MAX));
    checked_block(info, address, tail)
}

/// The same for a block whose first word was read.
#[inline]
pub fn checked_block(
    info: BlockInfo,
    address: Address,
    tail: Address,
) -> Result<(BlockInfo, Address), BlockInfo> {
    if info.ends_region() {
        return Ok((info, address));
    }
    let payload = info.payload_size();
    // A size of almost 4 GiB must not wrap to 0: the walk would never advance.
    let size = payload.checked_add(BLOCK_OVERHEAD).ok_or(info)?;
    // Blocks begin 4 bytes below a multiple of 16, so their sizes are multiples of 16.
    if payload < MINIMUM_PAYLOAD || !size.is_multiple_of(ALIGNMENT) {
        return Err(info);
    }
    match address.checked_add(size) {
        Some(next) if next <= tail => Ok((info, next)),
        _ => Err(info),
    }
}
