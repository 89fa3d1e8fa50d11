//! Changes to a module. [`expose_globals`] returns the same program with the exports that a complete dump
//! needs; [`allocations`] make it report what it allocates.

pub mod allocations;
mod boundaries;
mod dump_globals;
mod error;
mod exports;
mod expose_globals;
mod sections;
mod symbol_names;

pub use boundaries::{Boundaries, Boundary};
pub use dump_globals::DumpGlobals;
pub use error::InstrumentError;
pub use exports::{DATA_END, GLOBAL_PREFIX, HEAP_BASE, MEMORY, RESERVED_PREFIX, STACK_POINTER};
pub use expose_globals::expose_globals;
pub use symbol_names::name_functions;
