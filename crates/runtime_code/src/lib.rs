//! What the code of an AssemblyScript program says about its runtime, without a dump.
//!
//! - [`collector_code`] finds the collector's functions and executes them, to see what they visit.
//! - [`code_facts`] finds the stack pointer's limits and the allocator's root in all functions.
//! - [`std_library`] has the numbers that every program of AssemblyScript shares: class ids and offsets.

pub mod code_facts;
pub mod collector_code;
mod flattened_code;
pub mod std_library;
