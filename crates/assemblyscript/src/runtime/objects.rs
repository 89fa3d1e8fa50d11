//! The header of a managed object (ITCMS), and how to distinguish an object from raw memory.
//!
//! A header begins with the block's `mmInfo` word; the payload begins 20 bytes after it. Every managed heap
//! object is in one of the collector's circular doubly linked lists, whose heads are static. A used block
//! that is in no list is raw memory, whatever it contains.

use super::blocks::BlockInfo;
use base::units::{Address, ClassId};
use dumps::Memory;

pub use runtime_code::std_library::HEADER_SIZE;
use runtime_code::std_library::{ARRAY_BUFFER, STRING};
/// Bytes of the header that count as payload of the block.
const HEADER_IN_PAYLOAD: u32 = 16;
/// The colour of pinned objects. The other colours are not evidence of liveness.
const TRANSPARENT: u32 = 3;

/// An object's header.
#[derive(Clone, Copy, Debug)]
pub struct ObjectHeader {
    /// The block's size and flags.
    pub block: BlockInfo,
    next_with_color: u32,
    /// The block of the previous object in the list.
    pub previous: Address,
    /// The runtime id of the object's class.
    pub class_id: ClassId,
    /// Bytes of payload, as the program asked for.
    pub size: u32,
}

impl ObjectHeader {
    /// Reads the header that begins at `block`.
    #[inline]
    pub fn read(memory: Memory<'_>, block: Address) -> Option<Self> {
        let words = memory
            .bytes_at(block, HEADER_SIZE)?
            .as_bytes()
            .first_chunk::<20>()?;
        let word = |at: usize| {
            u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]])
        };
        Some(Self {
            block: BlockInfo(word(0)),
            next_with_color: word(4),
            previous: Address(word(8)),
            class_id: ClassId(word(12)),
            size: word(16),
        })
    }

    /// The block of the next object in the list.
    #[inline]
    pub fn next(self) -> Address {
        Address(self.next_with_color & !3)
    }

    /// Whether the object is pinned: the collector then keeps it and the objects that it refers to.
    #[inline]
    pub fn is_pinned(self) -> bool {
        self.next_with_color & 3 == TRANSPARENT
    }

    /// Whether the object is in no list. Static objects are in none at first.
    #[inline]
    pub fn is_unlinked(self) -> bool {
        self.next_with_color == 0 && self.previous.0 == 0
    }

    /// Whether the object may have been removed from one list and not yet added to another: it has links to
    /// two neighbours, and the next one is in a list. The neighbours need not refer back to it.
    #[inline]
    pub fn is_moving(self, memory: Memory<'_>) -> bool {
        let next = self.next();
        // Raw memory is often zero, and so is the memory at address 0.
        self.previous.0 != 0
            && previous_of(memory, next).and_then(|before| next_of(memory, before)) == Some(next)
    }

    /// Whether the previous object refers to the object at `block`.
    #[inline]
    pub fn is_linked_back(self, memory: Memory<'_>, block: Address) -> bool {
        next_of(memory, self.previous) == Some(block)
    }

    /// Whether the next object refers back to the object at `block`.
    #[inline]
    pub fn is_linked_forward(self, memory: Memory<'_>, block: Address) -> bool {
        previous_of(memory, self.next()) == Some(block)
    }

    /// The largest possible size of the payload in this block.
    #[inline]
    pub fn capacity(self) -> u32 {
        self.block.payload_size().saturating_sub(HEADER_IN_PAYLOAD)
    }

    /// Whether the allocator gives an object of this size this block. A string or a buffer may have been made
    /// smaller: it keeps its block.
    #[inline]
    pub fn fits_block(self) -> bool {
        let found = self.block.payload_size();
        // What nearly every object has. In 64 bits, nothing overflows.
        let needed = (u64::from(self.size) + u64::from(HEADER_SIZE + 15)) & !15;
        needed == u64::from(found) + 4 || fits_after_it_shrank(self.class_id, self.size, found)
    }

    /// The block's payload size that the allocator (and the compiler, for static objects) gives
    /// to an object of this size.
    #[inline]
    pub fn expected_block_payload(self) -> Option<u32> {
        block_payload(self.size)
    }
}

fn block_payload(size: u32) -> Option<u32> {
    // The object's part of the header and the next block's `mmInfo` word, rounded up to 16.
    let rounded = size
        .checked_add(HEADER_SIZE)?
        .checked_next_multiple_of(16)?;
    Some(rounded - 4)
}

/// Whether a string or a buffer of this size can have been made smaller in a block with this payload size.
#[cold]
fn fits_after_it_shrank(class_id: ClassId, size: u32, found: u32) -> bool {
    let can_shrink = class_id == ARRAY_BUFFER || class_id == STRING;
    can_shrink && block_payload(size).is_some_and(|expected| expected <= found)
}

/// The `next` link of the object at `block`.
#[inline]
pub fn next_of(memory: Memory<'_>, block: Address) -> Option<Address> {
    let word = memory.word_behind(block, 4)?;
    Some(Address(word & !3))
}

/// The `previous` link of the object at `block`.
#[inline]
pub fn previous_of(memory: Memory<'_>, block: Address) -> Option<Address> {
    memory.word_behind(block, 8).map(Address)
}

/// The payload of the object in this block.
#[inline]
pub fn payload_of(block: Address) -> Option<Address> {
    block.checked_add(HEADER_SIZE)
}

/// The block of the object with this payload.
#[inline]
pub fn block_of(payload: Address) -> Option<Address> {
    payload.checked_sub(HEADER_SIZE)
}
