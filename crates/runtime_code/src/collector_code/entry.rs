//! How to run the collector, and where it finds an object.

use super::machine::{End, GlobalUse, Machine, MachineState};
use super::probes::{Marked, TestObject};

/// The number of times that a function for one step of a collection is called before it has visited every
/// object. The steps mark the objects of the roots, scan an object, and mark the objects of the stack. One
/// call may do less than one of these.
pub(super) const MOST_CALLS: u32 = 8;

/// A function with its arguments, of which one is a test object.
pub(super) type Visitor = (u32, Vec<u64>);

/// A function that runs the collector.
#[derive(Clone, Debug)]
pub(super) struct CollectorEntry {
    pub(super) function: u32,
    pub(super) arguments: Vec<u64>,
    /// A global that must be set to a value before each call, because otherwise the function does not
    /// collect.
    pub(super) forced: Option<(u32, u64)>,
    /// If it returns an object that it has allocated: the lowest address of one.
    pub(super) allocates_from: Option<u32>,
    /// Calls until it has scanned an object.
    pub(super) calls: u32,
}

/// The place of an object that the collector scans.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reach {
    /// In a global that is a root.
    Global(u32),
    /// In the word below the address that this global starts with: on the stack.
    Stack(u32),
    /// In the list of marked objects, whose head is here.
    MarkedList(u32),
    /// In the list of pinned objects, whose head is here.
    PinnedList(u32),
}

impl CollectorEntry {
    /// Runs the collector on this state: up to `calls` calls, or until `is_done` is true.
    pub(super) fn collect(
        &self,
        calls: u32,
        machine: &mut Machine<'_, '_>,
        state: &mut MachineState,
        uses: &mut GlobalUse,
        marked: &mut Marked,
        is_done: impl Fn(&Marked) -> bool,
    ) -> End {
        for _ in 0..calls {
            if let Some((global, value)) = self.forced
                && let Some(global) = state.globals.get_mut(global as usize)
            {
                *global = value;
            }
            let end = machine.call(self.function, &self.arguments, state, uses, marked);
            let result = machine.result.and_then(|result| u32::try_from(result).ok());
            if let (End::Returned, Some(lowest), Some(object)) = (end, self.allocates_from, result)
                && object >= lowest
            {
                marked.allocated(object);
            }
            if end != End::Returned || is_done(marked) {
                return end;
            }
        }
        End::Returned
    }
}

impl Reach {
    /// Puts an object at this place.
    pub(super) fn put(self, object: TestObject, state: &mut MachineState) -> Option<()> {
        match self {
            Self::Global(global) => {
                *state.globals.get_mut(global as usize)? = object.payload().into();
                Some(())
            }
            Self::Stack(global) => {
                let word = (*state.globals.get(global as usize)? as u32).checked_sub(4)?;
                state.memory.set_word(word, object.payload())?;
                *state.globals.get_mut(global as usize)? = word.into();
                Some(())
            }
            Self::MarkedList(head) => object.link_gray(&mut state.memory, head),
            Self::PinnedList(head) => object.link_pinned(&mut state.memory, head),
        }
    }
}
