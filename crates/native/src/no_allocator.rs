//! What is in the memory of a module that has no allocator.

use crate::warning::NativeWarning;
use base::columns;
use base::control::Control;
use base::error::Result;
use dumps::{Dump, Memory};
use wasm::module::Module;

const PAGE: usize = 1 << 16;

/// What fills the memory: what the module initialises, and what the program or its host wrote elsewhere.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn filling(
    module: &Module<'_>,
    dump: &Dump<'_>,
    control: &Control,
) -> Result<NativeWarning> {
    let size = dump.memory.size();
    let mut segments = columns::collected(module.data.iter().map(|data| {
        let start = u64::from(data.start.0).min(size);
        (start, (start + data.bytes.len() as u64).min(size))
    }))?;
    segments.sort_unstable();
    let (mut initialised, mut written, mut end) = (0, 0, 0);
    for (start, segment_end) in segments {
        written += count_written(dump.memory, end, start, control)?;
        initialised += segment_end.saturating_sub(start.max(end));
        end = segment_end.max(end);
    }
    written += count_written(dump.memory, end, size, control)?;
    Ok(NativeWarning::NoAllocator {
        size,
        initialised,
        written,
    })
}

/// The bytes from `start` to `end` that are not 0.
fn count_written(memory: Memory<'_>, start: u64, end: u64, control: &Control) -> Result<u64> {
    let part = memory.as_bytes().get(start as usize..end as usize);
    let mut count = 0;
    for piece in part.unwrap_or_default().chunks(PAGE) {
        control.count(piece.len() as u64 / 64)?;
        count += piece.iter().filter(|&&byte| byte != 0).count() as u64;
    }
    Ok(count)
}
