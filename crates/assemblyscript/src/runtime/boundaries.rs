//! The boundaries of the memory, where the header of a dump cannot have them.
//!
//! An optimiser removes the shadow stack of a program that never uses it, and with it the globals from which
//! WARPO's writer takes the boundaries: the header then has zeros. The allocator keeps the address of its root,
//! which is the heap base rounded up, in a global of its own.

use super::blocks::AllocatorData;
use super::collector::{Collector, global_value};
use super::evidence::Evidence;
use base::error::{Error, Result};
use base::units::Address;
use dumps::Dump;
use heap::HeapError;
use runtime_code::std_library::ALIGNMENT;
use wasm::module::{Module, TLSF_ROOT};

/// The same dump, with boundaries that the program can have. There is no shadow stack in such a program, so
/// static data can reach up to the heap base, and the stack is empty.
///
/// # Errors
/// [`HeapError::Corrupt`] if the header says that the heap begins inside static data, and it is not known where
/// it begins instead.
pub(super) fn corrected<'a>(
    dump: &Dump<'a>,
    module: &Module<'_>,
    evidence: &Evidence,
) -> Result<Dump<'a>> {
    let ends = module
        .data
        .iter()
        .map(|segment| u64::from(segment.start.0) + segment.bytes.len() as u64);
    let static_end = ends.max().unwrap_or(0);
    let is_stated = dump.heap_base != Address(0) || dump.data_end != Address(0);
    let has_collector = evidence.code.is_some() || Collector::is_named(module);
    if is_stated || static_end == 0 || dump.memory.size() == 0 || !has_collector {
        return Ok(*dump);
    }
    let aligned_end = static_end.next_multiple_of(ALIGNMENT.into());
    let lowest = Address(u32::try_from(aligned_end).unwrap_or(u32::MAX));
    let base = match module.globals.named(TLSF_ROOT) {
        // The allocator has not been used.
        Some(root) if global_value(root, dump) == Some(0) => Some(lowest),
        Some(root) => global_value(root, dump).and_then(|root| root_at(root, lowest, dump)),
        None => {
            let values = dump.globals.iter();
            let mut roots = values.filter_map(|value| root_at(value, lowest, dump));
            let first = roots.next();
            first.filter(|first| roots.all(|root| root == *first))
        }
    };
    let base = base.ok_or_else(|| Error::from(HeapError::Corrupt {
        address: dump.heap_base,
        found: "a heap that begins at address 0, inside static data, and no global with the allocator's root"
            .to_owned(),
        expected: "the heap base at offset 12 of the dump, or the value of ~lib/rt/tlsf/ROOT",
    }))?;
    Ok(Dump {
        data_end: base,
        heap_base: base,
        stack_pointer: base,
        ..*dump
    })
}

fn root_at(value: u32, lowest: Address, dump: &Dump<'_>) -> Option<Address> {
    let root = Address(value);
    (root >= lowest && AllocatorData::is_root(dump.memory, root)).then_some(root)
}
