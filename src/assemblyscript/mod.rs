//! The heaps of AssemblyScript and WARPO programs: what a dump and its module say of the objects.

mod accounting;
mod class_slots;
mod content_sizes;
mod edges;
mod graph;
mod labels;
mod memory;
mod memory_map;
mod places;
mod preview;
mod program;
mod raw_blocks;
mod raw_scan;
mod reader;
mod roles;
mod roots;
mod source;
mod survey;
mod values;
mod warnings;

pub(crate) use labels::place_name;
pub use memory::{Contents, InMemory};
pub(crate) use memory::{MemoryInPlace, OpenMemory};
pub use program::{Program, Schedule};
pub(crate) use source::DumpSource;
pub(crate) use values::plain;
