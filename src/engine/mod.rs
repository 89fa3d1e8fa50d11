//! Recognises inputs, and opens each with the source that reads it.

mod program;
mod snapshot;

pub use program::Program;
pub use snapshot::{analyze_snapshot, is_snapshot, open_snapshot};
