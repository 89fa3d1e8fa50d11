//! The functions that were running when a program ended by a trap.

use serde::Serialize;

/// The frames of a trap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trap {
    /// The innermost first; of a deep stack, the first of them.
    pub frames: Vec<TrapFrame>,
    /// The number of all frames in the coredump; functions that were inlined into others are not counted.
    pub total: u64,
}

/// A function that was running at a trap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrapFrame {
    /// Its name, or its index if the module has no name for it.
    pub function: String,
    /// The index of the function in the module; of an inlined one, of the function that contains it.
    pub index: u32,
    /// The offset of the instruction from the start of the function's body, in bytes.
    pub offset: u32,
    /// Its source file; absent if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line in it, from 1; absent if it is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

fn is_zero(line: &u32) -> bool {
    *line == 0
}
