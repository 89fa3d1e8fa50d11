//! Questions about a loaded heap.

mod entries;
mod errors;
mod expression_model;
mod expressions;
mod growth;
mod naive;
pub mod objects;
mod paths;
mod random;
mod random_waste;
mod report;
mod suspects;
mod unreachable;
mod waste;
