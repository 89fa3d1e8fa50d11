//! The heaps of C, C++ and Rust programs: the blocks of their allocator, and what may refer to these.
//!
//! A dump says nothing of types. Blocks and their sizes are exact; references are conservative: every word that is an
//! address in a block counts, so that a number may keep a block alive that nothing refers to.

mod allocator;
mod block_index;
mod dlmalloc;
mod emmalloc;
mod error;
mod fields;
mod identity;
mod program;
mod references;
mod roots;
mod source;
mod unreferenced;
mod used_blocks;

pub use error::NativeError;
pub use program::{Program, has_allocator, is_native};
