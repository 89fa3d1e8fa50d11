//! The object of a block that a profiler recorded.

use base::units::{Address, ObjectIndex};
use heap::{Blocks, Heap, Source};

/// What a recorded block is in a heap.
pub(super) enum BlockMatch {
    /// This object.
    Object(ObjectIndex),
    /// A block of another size: the profile is of another moment.
    OtherSize,
    /// No object begins there.
    Missing,
}

/// The object that begins in a block of this address and size.
pub(super) fn matched(heap: &Heap, source: &dyn Source, address: u32, size: u32) -> BlockMatch {
    let blocks = source.memory().map(|memory| memory.blocks());
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
