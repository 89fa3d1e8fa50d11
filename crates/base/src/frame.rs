//! A function that was running, by name and line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A line of source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SourceLine")]
pub struct Frame {
    /// The function; empty for code outside of functions.
    pub function: String,
    /// Its source file; empty if it is not known.
    pub file: String,
    /// From 1; 0 if it is not known.
    pub line: u32,
}
