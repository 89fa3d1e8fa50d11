//! Questions about a loaded heap.

mod errors;
mod naive;
mod objects;
mod paths;
mod random;
mod suspects;
