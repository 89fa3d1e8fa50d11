//! The dominator tree of the live graph: which objects keep which others alive. A virtual root is above all
//! roots.
//!
//! Object A dominates object B if every path from a root to B goes through A. The algorithm is
//! semi-NCA: a depth-first search numbers the live objects, semidominators are found with path
//! compression as in Lengauer and Tarjan, and immediate dominators as nearest common ancestors.
//!
//! It is fast because it avoids memory accesses:
//! - The search stores all that is needed of the references that are not in its tree, so the graph is
//!   read only once. References that lead down in the tree need one number per object. An object without
//!   other references is dominated by its parent; most objects are of this kind.
//! - All later steps use preorder numbers. They are in the order of memory as far as the heap is.
//! - Stacks are columns, because a list of ten million nodes is ten million nodes deep.
//!
//! The simple iterative algorithm was rejected because it is quadratic on long chains. Plain semi-NCA is
//! quadratic if deep objects share others: see [`Ancestors`].

use rayon::prelude::*;

use super::ancestors::Ancestors;
use super::edges::Edges;
use super::huge_sizes::HUGE;
use super::retained_sizes::{HugeSizes, SizedTree};
use super::search::{ROOT, SpanningTree};
use super::semidominators::{Forest, find_semidominators, sort_by_target};
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// The dominator tree over the objects that the roots reach.
///
/// Reached objects are numbered from 1 in depth-first preorder; 0 is the virtual root.
///
/// ```
/// use base::control::Control;
/// use base::units::ObjectIndex;
/// use heap::{DominatorTree, Edges};
///
/// // A diamond: 0 refers to 1 and 2, both refer to 3.
/// let rows = [vec![1, 2], vec![3], vec![3], vec![]];
/// let rows: Vec<Vec<_>> = rows.iter().map(|row| row.iter().copied().map(ObjectIndex).collect()).collect();
/// let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
///
/// let control = Control::default();
/// let (_, retained_sizes) = DominatorTree::new(&edges, &[16; 4], &[ObjectIndex(0)], &control)?;
/// assert_eq!(retained_sizes, [64, 16, 16, 16]);
/// # Ok::<(), base::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct DominatorTree {
    /// Preorder number → object, without the virtual root: number `n` is at `n - 1`.
    preorder: Vec<ObjectIndex>,
    /// Preorder number → preorder number of the immediate dominator; for the root it is 0.
    immediate_dominators: Vec<u32>,
    /// Positions in `preorder` of the roots that no earlier root reaches.
    tree_starts: Vec<u32>,
}

impl DominatorTree {
    /// Computes the tree of the objects that these roots reach, and the retained sizes: for each object the
    /// sum of the `sizes` of all objects that it dominates, itself included; 0 for objects that no root
    /// reaches. The sums fit, because all blocks are in one memory of at most 4 GiB.
    ///
    /// One function computes both, because they share their memory: the retained sizes reuse columns that the
    /// tree does not need any more.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted), [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn new(
        edges: &Edges,
        sizes: &[u32],
        roots: &[ObjectIndex],
        control: &Control,
    ) -> Result<(Self, Vec<u32>)> {
        Self::of_search(SpanningTree::run(edges, roots, control)?, sizes, control)
    }

    /// As [`new`](Self::new), from the search of the live objects.
    pub(super) fn of_search(
        search: SpanningTree,
        sizes: &[u32],
        control: &Control,
    ) -> Result<(Self, Vec<u32>)> {
        let (tree, column, numbers) = Self::build(search, control)?;
        let retained_sizes = tree
            .sized()
            .retained_sizes(sizes, column, numbers, control)?;
        Ok((tree, retained_sizes))
    }

    /// The tree, memory for one number per node, and the number of each object.
    fn build(search: SpanningTree, control: &Control) -> Result<(Self, Vec<u32>, Vec<u32>)> {
        let SpanningTree {
            preorder,
            numbers,
            nodes,
            tree_starts,
            late_references,
            late_counts: mut column,
            is_tree,
        } = search;
        let step = control.begin(Phase::Dominators, nodes.len() as u64);
        let mut dominators = columns::with_capacity(nodes.len())?;
        for nodes in nodes.chunks(CHECK_INTERVAL) {
            dominators.extend(nodes.iter().map(|node| node.parent));
            step.advance(0)?;
        }
        if !is_tree {
            let sources = sort_by_target(late_references, &mut column, &step)?;
            find_semidominators(Forest::new(nodes)?, &sources, &mut column, &step)?;
            let walk_budget = dominators.len();
            Ancestors::new(walk_budget).find_dominators(&mut dominators, &column, &step)?;
        }
        drop(step);
        let tree = Self {
            preorder,
            immediate_dominators: dominators,
            tree_starts,
        };
        Ok((tree, column, numbers))
    }

    /// The size of the columns in bytes.
    pub(super) fn memory_size(&self) -> usize {
        let numbers = self.immediate_dominators.capacity() + self.tree_starts.capacity();
        (self.preorder.capacity() + numbers) * size_of::<u32>()
    }

    /// The objects that the roots reach, in depth-first preorder.
    pub fn live(&self) -> &[ObjectIndex] {
        &self.preorder
    }

    /// What the retained sizes are added up by.
    fn sized(&self) -> SizedTree<'_> {
        SizedTree {
            preorder: &self.preorder,
            immediate_dominators: &self.immediate_dominators,
        }
    }

    /// By search number (the position in [`live`](Self::live) + 1; 0 is the virtual root): the search
    /// number of the immediate dominator, which is always smaller.
    pub fn immediate_dominators(&self) -> &[u32] {
        &self.immediate_dominators
    }

    /// The roots that no earlier root reaches, in their order. Each comes with those objects that it reaches,
    /// no earlier root reaches, and only the virtual root dominates. Together these retain everything that
    /// the root adds to earlier roots.
    pub fn trees(&self) -> impl Iterator<Item = (ObjectIndex, impl Iterator<Item = ObjectIndex>)> {
        let ends = self
            .tree_starts
            .iter()
            .skip(1)
            .map(|&end| end as usize)
            .chain([self.preorder.len()]);
        let trees = self.tree_starts.iter().zip(ends);
        trees.map(|(&start, end)| {
            let start = start as usize;
            let objects = self.preorder[start..end].iter();
            let dominators = &self.immediate_dominators[start + 1..=end];
            let tops = objects
                .zip(dominators)
                .filter(|&(_, &dominator)| dominator == ROOT);
            (self.preorder[start], tops.map(|(&object, _)| object))
        })
    }
}

