//! A heap of WebAssembly and the heap of JavaScript around it as one heap.
//!
//! JavaScript holds objects of a WebAssembly program by number: neither heap sees that the other one keeps its objects
//! alive. A heap snapshot that was written with numbers, and a file of the [`Numbers`] that it does not show, say which
//! slots have which numbers. [`join`] finds the slots whose numbers are addresses of pinned objects by more than chance,
//! and makes one graph of both heaps, in which these slots are references.
//!
//! Rules, in this order: a reference that is not there is worse than one that is missing; what is only possible is
//! listed and never followed; bytes of the two heaps are never shown as one sum.

mod chance;
mod collect;
mod collector;
mod cycles;
mod declared;
mod error;
mod extra;
mod graph;
mod handles;
mod holders;
mod host;
mod host_names;
mod join;
mod joined_source;
mod judged;
mod moment;
mod numbers;
mod objects;
mod pins;
mod reader;
mod sides;
mod slots;
mod source;
mod warning;

pub use error::JoinError;
pub use handles::Handles;
pub use join::join;
pub use moment::DumpIdentity;
pub use numbers::{ListedKind, NumberObject, NumberSlot, Numbers, NumbersRead};

/// How heaps are joined.
#[derive(Clone, Debug, Default)]
pub struct JoinOptions {
    /// The size of the linear memory of the dump, in bytes.
    pub memory_size: u64,
    /// Fields that have an index into an array of JavaScript: `assembly/index/Item.id=host.slots`.
    pub slots: Vec<String>,
    /// The numbers that the snapshot does not show.
    pub numbers: Option<Numbers>,
    /// Who pinned what.
    pub handles: Option<Handles>,
}
