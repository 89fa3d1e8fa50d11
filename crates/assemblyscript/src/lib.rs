//! The heaps of AssemblyScript and WARPO programs: what a dump and its module say of the objects.

mod accounting;
mod class_slots;
mod containers;
mod content_reader;
mod content_sizes;
mod contents;
mod dump_source;
mod edge_names;
mod edge_run;
mod edges;
mod entries;
mod graph;
mod header_checks;
mod header_pass;
mod labels;
mod memory;
mod memory_map;
mod object_at;
mod paged_memory;
mod preview;
mod program;
mod raw_blocks;
mod raw_scan;
mod reader;
mod reference_types;
mod roles;
mod roots;
pub mod runtime;
mod source;
mod survey;
mod text_search;
mod values;
mod warnings;

pub use contents::{Contents, InMemory};
pub(crate) use dump_source::DumpSource;
pub use program::{Program, Schedule, read_module};