/// A tree without retained sizes, whose computation reuses its memory.
pub struct UnsizedTree {
    tree: DominatorTree,
    column: Vec<u32>,
    numbers: Vec<u32>,
}

impl UnsizedTree {
    /// The tree of the objects that these roots reach.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted), [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn new(edges: &Edges, roots: &[ObjectIndex], control: &Control) -> Result<Self> {
        let search = SpanningTree::run(edges, roots, control)?;
        let (tree, column, numbers) = DominatorTree::build(search, control)?;
        Ok(Self {
            tree,
            column,
            numbers,
        })
    }

    /// The objects that the roots reach.
    pub fn reached(&self) -> &[ObjectIndex] {
        &self.tree.preorder
    }

    /// The retained sizes of objects whose sizes may add up to more than 32 bits. `huge` are the sizes of at least
    /// [`HUGE`] bytes, ascending by object; so are those of the result.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted), [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn with_sizes(
        self,
        sizes: &[u32],
        huge: &[(ObjectIndex, u64)],
        control: &Control,
    ) -> Result<(DominatorTree, Vec<u32>, HugeSizes)> {
        let Self {
            tree,
            column,
            numbers,
        } = self;
        let total: u64 = sizes.par_iter().map(|&size| u64::from(size)).sum();
        if total < u64::from(HUGE) {
            let retained_sizes = tree
                .sized()
                .retained_sizes(sizes, column, numbers, control)?;
            return Ok((tree, retained_sizes, Vec::new()));
        }
        drop(column);
        let (retained_sizes, huge) = tree
            .sized()
            .wide_retained_sizes(sizes, huge, numbers, control)?;
        Ok((tree, retained_sizes, huge))
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
            // A path, so that walks are long, and random other edges.
            let mut rows: Vec<_> = (1..=NODES as u32).map(|next| vec![ObjectIndex(next)]).collect();
            rows.push(Vec::new());
            for (from, to) in edges {
                rows[from].push(ObjectIndex(to as u32));
            }
            let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
            let control = Control::default();
            let SpanningTree { nodes, late_references, late_counts: mut column, .. } =
                SpanningTree::run(&edges, &[ObjectIndex(0)], &control).unwrap();
            let parents: Vec<u32> = nodes.iter().map(|node| node.parent).collect();
            let step = control.begin(Phase::Dominators, 1);
            let sources = sort_by_target(late_references, &mut column, &step).unwrap();
            find_semidominators(Forest::new(nodes).unwrap(), &sources, &mut column, &step).unwrap();
            let [unlimited, exhausted] = [usize::MAX, 0].map(|walk_budget| {
                let mut dominators = parents.clone();
                let mut ancestors = Ancestors::new(walk_budget);
                ancestors.find_dominators(&mut dominators, &column, &step).unwrap();
                dominators
            });
            prop_assert_eq!(unlimited, exhausted);
        }
    }
}
