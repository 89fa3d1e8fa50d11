//! Heap snapshots for AssemblyScript and WARPO programs: from the bytes of a dump and of the module
//! that it was taken from to what is alive, what keeps what alive, and what changed.
//!
//! Bytes enter at the left, typed views leave at the right, and nothing flows back:
//!
//! ```text
//! dump bytes ─► dump ──────────────────────┐
//!                                          ├─► runtime ─► heap ─► views ─► formats ─► CLI, Node API
//! wasm bytes ─► module ─► debug_info ──────┤
//!                     └─► collector_code ──┘
//! ```
//!
//! - [`dump`] takes the file apart; [`module`] reads globals, functions, names and debug sections.
//! - [`debug_info`] turns DWARF into classes and variables; [`collector_code`] reads from the
//!   collector's own functions what it visits. Either will do, and each checks the other.
//! - [`runtime`] knows how the AssemblyScript runtime lies in memory: blocks, headers, lists, roots,
//!   and what an object of each class refers to.
//! - [`heap`] is the result: the object table, the references, the live set, dominators and retained
//!   sizes, made once by [`Program::analyze`].
//! - [`views`] group a heap by class, or compare two; [`questions`] ask a loaded heap why an object is
//!   alive, and more; [`formats`] render both.
//!
//! Everything is a pure function over `&[u8]`: no I/O and no global state. No input makes it panic:
//! what cannot be read is an [`Error`], what is doubtful is a [`Warning`].
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

pub mod collector_code;
mod columns;
mod control;
pub mod debug_info;
pub mod dump;
mod error;
pub mod formats;
pub mod heap;
mod mismatch;
pub mod module;
mod program;
pub mod questions;
pub mod runtime;
mod shown;
mod tolerance;
mod units;
pub mod views;
mod warning;

// The unit tests take what needs no Node.
#[cfg(any(feature = "napi", test))]
mod binding;

pub use control::{Control, Phase, Progress};
pub use error::{Error, Result};
pub use mismatch::Mismatch;
pub use program::{Input, Program, Schedule};
pub use tolerance::Tolerance;
pub use units::{Address, ClassId, GlobalIndex, ObjectIndex};
pub use warning::Warning;
