//! The dominator tree of the live graph: which objects keep which others alive. A virtual root is above all
//! roots.
//!
//! Object A dominates object B if every path from a root to B goes through A. The algorithm is
//! semi-NCA: a depth-first search numbers the live objects, semidominators are found with path
//! compression as in Lengauer and Tarjan, and immediate dominators as nearest common ancestors. Where the objects of a
//! heap refer to places far from them, a breadth-first search and refinement are faster: see [`BroadTree`]. Only analyses
//! without questions use it, because answers depend on the order of the search where objects are equal otherwise.
//!
//! It is fast because it avoids memory accesses:
//! - The search stores all that is needed of the references that are not in its tree, so the graph is
//!   read only once. References that lead down in the tree need one number per object. An object without
//!   other references is dominated by its parent; most objects are of this kind.
//! - All later steps use preorder numbers. They are in the order of memory as far as the heap is.
//! - Stacks are columns, because a list of ten million nodes is ten million nodes deep.
//!
//! The simple iterative algorithm alone was rejected because it is quadratic on long chains. Plain semi-NCA is
//! quadratic if deep objects share others: see [`Ancestors`].

use rayon::prelude::*;

use super::ancestors::Ancestors;
use super::broad_search::BroadTree;
use super::edges::Edges;
use super::huge_sizes::HUGE;
use super::live_search::{LiveSearch, SearchOrder};
use super::retained_sizes::{HugeSizes, SizedTree};
use super::search::{ROOT, SpanningTree};
use super::semidominators::{Forest, find_semidominators, sort_by_target};
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;

/// The dominator tree over the objects that the roots reach.
///
/// Reached objects are numbered from 1 in the order of the search; 0 is the virtual root.
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
    /// Search number → object, without the virtual root: number `n` is at `n - 1`.
    order: Vec<ObjectIndex>,
    /// Search number → search number of the immediate dominator; for the root it is 0.
    immediate_dominators: Vec<u32>,
    /// Positions in `order` of the roots that no earlier root reaches.
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
        let search = LiveSearch::run(edges, roots, SearchOrder::Deep, control)?;
        Self::of_search(search, edges, roots, sizes, control)
    }

    /// As [`new`](Self::new), from the search of the live objects.
    pub(super) fn of_search(
        search: LiveSearch,
        edges: &Edges,
        roots: &[ObjectIndex],
        sizes: &[u32],
        control: &Control,
    ) -> Result<(Self, Vec<u32>)> {
        let unsized_tree = UnsizedTree::of_search(search, edges, roots, control)?;
        unsized_tree.with_fitting_sizes(sizes, control)
    }

    /// The size of the columns in bytes.
    pub(super) fn memory_size(&self) -> usize {
        let numbers = self.immediate_dominators.capacity() + self.tree_starts.capacity();
        (self.order.capacity() + numbers) * size_of::<u32>()
    }

    /// The objects that the roots reach, in the order of the search.
    pub fn live(&self) -> &[ObjectIndex] {
        &self.order
    }

    /// What the retained sizes are added up by.
    fn sized(&self) -> SizedTree<'_> {
        SizedTree {
            order: &self.order,
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
            .chain([self.order.len()]);
        let trees = self.tree_starts.iter().zip(ends);
        trees.map(|(&start, end)| {
            let start = start as usize;
            let objects = self.order[start..end].iter();
            let dominators = &self.immediate_dominators[start + 1..=end];
            let tops = objects
                .zip(dominators)
                .filter(|&(_, &dominator)| dominator == ROOT);
            (self.order[start], tops.map(|(&object, _)| object))
        })
    }
}

/// A tree without retained sizes, whose computation reuses its memory.
pub struct UnsizedTree {
    tree: DominatorTree,
    /// Memory for one number per node.
    column: Vec<u32>,
    /// Object → search number; 0 if the roots do not reach it.
    numbers: Vec<u32>,
}

