//! Renderings of views. Every view implements [`Document`], and every format renders any document.

mod accounting;
mod document;
mod json;
mod table;
mod text;

pub use accounting::accounting_json;
pub use document::{Column, Document, Measure, Row, Total};
pub use json::JsonStream;
pub use table::{DEFAULT_WIDTH, TableOptions, render_table};
