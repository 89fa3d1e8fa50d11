//! The state of a program before its first allocation.

use super::machine::GlobalUse;
use super::observer::{CallStack, Observer, Stored};
use super::search::CollectorSearch;
use crate::code_facts::CodeFacts;

/// Steps of the start function.
const START_BUDGET: u64 = 4_000_000;

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
