//! The Node binding: conversions and tasks only, no analysis.

mod debug_info;
