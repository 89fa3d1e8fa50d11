//! The objects of a dump while it is decided which of them are kept.

use rayon::prelude::*;

use crate::runtime::objects::block_of;
use base::columns;
use base::error::Result;
use base::units::Address;

/// The number of blocks of one task.
pub(crate) const CHUNK: usize = 1 << 14;

/// Objects under examination, as columns; the static ones first.
#[derive(Default)]
pub(crate) struct Objects {
    pub(crate) payloads: Vec<u32>,
    /// Block sizes; 0 for static objects.
    pub(crate) sizes: Vec<u32>,
    pub(crate) class_ids: Vec<u32>,
    /// Payloads of pinned objects, whether or not they are kept.
    pub(crate) pinned: Vec<u32>,
    /// Payloads of blocks that are not kept, but look like objects that are being added to a list or removed
    /// from one, ascending.
    pub(crate) torn: Vec<u32>,
}

impl Objects {
    pub(crate) fn total_size(&self) -> u64 {
        self.sizes.par_iter().map(|&size| u64::from(size)).sum()
    }

    /// The blocks of the objects after the static ones.
    pub(crate) fn blocks(&self, statics: usize) -> impl Iterator<Item = Address> {
        let payloads = self.payloads[statics..].iter();
        payloads.filter_map(|&payload| block_of(Address(payload)))
    }

    pub(crate) fn columns(&mut self) -> [&mut Vec<u32>; 3] {
        [&mut self.payloads, &mut self.sizes, &mut self.class_ids]
    }

    /// Closes the gaps after the kept objects at the start of each chunk.
    pub(crate) fn close_gaps(&mut self, statics: usize, kept: impl Iterator<Item = usize> + Clone) {
        for column in self.columns() {
            let mut end = statics;
            for (chunk, kept) in kept.clone().enumerate() {
                let start = statics + chunk * CHUNK;
                if start != end {
                    column.copy_within(start..start + kept, end);
                }
                end += kept;
            }
            column.truncate(end);
        }
    }

    /// Keeps the static objects, and of the others those for which `keep` returns true, given position and
    /// block.
    pub(crate) fn keep_where(
        &mut self,
        statics: usize,
        keep: impl Fn(usize, Address) -> bool,
    ) -> Result<()> {
        let mut kept = columns::with_capacity(self.payloads.len() - statics)?;
        let blocks = self.blocks(statics).enumerate();
        kept.extend(blocks.map(|(nth, block)| keep(nth, block)));
        for column in self.columns() {
            let mut at = 0;
            column.retain(|_| {
                at += 1;
                at <= statics || kept[at - 1 - statics]
            });
        }
        Ok(())
    }
}
