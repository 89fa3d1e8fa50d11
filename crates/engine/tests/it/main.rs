//! The tests of the engine's public interface, in one binary, so that their common code is compiled once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

mod bounds;
mod codes;
mod compressed_files;
mod containers;
mod control;
mod debug_changes;
mod dwarf;
mod errors;
mod exports;
mod forge;
mod formats;
mod header_changes;
mod heaps;
mod joined;
mod native_samples;
mod questions;
mod random_heaps;
mod snapshots;
mod strategies;
mod support;
mod third_source;
mod threads;
mod views;
mod warnings;
mod warpo_builds;
mod work;
