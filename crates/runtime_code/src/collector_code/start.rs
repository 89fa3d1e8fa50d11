//! The state of a program before its first allocation.

use super::machine::{GlobalUse, MachineState};
use super::memory::{MachineMemory, SparseMemory};
use super::observer::{CallStack, Observer, Stored};
use super::probes;
use super::search::CollectorSearch;
use crate::code_facts::CodeFacts;
use crate::std_library::{ARRAY_BUFFER, HEADER_SIZE};
use wasm::module::Module;

/// Steps of the start function.
const START_BUDGET: u64 = 4_000_000;
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
            .map(|global| global.initial.unwrap_or(0).into())
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

impl CollectorSearch<'_, '_> {
    /// Executes the start function up to the first store to the heap.
    pub(super) fn start(&mut self) {
        let functions = &self.module.functions;
        let start = functions
            .start()
            .or_else(|| functions.named("~start"))
            .or_else(|| functions.exported("_start"))
            .or_else(|| functions.exported("_initialize"));
        let Some(start) = start else { return };
        let data_end = self.data_end;
        let mut stop = StopAtHeap {
            data_end,
            heap_base: self.heap_base().unwrap_or(data_end),
            on_stack: Vec::new(),
        };
        let mut state = self.idle.clone();
        let uses = &mut GlobalUse::default();
        let before = self.idle.globals.clone();
        self.machine(START_BUDGET)
            .call(start, &[], &mut state, uses, &mut stop);
        for address in stop.on_stack {
            // This does not fail: the page was written before.
            let _ = state.memory.set_word(address, 0);
        }
        for (global, before) in state.globals.iter_mut().zip(before) {
            if before == u64::from(stop.heap_base) {
                *global = before;
            }
        }
        self.idle = state;
    }

    /// Where the heap begins. The shadow stack is between static data and the heap, so this is the initial value
    /// of the stack pointer. Without one, the code has the address of the allocator's root.
    fn heap_base(&self) -> Option<u32> {
        let globals = &self.module.globals;
        let initial = |index| globals.get(index)?.initial;
        if let Some(named) = globals.named("~lib/memory/__stack_pointer") {
            return named.initial;
        }
        let data_end = self.data_end;
        let code = CodeFacts::of(self.module, &self.machine.control).ok()?;
        let known = code
            .stack_pointer(globals)
            .and_then(initial)
            .or_else(|| code.allocator_root(data_end));
        known.filter(|&base| base >= data_end).or_else(|| {
            let variables = globals.iter().filter(|global| global.mutable);
            let values = variables.filter_map(|global| global.initial);
            values.filter(|&value| value >= data_end).min()
        })
    }
}

/// Ends the start function at its first store to the heap.
pub(super) struct StopAtHeap {
    pub(super) data_end: u32,
    pub(super) heap_base: u32,
    /// Words on the shadow stack that were written.
    pub(super) on_stack: Vec<u32>,
}

impl Observer for StopAtHeap {
    fn store(&mut self, address: u32, _: u32, _: &CallStack<'_>) -> Stored {
        if (self.data_end..self.heap_base).contains(&address) {
            self.on_stack.push(address);
        }
        if address < self.heap_base {
            Stored::InMemory
        } else {
            Stored::Stop
        }
    }
}
