//! Renderings of views and answers. Every view implements [`Document`], and every format renders any
//! document. An answer to a question is rendered as JSON or as text.

mod accounting;
mod allocation_sites;
mod answer;
mod document;
mod growth;
mod json;
mod merged_paths;
mod names;
mod next_command;
mod objects;
mod paths;
mod rows;
mod summary;
mod suspects;
mod table;
mod text;
mod unreachable;
mod waste;

pub use accounting::accounting_json;
pub use allocation_sites::{allocation_sites_text, site_growth_text};
pub use answer::{render_json, render_text, render_text_with_next};
pub use document::{Column, Document, Measure, Row, Total};
pub use json::JsonStream;
pub use next_command::NextCommand;
pub use table::{DEFAULT_WIDTH, TableOptions, render_table};
