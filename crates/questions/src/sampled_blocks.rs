//! Blocks that a profiler recorded, and the objects in them.

use serde::{Deserialize, Serialize};

use base::frame::Frame;
use base::units::{Address, ObjectIndex};
use heap::{Blocks, Heap, Source};

/// The blocks that a profiler sampled and that were not freed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampledBlocks {
    /// The mean number of bytes between two samples; 1 if every block is a sample.
    pub interval: u64,
    /// The lines that allocated.
    pub places: Vec<Frame>,
    /// Address, size and place of each block, one block after the other.
    pub blocks: Vec<u32>,
}

/// What a recorded block is in a heap.
pub(crate) enum BlockMatch {
    /// This object.
    Object(ObjectIndex),
    /// A block of another size: the profile is of another moment.
    OtherSize,
    /// No object begins there.
    Missing,
}

/// The object that begins in a block of this address and size.
pub(crate) fn matched(heap: &Heap, source: &dyn Source, address: u32, size: u32) -> BlockMatch {
    let blocks = source.blocks();
    let header = blocks.as_ref().map_or(0, |blocks| blocks.header);
    let payload = address.checked_add(header).map(Address);
    let object = payload.and_then(|payload| heap.objects.at(payload));
    let Some(object) = object.filter(|&object| heap.objects.is_on_heap(object)) else {
        return BlockMatch::Missing;
    };
    let found = heap.block_size(object);
    let fits = match blocks {
        Some(Blocks {
            overhead: Some(overhead),
            ..
        }) => u64::from(found) >= u64::from(size) + u64::from(overhead),
        _ => found == size,
    };
    if fits {
        BlockMatch::Object(object)
    } else {
        BlockMatch::OtherSize
    }
}
