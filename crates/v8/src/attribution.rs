//! The facts about nodes that DevTools derives before it computes sizes: which nodes are detached from the
//! document, and which nodes own the sizes of hidden ones.

use super::raw::{EdgeKind, NodeKind, RawSnapshot, WideSizes};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use heap::prefetch;

/// How many edges ahead the owners of targets are asked for.
const AHEAD: usize = 16;

/// No owner, and more than one.
const NONE: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// The states of [`RawSnapshot::detachedness`].
const UNKNOWN: u8 = 0;
const ATTACHED: u8 = 1;
pub(super) const DETACHED: u8 = 2;

impl RawSnapshot {
    /// The nodes to which the root refers, with the kind of the edge.
    pub(super) fn root_edges(&self) -> impl Iterator<Item = (u32, EdgeKind)> {
        self.edges(self.root)
            .map(|edge| (self.edge_targets[edge], self.edge_kind(edge)))
    }

    pub(super) fn is_document_root(&self, node: u32) -> bool {
        self.kind(node) == NodeKind::Synthetic && self.name(node) == b"(Document DOM trees)"
    }

    /// Whether a node to which the root refers is a root of the page: distances are measured from these.
    pub(super) fn is_user_root(&self, node: u32) -> bool {
        self.kind(node) != NodeKind::Synthetic || self.is_document_root(node)
    }

    /// Passes the state of native nodes on to those that they refer to: first attached, then detached.
    pub(super) fn propagate_detachedness(&mut self, step: &Step<'_>) -> Result<()> {
        let mut states = std::mem::take(&mut self.detachedness);
        if states.iter().all(|&state| state == UNKNOWN) {
            return Ok(());
        }
        let mut is_visited = columns::repeated(false, states.len())?;
        let mut waiting: [Vec<u32>; 2] = Default::default();
        for node in 0..states.len() as u32 {
            let state = states[node as usize];
            if state != UNKNOWN {
                self.visit(node, state, &mut states, &mut is_visited, &mut waiting)?;
            }
        }
        for state in [ATTACHED, DETACHED] {
            let mut count = 0;
            while let Some(node) = waiting[state as usize - 1].pop() {
                count += 1;
                if count % CHECK_INTERVAL == 0 {
                    step.advance(0)?;
                }
                for edge in self.edges(node) {
                    let is_passed = !matches!(
                        self.edge_kind(edge),
                        EdgeKind::Hidden | EdgeKind::Invisible | EdgeKind::Weak
                    );
                    if is_passed {
                        let target = self.edge_targets[edge];
                        self.visit(target, state, &mut states, &mut is_visited, &mut waiting)?;
                    }
                }
            }
        }
        self.detachedness = states;
        Ok(())
    }

    fn visit(
        &self,
        node: u32,
        state: u8,
        states: &mut [u8],
        is_visited: &mut [bool],
        waiting: &mut [Vec<u32>; 2],
    ) -> Result<()> {
        let at = node as usize;
        if is_visited[at] {
            return Ok(());
        }
        is_visited[at] = true;
        // JavaScript objects do not pass it on: each entry into native code knows its own state.
        if self.kind(node) != NodeKind::Native {
            states[at] = UNKNOWN;
            return Ok(());
        }
        states[at] = state;
        match state {
            ATTACHED | DETACHED => columns::push(&mut waiting[state as usize - 1], node),
            _ => Ok(()),
        }
    }

    /// Whether the name of a node gets the prefix `Detached `.
    #[inline]
    pub(super) fn is_detached(&self, node: u32) -> bool {
        self.detachedness.get(node as usize) == Some(&DETACHED)
    }

    /// Per node: the only node that owns it, for hidden nodes and arrays. Empty for a snapshot of V8's internals,
    /// which has no roots of the page.
    pub(super) fn size_owners(&self, step: &Step<'_>) -> Result<Vec<u32>> {
        if !self
            .root_edges()
            .any(|(target, _)| self.is_user_root(target))
        {
            return Ok(Vec::new());
        }
        let mut owners = columns::repeated(NONE, self.len())?;
        for (owner, node) in owners.iter_mut().zip(0..) {
            let is_owned = match self.kind(node) {
                NodeKind::Hidden | NodeKind::Array => true,
                NodeKind::Native => {
                    !self.is_detached(node) && self.name(node) == b"system / ExternalStringData"
                }
                _ => false,
            };
            if !is_owned {
                *owner = node;
            }
        }
        let mut waiting = Vec::new();
        for node in 0..self.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if owners[node as usize] == node {
                self.own(node, &mut owners, &mut waiting)?;
            }
            let mut count = 0;
            while let Some(owned) = waiting.pop() {
                count += 1;
                if count % CHECK_INTERVAL == 0 {
                    step.advance(0)?;
                }
                self.own(owned, &mut owners, &mut waiting)?;
            }
        }
        Ok(owners)
    }

    /// Passes the owner of a node on to those that it refers to. Those whose owner changes wait for the same.
    fn own(&self, node: u32, owners: &mut [u32], waiting: &mut Vec<u32>) -> Result<()> {
        let owner = owners[node as usize];
        for edge in self.edges(node) {
            if let Some(&ahead) = self.edge_targets.get(edge + AHEAD) {
                prefetch(owners, ahead);
            }
            let target = self.edge_targets[edge];
            let current = &mut owners[target as usize];
            if *current == target || *current == owner || *current == SEVERAL {
                continue;
            }
            if self.edge_kind(edge) == EdgeKind::Weak {
                continue;
            }
            *current = match *current {
                NONE => owner,
                // Each node gets here once at most.
                _ => SEVERAL,
            };
            columns::push(waiting, target)?;
        }
        Ok(())
    }

    /// Moves the sizes of nodes to their owners.
    pub(super) fn attribute_sizes(&self, sizes: &mut WideSizes, owners: &[u32]) {
        for (&owner, node) in owners.iter().zip(0..) {
            if owner == NONE || owner == SEVERAL || owner == node {
                continue;
            }
            if owner == self.root || self.kind(owner) == NodeKind::Synthetic {
                continue;
            }
            let size = sizes.get(node);
            sizes.set(node, 0);
            let sum = sizes.get(owner).saturating_add(size);
            sizes.set(owner, sum);
        }
    }
}
