//! The functions that were running when a program ended by a trap.

use schemars::JsonSchema;
use serde::Serialize;

/// The functions that were running at a trap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Trap {
    /// The innermost first, at most 100. A function that was inlined into another has a frame of its own.
    pub frames: Vec<TrapFrame>,
    /// The number of all frames in the coredump.
    pub total: u64,
}

/// A function that was running.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrapFrame {
    /// Its name, or `wasm-function[n]` if the module has none for it.
    pub function: String,
    /// The index of the function in the module.
    pub index: u32,
    /// The offset of the instruction from the start of the function's body, in bytes.
    pub offset: u32,
    /// The source file and the line, from 1; absent if the module does not say them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line in it, from 1; absent if it is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

fn is_zero(line: &u32) -> bool {
    *line == 0
}
