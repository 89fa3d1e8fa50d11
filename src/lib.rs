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

#[cfg(feature = "napi")]
mod binding;

pub use control::Control;
pub use error::{Error, Result};
pub use program::{Input, Program};
pub use units::{Address, ClassId, GlobalIndex, ObjectIndex};
pub use warning::Warning;
