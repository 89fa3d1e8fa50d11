//! The Node binding: conversions and tasks only, no analysis.

mod capture;
mod error;
