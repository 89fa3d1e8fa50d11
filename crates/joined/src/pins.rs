//! The pinned objects, each with what is known of its holders.

use crate::handles::Handles;
use crate::judged::Judged;
use base::columns;
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::{EvidenceKind, ObjectTable, PinCounts};

/// What is known of the holders of an object. The later, the more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PinState {
    /// It is not pinned.
    #[default]
    NotPinned,
    /// No number of JavaScript equals its address.
    Unseen,
    /// Only the table of the bindings has its address.
    AwaitingRelease,
    /// Slots that may hold other numbers have its address.
    Possible,
    /// It has a holder by statistics.
    Derived,
    /// It has an exact holder.
    Exact,
}

/// By object of the memory: what is known of its holders.
#[derive(Debug)]
pub(crate) struct Pins {
    states: Vec<PinState>,
    /// The objects whose stacks are known, ascending, each with the number of the stack.
    stack_of: Vec<(ObjectIndex, u32)>,
    stacks: Vec<Vec<String>>,
}

impl Pins {
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn new(
        objects: usize,
        pinned: impl Iterator<Item = ObjectIndex>,
        listed: &[ObjectIndex],
        judged: &Judged,
    ) -> Result<Self> {
        let mut pins = Self {
            states: columns::repeated(PinState::NotPinned, objects)?,
            stack_of: Vec::new(),
            stacks: Vec::new(),
        };
        for object in pinned {
            if let Some(state) = pins.states.get_mut(object.at()) {
                *state = PinState::Unseen;
            }
        }
        for &object in listed {
            pins.raise(object, PinState::AwaitingRelease);
        }
        for slot in &judged.possible {
            pins.raise(slot.target, PinState::Possible);
        }
        for handle in &judged.handles {
            let state = match handle.evidence.kind {
                EvidenceKind::Exact => PinState::Exact,
                EvidenceKind::Derived | EvidenceKind::Declared => PinState::Derived,
            };
            pins.raise(handle.target, state);
        }
        Ok(pins)
    }

    /// More is known of an object. One that is not pinned stays so: the memory refers to it.
    fn raise(&mut self, object: ObjectIndex, state: PinState) {
        let known = self.states.get_mut(object.at());
        if let Some(known) = known.filter(|known| **known != PinState::NotPinned) {
            *known = state.max(*known);
        }
    }

    /// JavaScript holds these objects through others.
    pub(crate) fn hold(&mut self, objects: &[ObjectIndex]) {
        for &object in objects {
            self.raise(object, PinState::Derived);
        }
    }

    /// The state of an object.
    pub(crate) fn state(&self, object: ObjectIndex) -> PinState {
        self.states.get(object.at()).copied().unwrap_or_default()
    }

    /// Whether JavaScript holds an object.
    pub(crate) fn is_held(&self, object: ObjectIndex) -> bool {
        self.state(object) >= PinState::Derived
    }

    /// Adds who pinned what.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(crate) fn add_stacks(&mut self, handles: &Handles, objects: &ObjectTable) -> Result<()> {
        for &(address, stack) in &handles.pins {
            let is_address = address > 0.0 && address < f64::from(u32::MAX);
            let object = objects.at(Address(address as u32)).filter(|_| is_address);
            let stack = u32::try_from(stack).ok();
            let stack = stack.filter(|&stack| (stack as usize) < handles.stacks.len());
            if let Some((object, stack)) = object.zip(stack)
                && self.state(object) != PinState::NotPinned
            {
                columns::push(&mut self.stack_of, (object, stack))?;
            }
        }
        self.stack_of.sort_unstable();
        self.stacks = handles.stacks.clone();
        Ok(())
    }

    /// The stack that pinned an object.
    pub(crate) fn stack(&self, object: ObjectIndex) -> Option<&[String]> {
        let nth = self.stack_of.partition_point(|&(other, _)| other < object);
        let &(found, stack) = self.stack_of.get(nth)?;
        let stack = self.stacks.get(stack as usize)?;
        (found == object).then_some(stack.as_slice())
    }

    /// How many objects have each state.
    pub(crate) fn counts(&self) -> PinCounts {
        let mut counts = PinCounts::default();
        for state in &self.states {
            let count = match state {
                PinState::NotPinned => continue,
                PinState::Unseen => &mut counts.unseen,
                PinState::AwaitingRelease => &mut counts.awaiting_release,
                PinState::Possible => &mut counts.possible,
                PinState::Derived => &mut counts.derived,
                PinState::Exact => &mut counts.exact,
            };
            *count += 1;
            counts.total += 1;
        }
        let mut with_stack: Vec<ObjectIndex> = self.stack_of.iter().map(|pair| pair.0).collect();
        with_stack.dedup();
        with_stack.retain(|&object| !self.is_held(object));
        counts.with_stack = with_stack.len() as u64;
        counts
    }
}
