//! Heap snapshots for AssemblyScript and WARPO programs: from the bytes of a dump, and of the module that it
//! was taken from, this crate computes which objects are alive, what keeps them alive, and what changed.
//!
//! Bytes enter at the left and typed views leave at the right. A module imports only from modules left of it:
//!
//! ```text
//! dump bytes ─► dump ──────────────────────┐
//!                                          ├─► runtime ─► heap ─► views ─► formats ─► CLI, Node API
//! wasm bytes ─► module ─► debug_info ──────┤
//!                     └─► collector_code ──┘
//! ```
//!
//! - [`dump`] reads the dump file; [`module`] reads globals, functions, names and debug sections.
//! - [`debug_info`] reads classes and variables from DWARF; [`collector_code`] executes the collector's
//!   functions to see what they visit. One of the two is enough; if a module has both, each checks the other.
//! - [`runtime`] reads the AssemblyScript runtime in memory: blocks, headers, lists, roots, and the
//!   references in objects of each class.
//! - [`heap`] is the result: the object table, the references, the live set, dominators and retained
//!   sizes, made once by [`Program::analyze`].
//! - [`instrument`] changes a module so that a host can write complete dumps of it, or profile its
//!   allocations; [`symbols`] names functions and lines for a profile.
//! - [`views`] group a heap by class, or compare two; [`questions`] ask a loaded heap why an object is
//!   alive, and more; [`formats`] render both, and [`exports`] write a loaded heap for other tools.
//!
//! The engine works on `&[u8]`: it opens no files. No input makes it panic: an input that cannot be read is
//! an [`Error`], and a result that may be wrong has a [`Warning`]. Its only global state is rayon's thread
//! pool; the `napi` feature adds the files, the queues and the threads of the Node binding.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use warpo_heap_analyzer::views::{ConstructorSort, ConstructorView, Selection};
//! use warpo_heap_analyzer::{Control, Input, Program, Result};
//!
//! fn biggest_class(dump: &[u8], wasm: &[u8]) -> Result<Option<String>> {
//!     let program = Program::read(Input { name: "app.wasm", bytes: wasm }, &Control::default())?;
//!     let heap = program.analyze(Input { name: "app.dump", bytes: dump }, &Control::default())?;
//!     let wanted = Selection::sorted(ConstructorSort::Retained).top(1);
//!     let view = ConstructorView::new(Arc::new(heap), wanted);
//!     Ok(view.rows().first().map(|row| row.class_name.clone()))
//! }
//!
//! let error = biggest_class(b"ASHD", b"not a module").unwrap_err();
//! assert_eq!(error.code(), "ERR_MODULE");
//! ```
//!
//! # Features
//!
//! - `napi`: the Node binding. Off by default, so that the engine builds and tests without Node.

pub mod assemblyscript;
mod bits;
pub mod collector_code;
mod columns;
mod control;
pub mod debug_info;
pub mod dump;
mod engine;
mod error;
pub mod exports;
mod file_kind;
pub mod formats;
pub mod heap;
mod input;
pub mod instrument;
mod mismatch;
pub mod module;
pub mod questions;
pub mod runtime;
mod shown;
mod side_by_side;
pub mod snapshots;
pub mod std_library;
pub mod symbols;
mod tolerance;
mod units;
pub mod views;
mod warning;

// The unit tests include the parts of the binding that need no Node.
#[cfg(any(feature = "napi", test))]
mod binding;

pub use assemblyscript::Schedule;
pub use control::{Control, Phase, Progress, Step};
pub use engine::{Program, analyze_snapshot, is_snapshot, open_snapshot};
pub use error::{Error, FileAction, Result};
pub use file_kind::{FileKind, FileStart};
pub use input::Input;
pub use mismatch::Mismatch;
pub use tolerance::Tolerance;
pub use units::{Address, ClassId, GlobalIndex, ObjectIndex};
pub use warning::Warning;
