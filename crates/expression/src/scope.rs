//! What an expression is about.

use super::budget::ReadBudget;
use base::bits::Bits;
use base::control::Control;
use heap::{Heap, RootSlots, Source};

/// What an expression is about.
#[derive(Clone, Copy)]
pub struct Scope<'h> {
    /// The heap.
    pub heap: &'h Heap,
    /// What reads its objects.
    pub source: &'h dyn Source,
    /// Where its globals are.
    pub roots: &'h RootSlots,
    /// The classes of the objects.
    pub class_slots: &'h [bool],
    /// The objects that an earlier heap does not have; `None` without one.
    pub new: Option<&'h Bits>,
    /// What cancels the work.
    pub control: &'h Control,
    /// What may be read.
    pub budget: &'h ReadBudget,
}
