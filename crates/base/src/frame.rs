//! A function that was running, by name and line.

use serde::{Deserialize, Serialize};

/// A function that was running.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Its name.
    pub function: String,
    /// Its source file; empty if it is not known.
    pub file: String,
    /// The line in it, from 1; 0 if it is not known.
    pub line: u32,
}
