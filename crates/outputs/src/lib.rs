//! Answers as text, tables and JSON ([`formats`]), and heaps as files for other tools ([`exports`]).

pub mod exports;
pub mod formats;
