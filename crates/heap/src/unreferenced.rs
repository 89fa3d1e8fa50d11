//! The blocks of a native program to which no root leads.

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreferencedTotals {
    /// The blocks, those too that only such blocks refer to.
    pub count: u64,
    /// The sum of their shallow sizes, in bytes.
    pub size: u64,
    /// The entries: single blocks and cycles to which no other of them refers. Each is a root of the kind
    /// [`Unreferenced`](crate::RootKind::Unreferenced).
    pub entries: u64,
}
