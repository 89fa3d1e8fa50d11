//! The pass over the headers of all used blocks: which blocks hold objects, and of which class and size.

use std::cell::Cell;

use super::header_checks::{ChunkChecks, HeaderChecks};
use super::lookahead::{BATCH, Lookahead};
use crate::runtime::objects::{HEADER_SIZE, ObjectHeader, block_of};
use base::columns;
use base::error::Result;
use base::units::Address;
use dumps::Memory;
use heap::prefetch;

/// What the pass needs for each chunk of blocks.
pub(super) struct HeaderPass<'a> {
    pub(super) memory: Memory<'a>,
    /// The object that is swept next: no object before it in its list refers to it.
    pub(super) cursor: Option<Address>,
    pub(super) checks: &'a HeaderChecks,
}

/// What the pass finds in a chunk of blocks.
#[derive(Default)]
pub(super) struct HeaderChunk {
    /// The number of objects, whose values are at the start of the columns.
    pub(super) kept: usize,
    /// The payloads of pinned objects.
    pub(super) pinned: Vec<u32>,
    /// The payloads of blocks that are not kept, but look like objects that are being added to a list or removed
    /// from one.
    pub(super) torn: Vec<u32>,
    /// Whether the neighbours of most objects are far from them.
    pub(super) is_scattered: bool,
}

impl HeaderPass<'_> {
    /// Reads the headers of the blocks with these payloads. Moves the payloads of objects to the start of the
    /// column, and writes their sizes and class ids to the start of the other columns, which are as long.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    #[inline(never)]
    pub(super) fn read(
        &self,
        payloads: &mut [u32],
        sizes: &mut [u32],
        class_ids: &mut [u32],
    ) -> Result<HeaderChunk> {
        let memory = self.memory;
        let count = payloads.len();
        let mut chunk = HeaderChunk::default();
        let mut checks = ChunkChecks::default();
        // The column is read and written at once, but never read behind what was written.
        let payloads = Cell::from_mut(payloads).as_slice_of_cells();
        let mut kept = payloads.iter().zip(sizes).zip(class_ids);
        let mut lookahead = Lookahead::new();
        for batch in payloads.chunks(BATCH) {
            if lookahead.is_worth_it() {
                self.prefetch_neighbours(batch, &mut lookahead);
            }
            for payload in batch.iter().map(Cell::get) {
                let block = block_of(Address(payload));
                let header = block.and_then(|block| ObjectHeader::read(memory, block));
                let (Some(block), Some(header)) = (block, header) else {
                    continue;
                };
                let forward = header.is_linked_forward(memory, block);
                let back = header.is_linked_back(memory, block);
                if !(forward && (back || self.cursor == Some(block))) {
                    if forward || back || is_moving(memory, block) {
                        columns::push(&mut chunk.torn, payload)?;
                    }
                    continue;
                }
                if let Some(((kept_payload, size), class_id)) = kept.next() {
                    kept_payload.set(payload);
                    *size = header.block.block_size();
                    *class_id = header.class_id.0;
                }
                self.checks.look(&mut checks, block, header, !back);
                if header.is_pinned() {
                    columns::push(&mut chunk.pinned, payload)?;
                }
            }
        }
        chunk.kept = count - kept.len();
        chunk.is_scattered = lookahead.is_worth_it();
        self.checks.add(&checks);
        Ok(chunk)
    }

    /// Asks for the headers of the neighbours of these blocks, all at the same time.
    fn prefetch_neighbours(&self, payloads: &[Cell<u32>], lookahead: &mut Lookahead) {
        lookahead.begin();
        for payload in payloads.iter().map(Cell::get) {
            let block = block_of(Address(payload));
            let header = block.and_then(|block| ObjectHeader::read(self.memory, block));
            for neighbour in header
                .iter()
                .flat_map(|header| [header.next(), header.previous])
            {
                if lookahead.add(payload, neighbour.0)
                    && let Some(header) = self.memory.bytes_at(neighbour, HEADER_SIZE)
                {
                    prefetch(header.as_bytes(), 0);
                }
            }
        }
        lookahead.end();
    }
}

#[cold]
fn is_moving(memory: Memory<'_>, block: Address) -> bool {
    ObjectHeader::read(memory, block).is_some_and(|header| header.is_moving(memory))
}
