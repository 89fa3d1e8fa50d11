//! WebAssembly modules, as files. It knows no memory and no heap.
//!
//! - [`module`] reads globals, functions, names and debug sections.
//! - [`debug_info`] reads classes and variables from DWARF, and writes them for modules that have none.
//! - [`gc_names`] reads what types, fields and globals of WasmGC are called.
//! - [`symbols`] names functions and lines for a profile; [`allocation_table`] is what an instrumented module says
//!   about the functions that it had before.

pub mod allocation_table;
pub mod debug_info;
mod error;
pub mod gc_names;
pub mod module;
pub mod symbols;

pub use error::ModuleError;
