//! A machine that executes a module's functions for one class after the other.

use std::collections::BTreeSet;

use super::machine::Machine;
use base::control::Control;
use wasm::module::Functions;

/// Steps that one experiment may take.
pub(super) const BUDGET: u64 = 4_000_000;

/// Steps that the experiments with all classes may take together. The code of classes that were not tried
/// counts as unreadable.
const WHOLE_BUDGET: u64 = 500_000_000;

/// The part of them that is allowed for each byte of code, in addition to the steps for one class. Only code
/// with a large number of classes needs all of them.
const STEPS_PER_BYTE: u64 = 256;

/// Executes functions of a module. Decoded functions are kept for the next class.
#[derive(Debug)]
pub struct CodeReader<'m, 'a> {
    pub(super) machine: Machine<'m, 'a>,
    /// The rest of [`WHOLE_BUDGET`].
    pub(super) left: u64,
    /// The globals that a whole collection reads for an object without members, once this was asked.
    pub(super) read_by_any: Option<BTreeSet<u32>>,
}

impl<'m, 'a> CodeReader<'m, 'a> {
    /// A reader that has decoded nothing yet. After the work is cancelled, it reads nothing more.
    pub fn new(functions: &'m Functions<'a>, control: &Control) -> Self {
        Self {
            machine: Machine::new(functions, control),
            left: WHOLE_BUDGET.min(2 * BUDGET + STEPS_PER_BYTE * functions.code_size()),
            read_by_any: None,
        }
    }

    /// The machine, for one experiment.
    pub(super) fn machine(&mut self, budget: u64) -> &mut Machine<'m, 'a> {
        self.machine.begin(budget, &mut self.left);
        &mut self.machine
    }
}
