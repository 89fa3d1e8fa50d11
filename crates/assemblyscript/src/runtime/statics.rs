//! Static objects: string literals, and arrays such as `let list: T[] = []`, that the compiler laid out below
//! the heap. They take no heap space, but they refer to objects on the heap.

use super::objects::{HEADER_SIZE, ObjectHeader, block_of};
use base::units::Address;
use dumps::Dump;

/// All static objects in address order.
///
/// Static data has no directory: any header that the compiler could have written counts as an object. Other
/// data may look like a header by chance. That does no harm, because an object is used only if a reference
/// has exactly its address.
pub fn static_objects<'a>(dump: &Dump<'a>) -> impl Iterator<Item = (Address, ObjectHeader)> + 'a {
    let memory = dump.memory;
    let data_end = dump.data_end;
    (HEADER_SIZE.next_multiple_of(16)..=data_end.0)
        .step_by(16)
        .map(Address)
        .filter_map(move |payload| {
            let block = block_of(payload)?;
            let header = ObjectHeader::read(memory, block)?;
            let fits = payload.checked_add(header.size)? <= data_end
                && header.expected_block_payload() == Some(header.block.0);
            // While the collector sweeps, the object before the next one to sweep was freed, and its memory may be used
            // again. A static object stays, and may be alive.
            (fits && (header.is_unlinked() || header.is_linked_forward(memory, block)))
                .then_some((payload, header))
        })
}
