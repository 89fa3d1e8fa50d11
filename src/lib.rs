//! Heap snapshots for AssemblyScript and WARPO programs.

pub mod debug_info;
pub mod dump;
mod error;
pub mod module;
mod units;

#[cfg(feature = "napi")]
mod binding;

pub use error::{Error, Result};
pub use units::{Address, ClassId, GlobalIndex, ObjectIndex};
