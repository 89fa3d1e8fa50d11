//! Heap snapshots for AssemblyScript and WARPO programs.

mod control;
pub mod debug_info;
pub mod dump;
mod error;
pub mod formats;
pub mod heap;
pub mod module;
mod program;
pub mod runtime;
mod units;
pub mod views;
mod warning;

// Not in the unit tests' build: there the macros of napi-rs register nothing, so every function of
// the binding would count as dead code.
#[cfg(all(feature = "napi", not(test)))]
mod binding;

pub use control::Control;
pub use error::{Error, Result};
pub use program::{Input, Program};
pub use units::{Address, ClassId, GlobalIndex, ObjectIndex};
pub use warning::Warning;
