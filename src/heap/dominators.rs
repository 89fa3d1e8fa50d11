//! Who keeps whom alive: the dominator tree of the live graph, from a virtual root over all roots.
//!
//! Object A dominates object B if every path from a root to B goes through A. The algorithm is
//! semi-NCA: a depth-first search numbers the live objects, semidominators are found with path
//! compression as in Lengauer and Tarjan, and immediate dominators as nearest common ancestors.
//!
//! What makes it fast is where it does not go:
//! - The search writes down the references that are not part of its own tree, so the graph is never
//!   read again. An object that has none of them is dominated by its parent, and that is most of
//!   them.
//! - All later work is in preorder numbers, which follow memory as far as the heap does.
//! - Stacks are columns: a list of ten million nodes is as deep as it is long.
//!
//! The simple iterative algorithm was rejected because it goes quadratic on long chains, and plain
//! semi-NCA does so where deep objects share others: see [`Ancestors`].
//!
//! ```
//! use warpo_heap_analyzer::heap::{DominatorTree, Edges};
//! use warpo_heap_analyzer::{Control, ObjectIndex};
//!
//! // A diamond: 0 refers to 1 and 2, both refer to 3.
//! let rows = [vec![1, 2], vec![3], vec![3], vec![]];
//! let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().copied().map(ObjectIndex).collect()).collect();
//! let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
//!
//! let control = Control::default();
//! let (_, retained_sizes) = DominatorTree::new(&edges, &[16; 4], &[ObjectIndex(0)], &control)?;
//! assert_eq!(retained_sizes, [64, 16, 16, 16]);
//! # Ok::<(), warpo_heap_analyzer::Error>(())
//! ```

use rayon::prelude::*;

use super::columns;
use super::edges::Edges;
use super::prefetch::prefetch;
use super::search::{NO_REFERENCE, ROOT, Search};
use crate::control::{Control, Phase, Step};
use crate::error::Result;
use crate::units::ObjectIndex;

/// Steps between two looks at whether to stop.
const CHECK_INTERVAL: u32 = 1 << 16;

/// How many nodes ahead the memory of references is asked for.
const LOOKAHEAD: u32 = 16;

/// The dominator tree over the objects that the roots reach.
///
/// Reached objects are numbered from 1 in depth-first preorder; 0 is the virtual root.
#[derive(Debug)]
pub struct DominatorTree {
    /// Preorder number → object, without the virtual root: number `n` is at `n - 1`.
    preorder: Vec<ObjectIndex>,
    /// Preorder number → preorder number of the immediate dominator; the root's own is 0.
    immediate_dominators: Vec<u32>,
    /// Positions in `preorder` of the roots that no earlier root reaches.
    tree_starts: Vec<u32>,
}

