//! A function that is being executed.

/// An active call.
#[derive(Debug)]
pub(super) struct ActiveCall {
    pub(super) function: u32,
    pub(super) arguments: Vec<u64>,
    /// The position in the values where its parameters and locals begin.
    pub(super) locals: usize,
    pub(super) at: usize,
    pub(super) labels: Vec<OpenBlock>,
    pub(super) code: usize,
}

/// A block that is being executed.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBlock {
    /// The position to which a branch to it jumps.
    pub(super) target: usize,
    pub(super) is_loop: bool,
    /// The number of values that a branch keeps.
    pub(super) arity: usize,
    /// The number of values on the stack when the block begins.
    pub(super) height: usize,
}
