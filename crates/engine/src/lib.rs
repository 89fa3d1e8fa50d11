//! The engine of the heap analyzer: from the bytes of a dump, and of the module that it was taken from, or of a
//! heap snapshot of V8, to answers about the heap.
//!
//! This crate recognises an input and opens it with the source that reads it. It names every other crate, so what
//! uses the engine depends on this one.
//!
//! ```text
//! dumps ──┐
//!         ├─► assemblyscript ─┐
//! wasm ───┤                   ├─► heap ─► questions ─► outputs
//!         └─► runtime_code    │
//!                    native ──┤
//!                        v8 ──┤
//!                   joined ──┘   of one of them and v8
//! ```
//!
//! - [`dumps`] reads files of memory; [`wasm`] reads modules: globals, functions, names, debug information, symbols.
//! - [`runtime_code`] executes the collector's functions, to see what they visit. Debug information says the same; if
//!   a module has both, each checks the other.
//! - [`assemblyscript`], [`native`], [`v8`] and [`joined`] are the sources. Each makes a [`heap::Heap`], and answers what only it knows by the
//!   trait [`heap::Source`].
//! - [`heap`] is the result: the objects, the references, the live set, dominators and retained sizes, and
//!   [views](heap::views) that group them by class or compare two heaps.
//! - [`questions`] ask a [loaded heap](questions::LoadedHeap) why an object is alive, and more; [`outputs`] render
//!   answers and write heaps for other tools.
//! - [`instrument`] changes a module so that a host can write complete dumps of it, or profile its allocations.
//! - [`base`] is what all of them share.
//!
//! The engine works on `&[u8]`: it opens no files. No input makes it panic: an input that cannot be read is an
//! [`Error`], and a result that may be wrong has a [`Warning`]. Its only global state is rayon's thread pool.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use engine::heap::views::{ConstructorSort, ConstructorView, Selection};
//! use engine::{Control, Input, Program, Result};
//!
//! fn biggest_class(dump: &[u8], wasm: &[u8]) -> Result<Option<String>> {
//!     let program = Program::read(Input { name: "app.wasm", bytes: wasm }, &Control::default())?;
//!     let heap = program.analyze(Input { name: "app.dump", bytes: dump }, &Control::default())?;
//!     let wanted = Selection::sorted(ConstructorSort::Retained).top(1);
//!     let view = ConstructorView::new(Arc::new(heap), wanted, &Control::default())?;
//!     Ok(view.rows().first().map(|row| row.class_name.clone()))
//! }
//!
//! let error = biggest_class(b"ASHD", b"not a module").unwrap_err();
//! assert_eq!(error.code(), "ERR_MODULE");
//! ```

mod containers;
mod error;
mod format;
mod formats;
mod host_roots;
mod joined_heap;
mod jvm_dump;
mod memory_dump;
mod program;
mod raw_memory_warning;
mod recognised;
mod snapshot;

pub use assemblyscript::{DumpBytes, InMemory, Schedule};
pub use base::{
    Address, ClassId, Control, Error, FileAction, FileKind, FileStart, GlobalIndex, Input,
    Mismatch, ObjectAddress, ObjectIndex, Phase, Progress, ReadBytes, Result, Step, Tolerance,
    Warning,
};
pub use containers::Reading;
pub use error::InputError;
pub use joined_heap::{HostFiles, open_joined};
pub use program::Program;
pub use recognised::{analyze, compare, open};
pub use snapshot::{analyze_snapshot, open_snapshot};
pub use {
    assemblyscript, base, dumps, heap, instrument, joined, native, outputs, questions,
    runtime_code, v8, wasm,
};