impl DominatorTree {
    /// Computes the tree for what these roots reach, and the retained sizes: per object the sum of
    /// the `sizes` of all that it dominates, itself included; 0 for objects that no root reaches.
    /// Sums fit because all blocks lie in one memory of at most 4 GiB.
    ///
    /// Both come from one function because they share their memory: columns that the one does not
    /// need any more hold the results of the other.
    ///
    /// # Errors
    /// [`Error::Aborted`](crate::Error::Aborted), [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(
        edges: &Edges,
        sizes: &[u32],
        roots: &[ObjectIndex],
        control: &Control,
    ) -> Result<(Self, Vec<u32>)> {
        let search = Search::run(edges, roots, control)?;
        let Search {
            preorder,
            numbers,
            parents: mut dominators,
            tree_starts,
            references,
            mut last_references,
        } = search;
        if !references.is_empty() {
            let step = control.begin(Phase::Dominators, dominators.len() as u64);
            find_semidominators(&dominators, &references, &mut last_references, &step)?;
            drop(references);
            let semidominators = &last_references;
            let patience = dominators.len();
            Ancestors::new(patience).find_dominators(&mut dominators, semidominators, &step)?;
        }
        let tree = Self {
            preorder,
            immediate_dominators: dominators,
            tree_starts,
        };
        let retained_sizes = tree.retained_sizes(sizes, last_references, numbers, control)?;
        Ok((tree, retained_sizes))
    }

    /// The objects that the roots reach, in depth-first preorder.
    pub fn live(&self) -> &[ObjectIndex] {
        &self.preorder
    }

    /// The roots that no earlier root reaches, in their order, each with the objects that only the
    /// virtual root dominates among what it reaches beyond what earlier roots do. What those retain
    /// together is all that the root adds.
    pub fn trees(&self) -> impl Iterator<Item = (ObjectIndex, impl Iterator<Item = ObjectIndex>)> {
        let ends = self.tree_starts.iter().skip(1).map(|&end| end as usize);
        let ends = ends.chain([self.preorder.len()]);
        let trees = self.tree_starts.iter().zip(ends);
        trees.map(|(&start, end)| {
            let start = start as usize;
            let objects = self.preorder[start..end].iter();
            let dominators = &self.immediate_dominators[start + 1..=end];
            let tops = objects.zip(dominators);
            let tops = tops.filter(|&(_, &dominator)| dominator == ROOT);
            (self.preorder[start], tops.map(|(&object, _)| object))
        })
    }

    /// Turns the preorder numbers of all objects into their retained sizes. `sums` is memory for one
    /// number per node.
    fn retained_sizes(
        &self,
        sizes: &[u32],
        mut sums: Vec<u32>,
        numbers: Vec<u32>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        const ROUND: usize = CHECK_INTERVAL as usize;
        let live = self.preorder.len();
        let step = control.begin(Phase::Sizes, 2 * live as u64 + numbers.len() as u64);
        let objects = self.preorder.par_chunks(ROUND);
        sums[1..]
            .par_chunks_mut(ROUND)
            .zip(objects)
            .try_for_each(|(sums, objects)| {
                for (sum, object) in sums.iter_mut().zip(objects) {
                    *sum = sizes[object.at()];
                }
                step.advance(sums.len() as u64)
            })?;
        // Dominators come before what they dominate, so one sweep from the end sees every sum
        // complete.
        for number in (1..=live).rev() {
            let sum = sums[number];
            let dominator = &mut sums[self.immediate_dominators[number] as usize];
            *dominator = dominator.wrapping_add(sum);
            if number.is_multiple_of(ROUND) {
                step.advance(ROUND as u64)?;
            }
        }
        // What was not reached has the number of the virtual root.
        sums[ROOT as usize] = 0;
        let mut retained = numbers;
        retained.par_chunks_mut(ROUND).try_for_each(|numbers| {
            for number in numbers.iter_mut() {
                *number = sums[*number as usize];
            }
            step.advance(numbers.len() as u64)
        })?;
        Ok(retained)
    }
}

/// Finds the semidominator of every node: the least node from which a path leads to it over greater
/// numbers only.
///
/// `column` holds, for every node, the last reference to it that is not in the search's tree, and in
/// the end the semidominator.
fn find_semidominators(
    parents: &[u32],
    references: &[[u32; 2]],
    column: &mut [u32],
    step: &Step<'_>,
) -> Result<()> {
    let mut forest = Forest::new(parents)?;
    for number in (1..parents.len() as u32).rev() {
        // Where the references of later nodes are is known, and with them where they come from.
        if let Some(ahead) = number.checked_sub(2 * LOOKAHEAD) {
            prefetch(references, column[ahead as usize]);
            let ahead = column[(ahead + LOOKAHEAD) as usize];
            if let Some(&[source, _]) = references.get(ahead as usize) {
                prefetch(&forest.nodes, source);
            }
        }
        let mut least = parents[number as usize];
        let mut reference = column[number as usize];
        if reference != NO_REFERENCE {
            while reference != NO_REFERENCE {
                let [source, previous] = references[reference as usize];
                least = least.min(forest.least_semidominator(source, number));
                reference = previous;
            }
            forest.nodes[number as usize].least = least;
        }
        column[number as usize] = least;
        if number.is_multiple_of(CHECK_INTERVAL) {
            step.advance(u64::from(CHECK_INTERVAL) / 2)?;
        }
    }
    Ok(())
}

/// The part of the search's tree whose semidominators are known, with compressed paths.
struct Forest {
    nodes: Vec<ForestNode>,
    path: Vec<u32>,
}

/// What lies between a node and an ancestor of it.
#[derive(Clone, Copy)]
struct ForestNode {
    /// The parent at first; later a higher ancestor.
    ancestor: u32,
    /// The least semidominator from the node up to, but without, that ancestor.
    least: u32,
}

impl Forest {
    fn new(parents: &[u32]) -> Result<Self> {
        let mut nodes = columns::with_capacity(parents.len())?;
        nodes.extend(parents.iter().map(|&parent| ForestNode {
            ancestor: parent,
            least: parent,
        }));
        Ok(Self {
            nodes,
            path: Vec::new(),
        })
    }

    /// The least semidominator on the path from `node` up to, but without, the first ancestor that
    /// is not above `last`; `node` itself if it is not above it.
    #[inline]
    fn least_semidominator(&mut self, node: u32, last: u32) -> u32 {
        if node <= last {
            return node;
        }
        let ForestNode { ancestor, least } = self.nodes[node as usize];
        if ancestor <= last {
            return least;
        }
        self.compress(node, last)
    }

