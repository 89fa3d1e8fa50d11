//! Heap snapshots for AssemblyScript and WARPO programs.

pub mod debug_info;
pub mod dump;
mod error;
pub mod module;
mod units;

// Not in the unit tests' build: there the macros of napi-rs register nothing, so every function of
// the binding would count as dead code.
#[cfg(all(feature = "napi", not(test)))]
mod binding;

pub use error::{Error, Result};
pub use units::{Address, ClassId, GlobalIndex, ObjectIndex};
