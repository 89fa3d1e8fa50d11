//! Runs the collector's code on the objects of a dump, in the dump's memory: for classes whose visitors decide by values,
//! or follow memory that the collector does not know.
//!
//! The collector visits a reference by reading the colour of its object, and marks the object if it is white. Here, each
//! object of the dump looks white and alone in its list, so that every visit marks, and marks nothing else. Stores to
//! headers are left out. Other stores, to the stack and to the heads of lists, are forgotten after each object.

use std::collections::BTreeSet;

use super::code::CollectorCode;
use super::dump_memory::VisitedMemory;
use super::entry::Visitor;
use super::machine::{End, GlobalUse, Machine, MachineState};
use super::observer::{CallStack, Loaded, Observer, Stored};
use super::probes::{TEST_OBJECTS, marked_object};
use crate::std_library::HEADER_SIZE;
use base::control::Control;
use base::units::GlobalIndex;
use wasm::module::Functions;

/// The offsets of an object's links in its block.
const NEXT: u32 = 4;
const PREVIOUS: u32 = 8;

/// Whether the payload of an object begins at an address.
pub type IsObject<'d> = &'d (dyn Fn(u32) -> bool + Sync);

/// The values of the globals when the dump was taken, as far as they are known.
pub type KnownGlobals<'d> = &'d dyn Fn(GlobalIndex) -> Option<u64>;

/// Visits objects of a dump, one after the other.
#[derive(Debug)]
pub struct ObjectVisits<'m, 'a, 'd> {
    machine: Machine<'m, 'a>,
    memory: VisitedMemory<'d>,
    globals: Vec<u64>,
    /// The globals whose values are not known. A run that reads one of them says nothing.
    unknown: BTreeSet<u32>,
    visitor: Visitor,
    visits: VisitsSeen<'d>,
}

impl CollectorCode {
    /// Whether the code that visits an object can be run alone.
    pub fn can_visit_objects(&self) -> bool {
        self.visitor.is_some()
    }
}

impl<'m, 'a, 'd> ObjectVisits<'m, 'a, 'd> {
    /// Prepares visits in this memory. `None` if the code that visits an object cannot be run alone.
    pub fn new(
        code: &CollectorCode,
        functions: &'m Functions<'a>,
        memory: &'d [u8],
        known: KnownGlobals<'_>,
        is_object: IsObject<'d>,
        control: &Control,
    ) -> Option<Self> {
        let mut globals = code.idle.globals.clone();
        let mut unknown = BTreeSet::new();
        let stack_pointer = code.stack_pointer.map(|global| global.0);
        for (index, value) in (0..).zip(&mut globals) {
            // The collector's own have the values of an idle one, for which objects of colour 0 are white.
            if code.own.contains(&index) || stack_pointer == Some(index) {
                continue;
            }
            match known(GlobalIndex(index)) {
                Some(known) => *value = known,
                None => {
                    unknown.insert(index);
                }
            }
        }
        Some(Self {
            machine: Machine::new(functions, control),
            memory: VisitedMemory::new(memory),
            globals,
            unknown,
            visitor: code.visitor.clone()?,
            visits: VisitsSeen {
                is_object,
                targets: Vec::new(),
                pending: Vec::new(),
                most: memory.len() / 4,
            },
        })
    }

    /// The payloads of the objects that the collector visits from the object with this payload, in the order in which it
    /// visits them. `None` if the code fails, takes more than `steps`, or needs what is not in the dump. The steps that it
    /// takes are subtracted.
    pub fn visit(&mut self, payload: u32, steps: &mut u64) -> Option<&[u32]> {
        let [made_up, _] = TEST_OBJECTS;
        let (function, arguments) = &self.visitor;
        let this = |&argument: &u64| {
            if argument == u64::from(made_up.payload()) {
                u64::from(payload)
            } else {
                argument
            }
        };
        let arguments: Vec<u64> = arguments.iter().map(this).collect();
        self.visits.targets.clear();
        self.visits.pending.clear();
        self.machine.begin(*steps, steps);
        let mut state = MachineState {
            memory: std::mem::replace(&mut self.memory, VisitedMemory::new(&[])),
            globals: std::mem::take(&mut self.globals),
        };
        let before = state.globals.clone();
        let mut uses = GlobalUse::default();
        let end = self.machine.call(
            *function,
            &arguments,
            &mut state,
            &mut uses,
            &mut self.visits,
        );
        *steps += std::mem::take(&mut self.machine.budget);
        state.memory.forget_writes();
        self.memory = state.memory;
        self.globals = before;
        let is_known = uses.read.is_disjoint(&self.unknown) && self.visits.pending.is_empty();
        (end == End::Returned && is_known).then_some(&self.visits.targets[..])
    }
}

/// The objects that a run visits.
struct VisitsSeen<'d> {
    is_object: IsObject<'d>,
    targets: Vec<u32>,
    /// The objects whose colour was read and that were not marked yet. Each is white, so that all must be marked: otherwise
    /// it is not known which colour is white.
    pending: Vec<u32>,
    /// The largest number of targets: that of the memory's words.
    most: usize,
}

impl std::fmt::Debug for VisitsSeen<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(&self.targets).finish()
    }
}

impl VisitsSeen<'_> {
    /// The block whose link is at this address, if it is that of an object.
    fn block_with_link(&self, address: u32) -> Option<u32> {
        [NEXT, PREVIOUS].into_iter().find_map(|link| {
            let block = address.checked_sub(link)?;
            (self.is_object)(block.checked_add(HEADER_SIZE)?).then_some(block)
        })
    }
}

impl Observer for VisitsSeen<'_> {
    fn load(&mut self, address: u32, size: u32) -> Loaded {
        // Blocks are at multiples of 4.
        if size != 4 || !address.is_multiple_of(4) {
            return Loaded::FromMemory;
        }
        let Some(block) = self.block_with_link(address) else {
            return Loaded::FromMemory;
        };
        if address == block + NEXT && self.pending.len() < self.most {
            self.pending.push(block);
        }
        Loaded::Word(block)
    }

    fn store(&mut self, address: u32, value: u32, _: &CallStack<'_>) -> Stored {
        let Some(block) = self.block_with_link(address) else {
            return Stored::InMemory;
        };
        if address == block + NEXT {
            self.pending.retain(|&pending| pending != block);
        }
        if let Some(target) = marked_object(address, value) {
            if self.targets.len() == self.most {
                return Stored::Stop;
            }
            self.targets.push(target);
        }
        Stored::Nowhere
    }

    fn may_call_host(&self) -> bool {
        false
    }
}
