//! The heaps of C, C++ and Rust programs: the blocks of their allocator, and what may refer to these.
//!
//! Blocks and their sizes are exact; references are conservative: every word that is an address in a block counts, so
//! that a number may keep a block alive that nothing refers to. Types follow from the debug information of the module;
//! they name what is shown, and change no number.

mod allocator;
mod block_index;
mod dlmalloc;
mod dump_memory;
mod emmalloc;
mod facts;
mod fields;
mod identity;
mod no_allocator;
mod object_reader;
mod object_table;
mod program;
mod references;
mod roots;
mod search;
mod slack;
mod source;
mod survey;
mod typed_heap;
mod types;
mod unreferenced;
mod values;
mod warning;
mod zig_brk;

pub use program::{Program, has_allocator, is_native};
pub use types::TypeSummary;
