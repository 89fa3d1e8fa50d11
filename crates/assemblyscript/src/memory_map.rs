//! The use of each part of the memory, for a scan of every word that the program can read.

use std::ops::Range;

use crate::runtime::Runtime;
use crate::runtime::blocks::BLOCK_OVERHEAD;
use crate::runtime::regions::{BlockWalk, Region};
use base::columns;
use base::error::Result;
use base::units::Address;
use dumps::Memory;

/// The parts of the memory, and the values of globals.
#[derive(Debug, Default)]
pub struct MemoryMap {
    /// The regions of the heap, in address order: from the first block up to the end of the last.
    pub regions: Vec<Range<u32>>,
    /// The memory outside blocks that the program can read, in address order: static data, the used part of
    /// the shadow stack, memory that the allocator does not own, and the part after damage.
    pub others: Vec<Range<u64>>,
    /// The values of the mutable i32 globals; `None` if the module has such globals and the dump has no
    /// values of them.
    pub global_values: Option<Vec<u32>>,
    /// The used bytes of the shadow stack.
    pub stack_size: u64,
    /// The number of mutable i64 globals of the module. A dump never has their values.
    pub wide_globals: u32,
}

impl MemoryMap {
    /// The map of a memory whose blocks were walked.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(super) fn new(runtime: &Runtime<'_>, walk: &BlockWalk) -> Result<Self> {
        let dump = &runtime.dump;
        let heap_base = u64::from(dump.heap_base.0);
        let mut others = vec![
            0..u64::from(dump.data_end.0),
            u64::from(dump.stack_pointer.0).min(heap_base)..heap_base,
        ];
        if let Some(allocator) = runtime.allocator {
            let first_block = u64::from(allocator.first_block.0);
            for gap in gaps(dump.memory, first_block, walk) {
                columns::push(&mut others, gap)?;
            }
        }
        let size = dump.memory.size();
        others.retain(|range| range.start < range.end.min(size));
        let global_values = if runtime.lacks_global_values {
            None
        } else {
            let mut values = Vec::new();
            for value in dump.globals.iter() {
                columns::push(&mut values, value)?;
            }
            Some(values)
        };
        let regions = walk
            .regions
            .iter()
            .map(|region: &Region| region.first_block.0..region.end.0);
        Ok(Self {
            regions: columns::collected(regions)?,
            others,
            global_values,
            stack_size: heap_base.saturating_sub(dump.stack_pointer.0.into()),
            wide_globals: runtime.wide_globals,
        })
    }
}

/// The memory after the allocator's own data that is in no region.
fn gaps(
    memory: Memory<'_>,
    first_block: u64,
    walk: &BlockWalk,
) -> impl Iterator<Item = Range<u64>> {
    let ends = walk.regions.iter().enumerate().map(|(nth, region)| {
        let is_whole = walk.damage.is_none() || nth + 1 < walk.regions.len();
        u64::from(region.end.0)
            + if is_whole {
                u64::from(BLOCK_OVERHEAD)
            } else {
                0
            }
    });
    let starts = walk.regions.iter().enumerate().map(|(nth, region)| {
        let Address(first) = region.first_block;
        // Every region except the first begins at the start of a page, some bytes before its first block.
        u64::from(if nth == 0 { first } else { first & !0xffff })
    });
    std::iter::once(first_block)
        .chain(ends)
        .zip(starts.chain([memory.size()]))
        .map(|(start, end)| start..end)
}
