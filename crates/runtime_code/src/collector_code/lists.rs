//! The heads of the collector's lists as a dump has them: for programs whose start function cannot be executed up to the
//! place where it makes the lists.

use super::machine::MachineState;
use base::units::{Address, GlobalIndex};

/// Offsets of the links in a list's head.
const NEXT: u32 = 4;
const PREVIOUS: u32 = 8;

/// The heads of lists, and the globals that hold one of them. The collector's cursor may be at a head, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KnownLists {
    /// Ascending.
    pub heads: Vec<Address>,
    /// Each with the head that it holds.
    pub globals: Vec<(GlobalIndex, Address)>,
}

impl KnownLists {
    /// Makes the lists, empty, as far as the start function has not made them.
    pub(super) fn make(&self, state: &mut MachineState) -> Option<()> {
        for head in &self.heads {
            if state.memory.word(head.0.checked_add(NEXT)?)? == 0 {
                state.memory.set_word(head.0 + NEXT, head.0)?;
                state
                    .memory
                    .set_word(head.0.checked_add(PREVIOUS)?, head.0)?;
            }
        }
        for &(global, head) in &self.globals {
            *state.globals.get_mut(global.0 as usize)? = head.0.into();
        }
        Some(())
    }
}
