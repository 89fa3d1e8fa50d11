//! The structure of the code itself: no circles of files, the picture of the crates, which files and public items know kinds of heaps,
//! texts that state facts, and names with one meaning.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

mod circles;
mod crates;
mod facts;
mod kinds;
mod names;
mod picture;
mod public_items;
