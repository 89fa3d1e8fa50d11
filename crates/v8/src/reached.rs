//! Which nodes the page reaches, and which the root keeps alive, by the rules of DevTools.

use super::ephemerons::Ephemerons;
use super::raw::{EdgeKind, RawSnapshot};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
pub use heap::WideLabel;
use heap::prefetch;

/// How many edges ahead the states of targets are asked for.
const AHEAD: usize = 16;

/// The page reaches the node, and not only V8 or a debugger.
const PAGE: u8 = 1;
/// Edges that keep their targets alive lead to the node from the root or from an orphan.
const ALIVE: u8 = 2;
/// An edge that keeps its target alive leads from the root to the node.
const ENTRY: u8 = 4;
/// Nothing refers to the node strongly.
const ORPHAN: u8 = 8;

/// How the root reaches a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// By an edge.
    Edge,
    /// Nothing refers to the node strongly; DevTools counts it as dominated by the root.
    Orphan,
    /// Only nodes refer to it that the root does not reach. DevTools counts each as dominated by the root alone.
    Clique,
}

/// The nodes that are reached.
pub(super) struct Reached {
    states: Vec<u8>,
}

impl Reached {
    /// Searches the graph.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn find(
        raw: &RawSnapshot,
        ephemerons: &Ephemerons,
        step: &Step<'_>,
    ) -> Result<Self> {
        let mut search = ReachSearch {
            raw,
            ephemerons,
            step,
            states: columns::zeros(raw.len())?,
            waiting: Vec::new(),
            followed: 0,
        };
        search.find_page()?;
        search.follow(raw.root)?;
        search.find_orphans()?;
        for edge in raw.edges(raw.root) {
            if search.keeps(raw.root, edge) {
                search.states[raw.edge_targets[edge] as usize] |= ENTRY;
            }
        }
        Ok(Self {
            states: search.states,
        })
    }

    /// Whether an edge that [can keep its target alive](can_keep) does so.
    #[inline]
    pub(super) fn is_followed(&self, root: u32, node: u32, target: u32) -> bool {
        is_followed(&self.states, root, node, target)
    }

    /// Whether a node is in no clique.
    #[inline]
    pub(super) fn is_connected(&self, node: u32) -> bool {
        self.states[node as usize] & ALIVE != 0
    }

    /// The nodes that are roots of the heap, and how the root reaches each.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, EntryKind)> {
        let entries = self.states.iter().zip(0..);
        entries.filter_map(|(state, node)| match state & (ALIVE | ENTRY | ORPHAN) {
            ALIVE => None,
            0 => Some((node, EntryKind::Clique)),
            state if state & ORPHAN != 0 => Some((node, EntryKind::Orphan)),
            _ => Some((node, EntryKind::Edge)),
        })
    }
}

/// Whether an edge can keep its target alive, judged by all but what the page reaches.
#[inline(always)]
pub(super) fn can_keep(
    raw_root: u32,
    ids: &[u32],
    ephemerons: &Ephemerons,
    (node, label, target): (u32, WideLabel, u32),
) -> bool {
    if target == node {
        return false;
    }
    match EdgeKind::of_label(label) {
        EdgeKind::Weak => false,
        EdgeKind::Shortcut => node == raw_root,
        // A value of a weak map counts as kept by the key, and not by the table.
        EdgeKind::Internal => ephemerons
            .of(label)
            .is_none_or(|entry| entry.table != u64::from(ids[node as usize])),
        _ => true,
    }
}

/// What a debugger also holds counts as the page's.
#[inline]
fn is_followed(states: &[u8], root: u32, node: u32, target: u32) -> bool {
    states[node as usize] & PAGE != 0 || states[target as usize] & PAGE == 0 || node == root
}

struct ReachSearch<'r, 'c> {
    raw: &'r RawSnapshot,
    ephemerons: &'r Ephemerons,
    step: &'r Step<'c>,
    states: Vec<u8>,
    waiting: Vec<u32>,
    /// How many nodes have waited so far.
    followed: usize,
}

impl ReachSearch<'_, '_> {
    #[inline(always)]
    fn can_keep(&self, node: u32, edge: usize) -> bool {
        let raw = self.raw;
        let edge = (node, raw.edge_labels[edge], raw.edge_targets[edge]);
        can_keep(raw.root, &raw.ids, self.ephemerons, edge)
    }

