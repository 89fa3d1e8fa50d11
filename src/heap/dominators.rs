//! Who keeps whom alive: the dominator tree of the live graph, from a virtual root over all roots.
//!
//! Object A dominates object B if every path from a root to B goes through A. The algorithm is
//! semi-NCA: semidominators with path compression as in Lengauer and Tarjan, then immediate
//! dominators as nearest common ancestors. It runs in preorder numbers, so that most of its
//! accesses stay close to where it is, and keeps its stacks itself: a list of ten million nodes
//! is as deep as it is long. The simple iterative algorithm was rejected because it goes
//! quadratic on long chains.
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
//! let tree = DominatorTree::new(&edges, 4, &[ObjectIndex(0)], &Control::default())?;
//! assert_eq!(tree.retained_sizes(&[16, 16, 16, 16]), [64, 16, 16, 16]);
//! # Ok::<(), warpo_heap_analyzer::Error>(())
//! ```

use super::edges::Edges;
use crate::control::Control;
use crate::error::Result;
use crate::units::ObjectIndex;

/// The preorder number of the virtual root.
const ROOT: u32 = 0;
/// The number of a node that was not reached.
const UNREACHED: u32 = 0;
/// Steps between two looks at whether to stop.
const CHECK_INTERVAL: usize = 1 << 16;

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
    object_count: usize,
}

impl DominatorTree {
    /// Computes the tree for a graph of `object_count` objects.
    ///
    /// # Errors
    /// [`Error::Aborted`](crate::Error::Aborted).
    pub fn new(
        edges: &Edges,
        object_count: usize,
        roots: &[ObjectIndex],
        control: &Control,
    ) -> Result<Self> {
        let tree = SpanningTree::search(edges, object_count, roots, control)?;
        let numbers = (0u32..).zip(&tree.parents[1..]);
        let tree_starts = numbers
            .filter(|&(_, &parent)| parent == ROOT)
            .map(|(start, _)| start);
        let tree_starts = tree_starts.collect();
        let predecessors = Predecessors::new(edges, &tree, roots, control)?;
        let immediate_dominators = semi_nca(tree.parents, &predecessors, control)?;
        Ok(Self {
            preorder: tree.preorder,
            immediate_dominators,
            tree_starts,
            object_count,
        })
    }

    /// The objects that the roots reach, in depth-first preorder.
    pub fn live(&self) -> &[ObjectIndex] {
        &self.preorder
    }

    /// The roots that no earlier root reaches, in their order, each with what it reaches beyond
    /// what earlier roots do, itself included.
    pub fn trees(&self) -> impl Iterator<Item = (ObjectIndex, &[ObjectIndex])> {
        let ends = self.tree_starts.iter().skip(1).map(|&end| end as usize);
        let ends = ends.chain([self.preorder.len()]);
        let trees = self.tree_starts.iter().zip(ends);
        trees.map(|(&start, end)| {
            (
                self.preorder[start as usize],
                &self.preorder[start as usize..end],
            )
        })
    }

    /// Per object: the sum of the `sizes` of all that it dominates, itself included; 0 for objects
    /// that no root reaches. Sums fit because all blocks lie in one memory of at most 4 GiB.
    pub fn retained_sizes(&self, sizes: &[u32]) -> Vec<u32> {
        let mut by_number: Vec<u32> = std::iter::once(0)
            .chain(self.preorder.iter().map(|object| sizes[object.at()]))
            .collect();
        // Dominators come before what they dominate, so one sweep from the end sees every sum
        // complete.
        for number in (1..by_number.len()).rev() {
            let dominator = self.immediate_dominators[number];
            by_number[dominator as usize] =
                by_number[dominator as usize].wrapping_add(by_number[number]);
        }
        let mut retained = vec![0; self.object_count];
        for (object, &sum) in self.preorder.iter().zip(&by_number[1..]) {
            retained[object.at()] = sum;
        }
        retained
    }
}

/// A depth-first spanning tree of the live graph.
struct SpanningTree {
    preorder: Vec<ObjectIndex>,
    /// Object → preorder number, or `UNREACHED`.
    numbers: Vec<u32>,
    /// Preorder number → preorder number of the parent.
    parents: Vec<u32>,
}

