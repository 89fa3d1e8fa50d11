//! The pinned objects, each with what is known of its holders.

use crate::judged::Judged;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EvidenceKind, PinCounts};

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
        };
        for object in pinned {
            pins.raise(object, PinState::Unseen);
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

    fn raise(&mut self, object: ObjectIndex, state: PinState) {
        if let Some(known) = self.states.get_mut(object.at()) {
            *known = state.max(*known);
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
        counts
    }
}
