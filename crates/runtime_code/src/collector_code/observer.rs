//! What observes a run of the machine: it sees loads, stores and the calls around them.

use super::call::ActiveCall;

/// Observes a run, and can change or stop it.
pub(super) trait Observer {
    /// Called before this number of bytes is loaded.
    fn load(&mut self, _address: u32, _size: u32) -> Loaded {
        Loaded::FromMemory
    }

    /// Called before a word is stored.
    fn store(&mut self, _address: u32, _value: u32, _call: &CallStack<'_>) -> Stored {
        Stored::InMemory
    }

    /// Whether an imported function may be called as if it did nothing and returned 1.
    fn may_call_host(&self) -> bool {
        true
    }
}

/// What a load gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    FromMemory,
    /// This word, whatever is in memory.
    Word(u32),
    /// The run ends before the load.
    Stop,
}

/// What a store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    InMemory,
    Nowhere,
    /// The run ends before the store.
    Stop,
}

/// The active calls, outermost first: functions with their arguments.
pub(super) struct CallStack<'r> {
    pub(super) frames: &'r [ActiveCall],
}

impl CallStack<'_> {
    /// The calls with `argument` among their arguments: functions with all arguments.
    pub(super) fn with_argument(&self, argument: u32) -> impl Iterator<Item = (u32, &[u64])> {
        let argument = u64::from(argument);
        let found = self
            .frames
            .iter()
            .filter(move |frame| frame.arguments.contains(&argument));
        found.map(|frame| (frame.function, frame.arguments.as_slice()))
    }
}