impl UnsizedTree {
    /// The tree of the objects that these roots reach.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted), [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn new(edges: &Edges, roots: &[ObjectIndex], control: &Control) -> Result<Self> {
        let search = LiveSearch::run(edges, roots, SearchOrder::Deep, control)?;
        Self::of_search(search, edges, roots, control)
    }

    fn of_search(
        search: LiveSearch,
        edges: &Edges,
        roots: &[ObjectIndex],
        control: &Control,
    ) -> Result<Self> {
        let step = control.begin(Phase::Dominators, search.reached().len() as u64);
        let search = match search {
            LiveSearch::Deep(search) => search,
            LiveSearch::Broad(search) => match search.find_dominators(&step)? {
                Some(dominators) => return Ok(Self::of_broad(search, dominators)),
                None => {
                    drop(search);
                    SpanningTree::run(edges, roots, &step)?
                }
            },
        };
        Self::of_deep(search, &step)
    }

    fn of_broad(search: BroadTree, immediate_dominators: Vec<u32>) -> Self {
        Self {
            tree: DominatorTree {
                order: search.order,
                immediate_dominators,
                tree_starts: search.tree_starts,
            },
            column: search.parents,
            numbers: search.numbers,
        }
    }

    fn of_deep(search: SpanningTree, step: &Step<'_>) -> Result<Self> {
        let SpanningTree {
            preorder,
            numbers,
            nodes,
            tree_starts,
            late_references,
            late_counts: mut column,
            is_tree,
        } = search;
        let mut dominators = columns::with_capacity(nodes.len())?;
        for nodes in nodes.chunks(CHECK_INTERVAL) {
            dominators.extend(nodes.iter().map(|node| node.parent));
            step.advance(0)?;
        }
        if !is_tree {
            let sources = sort_by_target(late_references, &mut column, step)?;
            find_semidominators(Forest::new(nodes)?, &sources, &mut column, step)?;
            let walk_budget = dominators.len();
            Ancestors::new(walk_budget).find_dominators(&mut dominators, &column, step)?;
        }
        let tree = DominatorTree {
            order: preorder,
            immediate_dominators: dominators,
            tree_starts,
        };
        Ok(Self {
            tree,
            column,
            numbers,
        })
    }

    /// The objects that the roots reach.
    pub fn reached(&self) -> &[ObjectIndex] {
        &self.tree.order
    }

    /// The retained sizes of objects whose sizes add up to 32 bits.
    fn with_fitting_sizes(
        self,
        sizes: &[u32],
        control: &Control,
    ) -> Result<(DominatorTree, Vec<u32>)> {
        let Self {
            tree,
            column,
            numbers,
        } = self;
        let sized = tree.sized();
        let retained_sizes = sized.retained_sizes(sizes, column, numbers, control)?;
        Ok((tree, retained_sizes))
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
        let total: u64 = sizes.par_iter().map(|&size| u64::from(size)).sum();
        if total < u64::from(HUGE) {
            let (tree, retained_sizes) = self.with_fitting_sizes(sizes, control)?;
            return Ok((tree, retained_sizes, Vec::new()));
        }
        let Self {
            tree,
            column,
            numbers,
        } = self;
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

    /// What a tree says, whatever the order of the search: by object its dominator, and by root the objects
    /// that it adds and nothing dominates.
    #[derive(Debug, PartialEq)]
    struct Said {
        dominators: Vec<Option<ObjectIndex>>,
        trees: Vec<(ObjectIndex, Vec<ObjectIndex>)>,
        retained_sizes: Vec<u32>,
    }

    fn said_by(search: LiveSearch, edges: &Edges, roots: &[ObjectIndex]) -> Said {
        let control = Control::default();
        let sizes: Vec<u32> = (0..edges.object_count() as u32)
            .map(|nth| 16 + nth)
            .collect();
        let (tree, retained_sizes) =
            DominatorTree::of_search(search, edges, roots, &sizes, &control).unwrap();
        let mut dominators = vec![None; edges.object_count()];
        for (&object, &dominator) in tree.live().iter().zip(&tree.immediate_dominators()[1..]) {
            let above = (dominator as usize).checked_sub(1);
            dominators[object.at()] = above.map(|above| tree.live()[above]);
        }
        let trees = tree.trees().map(|(root, tops)| {
            let mut tops: Vec<_> = tops.collect();
            tops.sort_unstable();
            (root, tops)
        });
        Said {
            dominators,
            trees: trees.collect(),
            retained_sizes,
        }
    }

    fn both_searches(edges: &Edges, roots: &[ObjectIndex]) -> [LiveSearch; 2] {
        let control = Control::default();
        let step = control.begin(Phase::Search, 1);
        [
            LiveSearch::Deep(SpanningTree::run(edges, roots, &step).unwrap()),
            LiveSearch::Broad(BroadTree::run(edges, roots, &step).unwrap().unwrap()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_broad_search_leads_to_the_same_tree_as_a_deep_one(
            edges in prop::collection::vec((0..NODES, 0..NODES), 0..3 * NODES),
            roots in prop::collection::vec(0..NODES as u32, 0..4),
        ) {
            let mut rows = vec![Vec::new(); NODES];
            for (from, to) in edges {
                rows[from].push(ObjectIndex(to as u32));
            }
            let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
            let roots: Vec<_> = roots.into_iter().map(ObjectIndex).collect();
            let [deep, broad] =
                both_searches(&edges, &roots).map(|search| said_by(search, &edges, &roots));
            prop_assert_eq!(deep, broad);
        }
    }

    #[test]
    fn a_list_whose_nodes_share_an_object_is_left_to_the_deep_search() {
        const LENGTH: u32 = 250;
        let shared = ObjectIndex(LENGTH);
        let mut rows: Vec<_> = (1..LENGTH)
            .map(|next| vec![ObjectIndex(next), shared])
            .collect();
        rows.push(vec![shared]);
        rows.push(Vec::new());
        let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
        let roots = [ObjectIndex(0)];
        let [deep, broad] = both_searches(&edges, &roots);
        let LiveSearch::Broad(tree) = &broad else {
            panic!("the second search is broad")
        };
        let control = Control::default();
        let step = control.begin(Phase::Dominators, 1);
        assert_eq!(tree.find_dominators(&step).unwrap(), None);
        assert_eq!(
            said_by(deep, &edges, &roots),
            said_by(broad, &edges, &roots)
        );
    }

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
            let step = control.begin(Phase::Dominators, 1);
            let SpanningTree { nodes, late_references, late_counts: mut column, .. } =
                SpanningTree::run(&edges, &[ObjectIndex(0)], &step).unwrap();
            let parents: Vec<u32> = nodes.iter().map(|node| node.parent).collect();
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