    fn compress(&mut self, node: u32, last: u32) -> u32 {
        let mut top = node;
        while self.nodes[top as usize].ancestor > last {
            self.path.push(top);
            top = self.nodes[top as usize].ancestor;
        }
        let ForestNode {
            ancestor,
            mut least,
        } = self.nodes[top as usize];
        while let Some(below) = self.path.pop() {
            let below = &mut self.nodes[below as usize];
            least = least.min(below.least);
            *below = ForestNode { ancestor, least };
        }
        least
    }
}

/// Finds immediate dominators: the nearest ancestor, in the dominator tree so far, that is not
/// above the semidominator.
///
/// It is found by walking up from the parent, which is almost always a step or two. But where the
/// nodes of a long list share objects, each of these may be met first from the end of the list
/// while its dominator is near the start: then all walks together go quadratic. Once the walks have
/// taken more steps than there are nodes, every node gets, beside its dominator, a jump to an
/// ancestor further up, and any walk takes a logarithmic number of steps.
struct Ancestors {
    /// How many more steps may be walked without jumps.
    patience: usize,
    /// Node → its depth and where its jump leads; empty as long as walks are short.
    jumps: Vec<Jump>,
}

#[derive(Clone, Copy, Default)]
struct Jump {
    depth: u32,
    ancestor: u32,
}

impl Ancestors {
    fn new(patience: usize) -> Self {
        Self {
            patience,
            jumps: Vec::new(),
        }
    }

    /// Turns parents into immediate dominators.
    fn find_dominators(
        &mut self,
        dominators: &mut [u32],
        semidominators: &[u32],
        step: &Step<'_>,
    ) -> Result<()> {
        for number in 1..dominators.len() as u32 {
            let semidominator = semidominators[number as usize];
            let mut dominator = dominators[number as usize];
            if self.jumps.is_empty() {
                while dominator > semidominator && self.patience > 0 {
                    dominator = dominators[dominator as usize];
                    self.patience -= 1;
                }
                if self.patience == 0 {
                    self.jumps = columns::with_capacity(dominators.len())?;
                    self.jumps.push(Jump::default());
                    for earlier in 1..number {
                        self.add_jump(dominators[earlier as usize]);
                    }
                }
            }
            if !self.jumps.is_empty() {
                while dominator > semidominator {
                    let jump = self.jumps[dominator as usize].ancestor;
                    dominator = match jump > semidominator {
                        true => jump,
                        false => dominators[dominator as usize],
                    };
                }
                self.add_jump(dominator);
            }
            dominators[number as usize] = dominator;
            if number.is_multiple_of(CHECK_INTERVAL) {
                step.advance(u64::from(CHECK_INTERVAL) / 2)?;
            }
        }
        Ok(())
    }

    /// Adds the next node. Two jumps of the same length in a row become one of both, and a step
    /// more: so their lengths are those of the skew-binary numbers.
    fn add_jump(&mut self, dominator: u32) {
        let Jump { depth, ancestor } = self.jumps[dominator as usize];
        let first = self.jumps[ancestor as usize];
        let second = self.jumps[first.ancestor as usize];
        let is_twice = depth - first.depth == first.depth - second.depth;
        self.jumps.push(Jump {
            depth: depth + 1,
            ancestor: if is_twice { first.ancestor } else { dominator },
        });
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NODES: usize = 60;

    proptest! {
        #[test]
        fn jumps_lead_to_the_same_dominators_as_single_steps(
            edges in prop::collection::vec((0..NODES, 0..NODES), 0..3 * NODES),
        ) {
            // A path, so that walks are long, and any edges beside it.
            let mut rows: Vec<_> = (1..=NODES as u32).map(|next| vec![ObjectIndex(next)]).collect();
            rows.push(Vec::new());
            for (from, to) in edges {
                rows[from].push(ObjectIndex(to as u32));
            }
            let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
            let control = Control::default();
            let Search { parents, references, last_references: mut column, .. } =
                Search::run(&edges, &[ObjectIndex(0)], &control).unwrap();
            let step = control.begin(Phase::Dominators, 1);
            find_semidominators(&parents, &references, &mut column, &step).unwrap();
            let [patient, impatient] = [usize::MAX, 0].map(|patience| {
                let mut dominators = parents.clone();
                let mut ancestors = Ancestors::new(patience);
                ancestors.find_dominators(&mut dominators, &column, &step).unwrap();
                dominators
            });
            prop_assert_eq!(patient, impatient);
        }
    }
}
