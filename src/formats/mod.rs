//! Renderings of views. Both views offer themselves as a [`Document`]; every format renders any
//! document.

mod accounting;
mod document;
mod json;
mod table;
mod text;

pub use accounting::accounting_json;
pub use document::{Column, Document, Measure, Row, Total};
pub use json::JsonStream;
pub use table::{TableOptions, render_table};
