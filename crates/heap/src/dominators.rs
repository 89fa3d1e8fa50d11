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

use super::edges::Edges;
use super::huge_sizes::HUGE;
use super::prefetch::prefetch;
use super::search::{Node, ROOT, Search};
use base::columns;
use base::control::{Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;

/// The number of steps between two checks for cancellation.
const CHECK_INTERVAL: u32 = 1 << 16;

/// How many references in advance the memory of their sources is prefetched.
const LOOKAHEAD: u32 = 16;

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
        Self::of_search(Search::run(edges, roots, control)?, sizes, control)
    }

    /// As [`new`](Self::new), from the search of the live objects.
    pub(super) fn of_search(
        search: Search,
        sizes: &[u32],
        control: &Control,
    ) -> Result<(Self, Vec<u32>)> {
        let (tree, column, numbers) = Self::build(search, control)?;
        let retained_sizes = tree.retained_sizes(sizes, column, numbers, control)?;
        Ok((tree, retained_sizes))
    }

    /// The tree, memory for one number per node, and the number of each object.
    fn build(search: Search, control: &Control) -> Result<(Self, Vec<u32>, Vec<u32>)> {
        let Search {
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
        for nodes in nodes.chunks(CHECK_INTERVAL as usize) {
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

    /// By search number (the position in [`live`](Self::live) + 1; 0 is the virtual root): the search
    /// number of the immediate dominator, which is always smaller.
    pub fn immediate_dominators(&self) -> &[u32] {
        &self.immediate_dominators
    }

    /// The roots that no earlier root reaches, in their order. Each comes with those objects that it reaches,
    /// no earlier root reaches, and only the virtual root dominates. Together these retain everything that
    /// the root adds to earlier roots.
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

    /// Replaces the preorder numbers of all objects by their retained sizes. `sums` is memory for one number
    /// per node.
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
        // Dominators come before the objects that they dominate. So in one pass from the end, every sum is
        // complete when it is added.
        for number in (1..=live).rev() {
            let sum = sums[number];
            let dominator = &mut sums[self.immediate_dominators[number] as usize];
            *dominator = dominator.wrapping_add(sum);
            if number.is_multiple_of(ROUND) {
                step.advance(ROUND as u64)?;
            }
        }
        // Objects that were not reached have the number of the virtual root.
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
        let search = Search::run(edges, roots, control)?;
        let (tree, column, numbers) = DominatorTree::build(search, control)?;
        Ok(Self {
            tree,
            column,
            numbers,
        })
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
            let retained_sizes = tree.retained_sizes(sizes, column, numbers, control)?;
            return Ok((tree, retained_sizes, Vec::new()));
        }
        drop(column);
        let (retained_sizes, huge) = tree.wide_retained_sizes(sizes, huge, numbers, control)?;
        Ok((tree, retained_sizes, huge))
    }
}

/// Sizes of at least [`HUGE`] bytes, ascending by object.
pub(crate) type HugeSizes = Vec<(ObjectIndex, u64)>;

impl DominatorTree {
    /// As `retained_sizes`, with sums of 64 bits.
    fn wide_retained_sizes(
        &self,
        sizes: &[u32],
        huge: &[(ObjectIndex, u64)],
        numbers: Vec<u32>,
        control: &Control,
    ) -> Result<(Vec<u32>, HugeSizes)> {
        let live = self.preorder.len();
        let step = control.begin(Phase::Sizes, live as u64);
        let mut sums = columns::repeated(0u64, live + 1)?;
        for (sum, object) in sums[1..].iter_mut().zip(&self.preorder) {
            *sum = sizes[object.at()].into();
        }
        for &(object, size) in huge {
            match numbers[object.at()] {
                ROOT => {}
                number => sums[number as usize] = size,
            }
        }
        for number in (1..=live).rev() {
            let sum = sums[number];
            let dominator = &mut sums[self.immediate_dominators[number] as usize];
            *dominator = dominator.saturating_add(sum);
            if number.is_multiple_of(CHECK_INTERVAL as usize) {
                step.advance(CHECK_INTERVAL.into())?;
            }
        }
        sums[ROOT as usize] = 0;
        let mut retained = numbers;
        let mut huge = Vec::new();
        for (nth, number) in retained.iter_mut().enumerate() {
            let size = sums[*number as usize];
            *number = u32::try_from(size).unwrap_or(HUGE);
            if *number == HUGE {
                columns::push(&mut huge, (ObjectIndex(nth as u32), size))?;
            }
        }
        Ok((retained, huge))
    }
}

