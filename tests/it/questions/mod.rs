//! Questions about a loaded heap.

mod objects;
