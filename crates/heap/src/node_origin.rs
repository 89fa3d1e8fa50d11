//! Where the path of an object begins, and how long it is, in 32 bits.

use bytemuck::Zeroable;

use super::RootKind;

/// The rest of a node in 32 bits: from the highest one, three bits for the kind of root from which the path
/// begins, one for whether all references since the entry have the same label, and the number of objects on the
/// path, the node included. All are 0 if no root reaches the object.
#[derive(Clone, Copy, Debug, Default, Zeroable)]
pub(super) struct NodeOrigin(pub(super) u32);

/// More objects than a heap can have.
const MOST_DEPTH: u32 = (1 << 28) - 1;

impl NodeOrigin {
    pub(super) fn new(depth: u32, is_uniform: bool, root: RootKind) -> Self {
        let root = root as u32 + 1;
        Self(root << 29 | u32::from(is_uniform) << 28 | depth & MOST_DEPTH)
    }

    pub(super) fn depth(self) -> u32 {
        self.0 & MOST_DEPTH
    }

    pub(super) fn is_uniform(self) -> bool {
        self.0 >> 28 & 1 != 0
    }

    pub(super) fn root(self) -> Option<RootKind> {
        match self.0 >> 29 {
            1 => Some(RootKind::Global),
            2 => Some(RootKind::Stack),
            3 => Some(RootKind::Pinned),
            4 => Some(RootKind::System),
            5 => Some(RootKind::Host),
            6 => Some(RootKind::Unreferenced),
            _ => None,
        }
    }
}
