//! Chrome's heap snapshot: JSON of three flat arrays, the nodes, the edges and the strings that both are
//! named by.
//!
//! The strings come last, but nodes and edges need their numbers. Names that belong to the program or to a
//! class are numbered before anything is written. What a string of the program contains, and the keys of
//! maps, are numbered where nodes and edges are written. The first labels with keys are kept until the strings
//! are written; all others, and what strings contain, are read again in the same order.
//!
//! What DevTools and memlab understand in the same way is less than the format allows: no weak edges, no
//! shortcuts, no nodes of other types than these, nothing but synthetic nodes below the first.

mod chosen;
mod contents;
mod edges;
mod garbage;
mod names;
mod nodes;
mod object_ids;
mod options;
mod passes;
mod pieces;
mod recent;
mod schema;
mod write;
mod writer;

pub use options::HeapSnapshotOptions;
pub(super) use write::write;