impl SpanningTree {
    fn search(
        edges: &Edges,
        object_count: usize,
        roots: &[ObjectIndex],
        control: &Control,
    ) -> Result<Self> {
        let mut tree = Self {
            preorder: Vec::new(),
            numbers: vec![UNREACHED; object_count],
            parents: vec![ROOT],
        };
        // The path from a root to where the search is: a number, and the references not yet tried.
        let mut path: Vec<(u32, std::slice::Iter<'_, ObjectIndex>)> = vec![(ROOT, roots.iter())];
        while let Some((number, untried)) = path.last_mut() {
            let number = *number;
            let Some(&object) = untried.next() else {
                path.pop();
                continue;
            };
            if tree.numbers[object.at()] != UNREACHED {
                continue;
            }
            tree.preorder.push(object);
            tree.parents.push(number);
            let reached = tree.preorder.len() as u32;
            tree.numbers[object.at()] = reached;
            if (reached as usize).is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            let targets = edges.targets(object);
            if !targets.is_empty() {
                path.push((reached, targets.iter()));
            }
        }
        Ok(tree)
    }

    /// Hands over every reference between reached nodes, those from the virtual root first, in
    /// preorder numbers.
    fn for_each_reference(
        &self,
        edges: &Edges,
        roots: &[ObjectIndex],
        control: &Control,
        mut found: impl FnMut(u32, u32),
    ) -> Result<()> {
        for root in roots {
            found(ROOT, self.numbers[root.at()]);
        }
        for (source, &object) in (1u32..).zip(&self.preorder) {
            if (source as usize).is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            for target in edges.targets(object) {
                found(source, self.numbers[target.at()]);
            }
        }
        Ok(())
    }
}

/// Who refers to whom, in preorder numbers.
struct Predecessors {
    offsets: Vec<u32>,
    sources: Vec<u32>,
}

impl Predecessors {
    fn new(
        edges: &Edges,
        tree: &SpanningTree,
        roots: &[ObjectIndex],
        control: &Control,
    ) -> Result<Self> {
        let nodes = tree.preorder.len() + 1;
        let mut offsets = vec![0u32; nodes + 1];
        tree.for_each_reference(edges, roots, control, |_, target| {
            offsets[target as usize + 1] += 1;
        })?;
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut sources = vec![0; offsets[nodes] as usize];
        let mut next = offsets.clone();
        tree.for_each_reference(edges, roots, control, |source, target| {
            let place = &mut next[target as usize];
            sources[*place as usize] = source;
            *place += 1;
        })?;
        Ok(Self { offsets, sources })
    }

    fn of(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.sources[self.offsets[number] as usize..self.offsets[number + 1] as usize]
    }
}

/// Immediate dominators of a spanning tree, in preorder numbers.
fn semi_nca(parents: Vec<u32>, predecessors: &Predecessors, control: &Control) -> Result<Vec<u32>> {
    let nodes = parents.len() as u32;
    let mut semidominators: Vec<u32> = (0..nodes).collect();
    let mut forest = Forest {
        ancestors: parents.clone(),
        labels: (0..nodes).collect(),
        path: Vec::new(),
    };
    for number in (1..nodes).rev() {
        if (number as usize).is_multiple_of(CHECK_INTERVAL) {
            control.check()?;
        }
        let mut semidominator = parents[number as usize];
        for &source in predecessors.of(number) {
            let candidate = forest.minimum(source, number + 1, &semidominators);
            semidominator = semidominator.min(semidominators[candidate as usize]);
        }
        semidominators[number as usize] = semidominator;
    }

    // The immediate dominator is the nearest ancestor in the spanning tree that is not below the
    // semidominator. Those of smaller numbers are final already.
    let mut dominators = parents;
    for number in 1..nodes as usize {
        let mut dominator = dominators[number];
        while dominator > semidominators[number] {
            dominator = dominators[dominator as usize];
        }
        dominators[number] = dominator;
    }
    Ok(dominators)
}

/// The part of the spanning tree whose semidominators are known, with compressed paths.
struct Forest {
    ancestors: Vec<u32>,
    /// The node with the least semidominator on the path that was compressed away.
    labels: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node with the least semidominator on the path from `node` up to, but without, the
    /// first ancestor below `first_linked`; `node` itself if it is not linked yet.
    fn minimum(&mut self, node: u32, first_linked: u32, semidominators: &[u32]) -> u32 {
        if node < first_linked {
            return node;
        }
        let mut top = node;
        while self.ancestors[top as usize] >= first_linked {
            self.path.push(top);
            top = self.ancestors[top as usize];
        }
        let (mut best, outside) = (self.labels[top as usize], self.ancestors[top as usize]);
        while let Some(below) = self.path.pop() {
            let below = below as usize;
            if semidominators[self.labels[below] as usize] <= semidominators[best as usize] {
                best = self.labels[below];
            } else {
                self.labels[below] = best;
            }
            self.ancestors[below] = outside;
        }
        best
    }
}
