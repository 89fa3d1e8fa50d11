//! The state of a program after its instantiation.

use super::machine::MachineState;
use super::memory::{MachineMemory, SparseMemory};
use super::probes;
use crate::std_library::{ARRAY_BUFFER, HEADER_SIZE};
use wasm::module::Module;

/// Static data after this size is ignored.
const MOST_STATIC_DATA: usize = 64 << 20;

/// The state of a module after its instantiation.
pub(super) fn initial_state(module: &Module<'_>) -> Option<MachineState> {
    let mut memory = SparseMemory::new(probes::background);
    for segment in &module.data {
        if segment.start.0 as usize + segment.bytes.len() <= MOST_STATIC_DATA {
            memory.write(segment.start.0, segment.bytes)?;
        }
    }
    let globals = module.globals.iter();
    Some(MachineState {
        memory: memory.frozen(),
        globals: globals
            .map(|global| {
                global
                    .constant
                    .or(global.initial.map(u64::from))
                    .unwrap_or(0)
            })
            .collect(),
    })
}

/// The end of the data segments.
pub(super) fn static_data_end(module: &Module<'_>) -> u32 {
    let ends = module
        .data
        .iter()
        .map(|segment| segment.start.0 as usize + segment.bytes.len())
        .filter(|&end| end <= MOST_STATIC_DATA);
    ends.max().unwrap_or(0).next_multiple_of(16) as u32
}

/// Makes the object with this payload, if there is one, an instance of a class without references.
pub(super) fn clear_references(memory: &mut SparseMemory, payload: u32) -> Option<()> {
    let block = payload - HEADER_SIZE;
    let mut word = |offset| memory.word(block + offset);
    let expected = word(16)?
        .checked_add(HEADER_SIZE)
        .and_then(|size| size.checked_next_multiple_of(16));
    let is_object = expected.is_some_and(|size| Some(size - 4) == word(0))
        && (word(4), word(8)) == (Some(0), Some(0))
        && word(12)? > ARRAY_BUFFER.0;
    if is_object {
        memory.set_word(block + 12, ARRAY_BUFFER.0)?;
    }
    Some(())
}
