//! The heaps of AssemblyScript and WARPO programs: what a dump and its module say of the objects.

mod content_sizes;
mod labels;
mod memory;
mod places;
mod preview;
mod raw_blocks;
mod raw_scan;
mod roles;
mod source;
mod survey;
mod values;

pub(crate) use labels::place_name;
pub use memory::{Contents, InMemory};
pub(crate) use memory::{MemoryInPlace, OpenMemory};
pub(crate) use source::DumpSource;
pub(crate) use values::plain;
