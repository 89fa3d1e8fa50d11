//! The Node binding: conversions and tasks only, no analysis.
//!
//! The TypeScript in `js/` puts the public API on top; what is exported here is for it alone.

mod analysis;
mod capture;
mod debug_info;
mod error;
mod inputs;
mod options;
mod views;
