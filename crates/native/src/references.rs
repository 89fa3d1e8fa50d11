//! The references between blocks. They are conservative: every word that is an address in a block may be one.

use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use heap::{EdgeLabel, Edges};

use crate::dlmalloc::UsedBlocks;

const PAGE_BITS: u32 = 12;

/// Finds the block around an address.
pub(crate) struct BlockIndex<'w> {
    walk: &'w UsedBlocks,
    /// By page, from that of the first block on: the number of blocks below it.
    below: Vec<u32>,
}

impl<'w> BlockIndex<'w> {
    pub(crate) fn new(walk: &'w UsedBlocks) -> Result<Self> {
        let mut below = Vec::new();
        if let Some(&first) = walk.addresses.first() {
            for (nth, &address) in walk.addresses.iter().enumerate() {
                let page = ((address >> PAGE_BITS) - (first >> PAGE_BITS)) as usize;
                while below.len() <= page {
                    columns::push(&mut below, nth as u32)?;
                }
            }
        }
        Ok(Self { walk, below })
    }

    /// The block whose usable bytes contain this address.
    pub(crate) fn around(&self, address: u32) -> Option<ObjectIndex> {
        let addresses = &self.walk.addresses;
        let first = *addresses.first()?;
        let page = (address >> PAGE_BITS).checked_sub(first >> PAGE_BITS)? as usize;
        // Behind the last page that a block begins in, only the last block can be.
        let start = self
            .below
            .get(page)
            .copied()
            .unwrap_or(addresses.len() as u32) as usize;
        let end = self
            .below
            .get(page + 1)
            .copied()
            .unwrap_or(addresses.len() as u32) as usize;
        let on_page = addresses[start..end].partition_point(|&at| at <= address);
        let nth = (start + on_page).checked_sub(1)?;
        let is_inside = address - addresses[nth] < self.walk.usable[nth];
        is_inside.then_some(ObjectIndex(nth as u32))
    }
}

/// The references out of all blocks: those of block `i` are at the positions `offsets[i]..offsets[i + 1]`.
pub(crate) struct References {
    offsets: Vec<u32>,
    targets: Vec<ObjectIndex>,
    /// The numbers of the words, counted from the start of their block; empty if they are not wanted.
    words: Vec<u32>,
}

impl References {
    /// The graph without labels.
    pub(crate) fn unlabelled(self) -> Edges {
        Edges::with_narrow_labels(self.offsets, self.targets, Vec::new())
    }

    /// The graph, and the number of the word of each reference. `label` gets a block and the number of a word.
    pub(crate) fn labelled(
        self,
        label: impl Fn(usize, u32) -> EdgeLabel,
    ) -> Result<(Edges, Vec<u32>)> {
        let mut labels = columns::with_capacity(self.words.len())?;
        for (block, range) in self.offsets.windows(2).enumerate() {
            let words = self.words.get(range[0] as usize..range[1] as usize);
            let words = words.into_iter().flatten();
            labels.extend(words.map(|&word| label(block, word).narrow()));
        }
        let edges = Edges::with_narrow_labels(self.offsets, self.targets, labels);
        Ok((edges, self.words))
    }
}

/// The references out of all blocks; with the numbers of their words, if these are wanted.
pub(crate) fn find(
    memory: Memory<'_>,
    walk: &UsedBlocks,
    index: &BlockIndex<'_>,
    wants_words: bool,
    control: &Control,
) -> Result<References> {
    let step = control.begin(Phase::References, walk.addresses.len() as u64);
    let mut offsets = columns::with_capacity(walk.addresses.len() + 1)?;
    let (mut targets, mut numbers) = (Vec::new(), Vec::new());
    offsets.push(0);
    for (nth, (&address, &usable)) in walk.addresses.iter().zip(&walk.usable).enumerate() {
        let words = memory.words_at(Address(address), usable / 4);
        for (position, word) in words.into_iter().flatten().enumerate() {
            // A block does not keep itself.
            let target = index.around(word).filter(|target| target.at() != nth);
            if let Some(target) = target {
                columns::push(&mut targets, target)?;
                if wants_words {
                    columns::push(&mut numbers, position as u32)?;
                }
            }
        }
        offsets.push(targets.len() as u32);
        step.control().count(u64::from(usable) / 64 + 1)?;
    }
    step.advance(walk.addresses.len() as u64)?;
    Ok(References {
        offsets,
        targets,
        words: numbers,
    })
}
