//! The distance of every node from the roots of the page, as DevTools measures it.

use super::ephemerons::Ephemerons;
use super::raw::{EdgeKind, NodeKind, RawSnapshot};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

/// The distance of nodes that are not reached.
pub(crate) const NO_DISTANCE: i32 = -5;
/// Nodes that only V8 reaches have greater distances.
pub(crate) const SYSTEM_DISTANCE: i32 = 100_000_000;

/// A breadth-first search in the order of the file.
struct DistanceSearch<'r> {
    raw: &'r RawSnapshot,
    ephemerons: &'r Ephemerons,
    distances: Vec<i32>,
    /// By entry of a weak map: whether one of its two edges was found and the other was not yet.
    is_pending: Vec<bool>,
}

impl RawSnapshot {
    /// The distance of every node.
    pub(super) fn distances(&self, ephemerons: &Ephemerons, step: &Step<'_>) -> Result<Vec<i32>> {
        let mut search = DistanceSearch {
            raw: self,
            ephemerons,
            distances: columns::repeated(NO_DISTANCE, self.len())?,
            is_pending: columns::repeated(false, ephemerons.pairs as usize)?,
        };
        let mut roots = Vec::new();
        for (target, _) in self.root_edges() {
            // A root to which several edges lead is followed several times, as in DevTools.
            if self.is_user_root(target) {
                search.distances[target as usize] = 1;
                columns::push(&mut roots, target)?;
            }
        }
        let has_user_roots = !roots.is_empty();
        search.run(roots, step)?;
        search.distances[self.root as usize] = if has_user_roots { SYSTEM_DISTANCE } else { 0 };
        search.run(vec![self.root], step)?;
        Ok(search.distances)
    }
}

impl DistanceSearch<'_> {
    fn run(&mut self, mut queue: Vec<u32>, step: &Step<'_>) -> Result<()> {
        // The nodes at the next distance.
        let mut next = Vec::new();
        while !queue.is_empty() {
            for nodes in queue.chunks(CHECK_INTERVAL) {
                self.follow(nodes, &mut next)?;
                step.advance(0)?;
            }
            queue.clear();
            std::mem::swap(&mut queue, &mut next);
        }
        Ok(())
    }

    fn follow(&mut self, nodes: &[u32], next: &mut Vec<u32>) -> Result<()> {
        for &node in nodes {
            let distance = self.distances[node as usize].saturating_add(1);
            for edge in self.raw.edges(node) {
                let target = self.raw.edge_targets[edge];
                if self.raw.edge_kind(edge) == EdgeKind::Weak
                    || self.distances[target as usize] != NO_DISTANCE
                    || !self.counts(node, edge)
                {
                    continue;
                }
                self.distances[target as usize] = distance;
                columns::push(next, target)?;
            }
        }
        Ok(())
    }

    /// Whether an edge counts for distances.
    fn counts(&mut self, node: u32, edge: usize) -> bool {
        let raw = self.raw;
        let label = raw.edge_labels[edge];
        let (kind, name) = (EdgeKind::of_label(label), label.number());
        match raw.kind(node) {
            NodeKind::Hidden
                if kind.has_name()
                    && raw.strings.bytes(name) == b"sloppy_function_map"
                    && raw.name(node) == b"system / NativeContext" =>
            {
                return false;
            }
            // Maps share descriptor arrays, so their descriptors need not belong to the map.
            NodeKind::Array if raw.name(node) == b"(map descriptors)" => {
                let index = if kind.has_name() {
                    leading_number(raw.strings.bytes(name))
                } else {
                    Some(u64::from(name))
                };
                return index.is_none_or(|index| index < 2 || index % 3 != 1);
            }
            _ => {}
        }
        // A value of a weak map is as far away as the later one of its key and its table.
        match self.ephemerons.of(label) {
            Some(entry) => {
                let is_pending = &mut self.is_pending[entry.pair as usize];
                *is_pending = !*is_pending;
                !*is_pending
            }
            None => true,
        }
    }
}

fn leading_number(text: &[u8]) -> Option<u64> {
    let digits: Vec<u8> = text
        .iter()
        .copied()
        .take_while(u8::is_ascii_digit)
        .collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}