    fn keeps(&self, node: u32, edge: usize) -> bool {
        let target = self.raw.edge_targets[edge];
        self.can_keep(node, edge) && is_followed(&self.states, self.raw.root, node, target)
    }

    fn add(&mut self, node: u32, state: u8) -> Result<()> {
        self.states[node as usize] |= state;
        columns::push(&mut self.waiting, node)
    }

    /// Calls `follow` with each waiting node, and those that it adds.
    fn run(&mut self, mut follow: impl FnMut(&mut Self, u32) -> Result<()>) -> Result<()> {
        while let Some(node) = self.waiting.pop() {
            self.followed += 1;
            if self.followed.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            follow(self, node)?;
        }
        Ok(())
    }

    /// The page reaches nodes over all edges but weak ones. Most of these keep their targets alive, so one search finds
    /// both; the targets of the other edges follow.
    fn find_page(&mut self) -> Result<()> {
        let raw = self.raw;
        for (target, kind) in raw.root_edges() {
            let is_entry = match kind {
                EdgeKind::Element => raw.is_document_root(target),
                EdgeKind::Shortcut => true,
                _ => false,
            };
            if is_entry {
                self.states[target as usize] = PAGE | ALIVE;
            }
        }
        let mut others = Vec::new();
        // Most edges lead to later nodes, so nodes are looked at in the order of the file. Only those that are found when
        // it is too late have to wait.
        for now in 0..raw.len() as u32 {
            if (now as usize).is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            if self.states[now as usize] == 0 {
                continue;
            }
            self.follow_in_page(now, now, &mut others)?;
            self.run(|search, node| search.follow_in_page(node, now, &mut others))?;
        }
        for target in others {
            if self.states[target as usize] == 0 {
                self.add(target, PAGE)?;
            }
        }
        self.run(|search, node| {
            for edge in raw.edges(node) {
                let target = raw.edge_targets[edge];
                if search.states[target as usize] == 0 && raw.edge_kind(edge) != EdgeKind::Weak {
                    search.add(target, PAGE)?;
                }
            }
            Ok(())
        })
    }

    /// Follows the edges of a node that the page reaches. Targets up to `now` wait.
    #[inline]
    fn follow_in_page(&mut self, node: u32, now: u32, others: &mut Vec<u32>) -> Result<()> {
        let raw = self.raw;
        for edge in raw.edges(node) {
            if let Some(&ahead) = raw.edge_targets.get(edge + AHEAD) {
                prefetch(&self.states, ahead);
            }
            let target = raw.edge_targets[edge];
            if self.states[target as usize] != 0 || raw.edge_kind(edge) == EdgeKind::Weak {
                continue;
            }
            if !self.can_keep(node, edge) {
                columns::push(others, target)?;
                continue;
            }
            self.states[target as usize] = PAGE | ALIVE;
            if target <= now {
                columns::push(&mut self.waiting, target)?;
            }
        }
        Ok(())
    }

    /// Follows the edges that keep their targets alive.
    fn follow(&mut self, start: u32) -> Result<()> {
        if self.states[start as usize] & ALIVE != 0 {
            return Ok(());
        }
        self.add(start, ALIVE)?;
        self.run(|search, node| {
            for edge in search.raw.edges(node) {
                let target = search.raw.edge_targets[edge];
                if search.states[target as usize] & ALIVE == 0 && search.keeps(node, edge) {
                    search.add(target, ALIVE)?;
                }
            }
            Ok(())
        })
    }

    /// Finds the orphans, and follows their edges.
    fn find_orphans(&mut self) -> Result<()> {
        let is_alive = |state: &u8| state & ALIVE != 0;
        if self.states.iter().all(is_alive) {
            return Ok(());
        }
        let mut is_target = columns::repeated(false, self.states.len())?;
        for node in 0..self.states.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            for edge in self.raw.edges(node) {
                let target = self.raw.edge_targets[edge] as usize;
                if !is_alive(&self.states[target]) && self.keeps(node, edge) {
                    is_target[target] = true;
                }
            }
        }
        for (is_target, node) in is_target.into_iter().zip(0..) {
            if !is_target && !is_alive(&self.states[node as usize]) {
                self.states[node as usize] |= ORPHAN;
                self.follow(node)?;
            }
        }
        Ok(())
    }
}
