//! Questions about a loaded heap.

mod naive;
mod objects;
mod paths;
mod random;
mod suspects;
