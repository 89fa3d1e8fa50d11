//! A memory with the values of globals, written as a heap dump: what all other containers become.

use base::columns;
use base::error::Result;
use base::file_kind::DUMP_MAGIC;
use base::units::Address;

use crate::{HEADER_SIZE, VERSION};

/// What a dump has before its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where static data ends.
    pub data_end: Address,
    /// Where the allocator begins.
    pub heap_base: Address,
    /// The top of the shadow stack.
    pub stack_pointer: Address,
    /// The values of the mutable i32 globals, in wasm global index order.
    pub globals: Vec<u32>,
}

impl Header {
    /// A dump with this header and a memory of zeros. Returns the file, and where its memory begins.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn with_zeros(&self, memory_size: u64) -> Result<(Vec<u8>, usize)> {
        let start = HEADER_SIZE + self.globals.len() * 4;
        let size = usize::try_from(memory_size).unwrap_or(usize::MAX);
        let mut file = columns::zeros::<u8>(start.saturating_add(size))?;
        let header = [
            u32::from_le_bytes(DUMP_MAGIC),
            VERSION,
            self.data_end.0,
            self.heap_base.0,
            self.stack_pointer.0,
            self.globals.len() as u32,
        ];
        let words = header.iter().chain(&self.globals);
        for (bytes, word) in file[..start].chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Ok((file, start))
    }
}
