//! Semidominators of the live objects, with path compression.

use super::prefetch::prefetch;
use super::search::{PreorderNode, ROOT};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

/// How many references in advance the memory of their sources is prefetched.
const LOOKAHEAD: u32 = 16;

/// Puts the sources of references in the order of their targets. At the start, `column` has the number of
/// references to each node; at the end, the position after their sources.
pub(super) fn sort_by_target(
    references: Vec<[u32; 2]>,
    column: &mut [u32],
    step: &Step<'_>,
) -> Result<Vec<u32>> {
    let mut end = 0;
    for position in column.iter_mut() {
        let count = *position;
        *position = end;
        end += count;
    }
    let mut sources = columns::zeros(references.len())?;
    for references in references.chunks(CHECK_INTERVAL) {
        for &[source, target] in references {
            let position = &mut column[target as usize];
            sources[*position as usize] = source;
            *position += 1;
        }
        step.advance(0)?;
    }
    Ok(sources)
}

/// Finds the semidominator of every node: the least node from which a path leads to it through greater
/// numbers only.
///
/// At the start, `column` has for each node the position in `sources` after the late references to it; at the
/// end, the semidominators.
pub(super) fn find_semidominators(
    mut forest: Forest,
    sources: &[u32],
    column: &mut [u32],
    step: &Step<'_>,
) -> Result<()> {
    for number in (1..column.len() as u32).rev() {
        let node = number as usize;
        let mut least = forest.nodes[node].first_source;
        for position in (column[node - 1]..column[node]).rev() {
            if least == ROOT {
                break;
            }
            if let Some(&ahead) = sources.get(position.wrapping_sub(LOOKAHEAD) as usize) {
                prefetch(&forest.nodes, ahead);
            }
            let source = sources[position as usize];
            least = least.min(forest.least_semidominator(source, number));
        }
        forest.nodes[node].first_source = least;
        column[node] = least;
        if (number as usize).is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64 / 2)?;
        }
    }
    Ok(())
}

/// The part of the search tree whose semidominators are known, with compressed paths.
///
/// For a known node, `parent` is the parent at first and later a higher ancestor. `first_source` is the least
/// semidominator from the node up to that ancestor, which is not included.
pub(super) struct Forest {
    nodes: Vec<PreorderNode>,
    path: Vec<u32>,
}

impl Forest {
    pub(super) fn new(nodes: Vec<PreorderNode>) -> Result<Self> {
        // No path is longer than this. Most are very short, and reserved memory that is not used costs
        // nothing.
        let path = columns::with_capacity(nodes.len())?;
        Ok(Self { nodes, path })
    }

    /// The least semidominator on the path from `node`, whose number is above `last`, up to the first
    /// ancestor with a number that is not, which is not included.
    #[inline]
    fn least_semidominator(&mut self, node: u32, last: u32) -> u32 {
        let PreorderNode {
            parent,
            first_source,
        } = self.nodes[node as usize];
        if parent <= last {
            return first_source;
        }
        self.compress(node, last)
    }

    fn compress(&mut self, node: u32, last: u32) -> u32 {
        let mut top = node;
        while self.nodes[top as usize].parent > last {
            self.path.push(top);
            top = self.nodes[top as usize].parent;
        }
        let mut compressed = self.nodes[top as usize];
        while let Some(below) = self.path.pop() {
            let below = &mut self.nodes[below as usize];
            compressed.first_source = compressed.first_source.min(below.first_source);
            *below = compressed;
        }
        compressed.first_source
    }
}
