//! Raw memory: the bytes of a linear memory and nothing else. Any host can write it.

use crate::ContainerError;
use base::error::Result;

use crate::MAX_MEMORY_SIZE;
use crate::image::Header;

const PAGE: u64 = 1 << 16;

/// A heap dump of raw memory, with a header that the caller knows.
///
/// # Errors
/// [`ContainerError::RawSize`] if the size is not that of a memory;
/// [`Error::OutOfMemory`](base::Error::OutOfMemory).
pub fn dump_of_raw_memory(memory: &[u8], header: &Header) -> Result<Vec<u8>> {
    let size = memory.len() as u64;
    if size == 0 || !size.is_multiple_of(PAGE) || size > MAX_MEMORY_SIZE {
        return Err(ContainerError::RawSize { size }.into());
    }
    let (mut file, start) = header.with_zeros(size)?;
    file[start..].copy_from_slice(memory);
    Ok(file)
}
