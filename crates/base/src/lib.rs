//! What every crate of the heap analyzer shares. It depends on no other crate of the workspace.
//!
//! - [`units`]: addresses, and the numbers of classes, globals and objects.
//! - [`columns`] and [`bits`]: large memory, where a failed allocation is an error.
//! - [`control`]: progress and cancellation of running work; [`side_by_side`]: two pieces of work at once.
//! - [`error`] and [`warning`]: what stops an analysis, and what may make its numbers wrong. Each has a code and a
//!   text. [`mismatch`] and [`tolerance`] belong to them. A crate defines what only it warns of.
//! - [`file_kind`]: what a file is, judged by its first bytes; [`input`]: its bytes and its name in errors.
//! - [`shown`]: text out of a file, made safe to show. [`frame`]: a line of source, by function and file; [`trap`]: what
//!   was running when a program ended.

pub mod bits;
pub mod columns;
pub mod control;
pub mod error;
pub mod file_action;
pub mod file_kind;
pub mod frame;
pub mod input;
pub mod mismatch;
pub mod shown;
pub mod side_by_side;
pub mod sorting;
pub mod tolerance;
pub mod trap;
pub mod units;
pub mod warning;
pub mod warnings;

pub use control::{Control, Phase, Progress, Step};
pub use error::{Error, Result};
pub use file_action::FileAction;
pub use file_kind::{FileKind, FileStart};
pub use input::{Input, ReadBytes};
pub use mismatch::Mismatch;
pub use tolerance::Tolerance;
pub use units::{Address, ClassId, GlobalIndex, ObjectAddress, ObjectIndex};
pub use warning::Warning;