/// Puts the sources of references in the order of their targets. At the start, `column` has the number of
/// references to each node; at the end, the position after their sources.
fn sort_by_target(
    references: Vec<[u32; 2]>,
    column: &mut [u32],
    step: &Step<'_>,
) -> Result<Vec<u32>> {
    let mut end = 0;
    for place in column.iter_mut() {
        let count = *place;
        *place = end;
        end += count;
    }
    let mut sources = columns::zeros(references.len())?;
    for references in references.chunks(CHECK_INTERVAL as usize) {
        for &[source, target] in references {
            let place = &mut column[target as usize];
            sources[*place as usize] = source;
            *place += 1;
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
fn find_semidominators(
    mut forest: Forest,
    sources: &[u32],
    column: &mut [u32],
    step: &Step<'_>,
) -> Result<()> {
    for number in (1..column.len() as u32).rev() {
        let node = number as usize;
        let mut least = forest.nodes[node].first_source;
        for place in (column[node - 1]..column[node]).rev() {
            if least == ROOT {
                break;
            }
            if let Some(&ahead) = sources.get(place.wrapping_sub(LOOKAHEAD) as usize) {
                prefetch(&forest.nodes, ahead);
            }
            let source = sources[place as usize];
            least = least.min(forest.least_semidominator(source, number));
        }
        forest.nodes[node].first_source = least;
        column[node] = least;
        if number.is_multiple_of(CHECK_INTERVAL) {
            step.advance(u64::from(CHECK_INTERVAL) / 2)?;
        }
    }
    Ok(())
}

/// The part of the search tree whose semidominators are known, with compressed paths.
///
/// For a known node, `parent` is the parent at first and later a higher ancestor. `first_source` is the least
/// semidominator from the node up to that ancestor, which is not included.
struct Forest {
    nodes: Vec<Node>,
    path: Vec<u32>,
}

impl Forest {
    fn new(nodes: Vec<Node>) -> Result<Self> {
        // No path is longer than this. Most are very short, and reserved memory that is not used costs
        // nothing.
        let path = columns::with_capacity(nodes.len())?;
        Ok(Self { nodes, path })
    }

    /// The least semidominator on the path from `node`, whose number is above `last`, up to the first
    /// ancestor with a number that is not, which is not included.
    #[inline]
    fn least_semidominator(&mut self, node: u32, last: u32) -> u32 {
        let Node {
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

/// Finds immediate dominators: the nearest ancestor, in the dominator tree so far, that is not
/// above the semidominator.
///
/// It is found by walking up from the parent, which is almost always one or two steps. If the nodes of a long
/// list share objects, the search may find each of these first from the end of the list, while its dominator
/// is near the start: then all walks together are quadratic. Therefore, after the walks have taken more steps
/// than there are nodes, every node also gets a jump to an ancestor further up, and a walk takes a
/// logarithmic number of steps.
struct Ancestors {
    /// The number of steps that are still allowed without jumps.
    walk_budget: usize,
    /// Node → its depth and the target of its jump; empty as long as walks are short.
    jumps: Vec<Jump>,
}

#[derive(Clone, Copy, Default)]
struct Jump {
    depth: u32,
    ancestor: u32,
}

impl Ancestors {
    fn new(walk_budget: usize) -> Self {
        Self {
            walk_budget,
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
                while dominator > semidominator && self.walk_budget > 0 {
                    dominator = dominators[dominator as usize];
                    self.walk_budget -= 1;
                }
                if self.walk_budget == 0 {
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

    /// Adds the next node. Two consecutive jumps of the same length are joined, with one more step, so the
    /// lengths are those of skew-binary numbers.
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
            // A path, so that walks are long, and random other edges.
            let mut rows: Vec<_> = (1..=NODES as u32).map(|next| vec![ObjectIndex(next)]).collect();
            rows.push(Vec::new());
            for (from, to) in edges {
                rows[from].push(ObjectIndex(to as u32));
            }
            let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
            let control = Control::default();
            let Search { nodes, late_references, late_counts: mut column, .. } =
                Search::run(&edges, &[ObjectIndex(0)], &control).unwrap();
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
