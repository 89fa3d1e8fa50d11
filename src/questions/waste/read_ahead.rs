//! Reading many small pieces of memory in address order, with few reads of the dump.

use crate::error::Result;
use crate::questions::memory::{LONG_WINDOW, Reader};

/// The largest gap between two pieces that is read too, in bytes.
const GAP: u64 = 1 << 14;

/// The first of these pieces, which are addresses and lengths in address order. If it must be read from the
/// dump, the others are read with it, as long as the gaps are small.
pub(super) fn read_ahead<'r>(
    reader: &'r mut Reader<'_>,
    mut pieces: impl Iterator<Item = (u32, u32)>,
) -> Result<&'r [u8]> {
    let Some((address, length)) = pieces.next() else {
        return Ok(&[]);
    };
    if !reader.holds(address, length) {
        let start = u64::from(address);
        let mut end = start + u64::from(length);
        for (next, length) in pieces {
            let next_end = u64::from(next) + u64::from(length);
            if u64::from(next) > end + GAP || next_end > start + u64::from(LONG_WINDOW) {
                break;
            }
            end = end.max(next_end);
        }
        reader.read(address, (end - start).min(u32::MAX.into()) as u32)?;
    }
    reader.read(address, length)
}
