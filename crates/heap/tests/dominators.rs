//! The dominator tree against the definition: a node dominates the nodes that cannot be reached after it is
//! removed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot be is a failure"
)]

use base::{Control, ObjectIndex};
use heap::{DominatorTree, Edges};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Graph {
    rows: Vec<Vec<ObjectIndex>>,
    roots: Vec<ObjectIndex>,
    sizes: Vec<u32>,
}

impl Graph {
    fn new(nodes: usize, edges: &[(usize, usize)], roots: &[usize]) -> Self {
        let mut rows = vec![Vec::new(); nodes];
        for &(from, to) in edges {
            rows[from].push(ObjectIndex(to as u32));
        }
        Self {
            rows,
            roots: roots.iter().map(|&root| ObjectIndex(root as u32)).collect(),
            // Powers of two would overflow; with these sizes, different subsets have different sums.
            sizes: (0..nodes as u32).map(|node| 16 + node * node * 7).collect(),
        }
    }

    fn solve(&self) -> (DominatorTree, Vec<u32>) {
        let edges = Edges::from_rows(self.rows.iter().map(Vec::as_slice));
        DominatorTree::new(&edges, &self.sizes, &self.roots, &Control::default()).unwrap()
    }

    fn tree(&self) -> DominatorTree {
        self.solve().0
    }

    fn retained(&self) -> Vec<u32> {
        self.solve().1
    }

    fn reachable_without(&self, removed: Option<usize>) -> Vec<bool> {
        let mut reached = vec![false; self.rows.len()];
        let mut pending: Vec<usize> = self.roots.iter().map(|root| root.at()).collect();
        while let Some(node) = pending.pop() {
            if Some(node) != removed && !reached[node] {
                reached[node] = true;
                pending.extend(self.rows[node].iter().map(|target| target.at()));
            }
        }
        reached
    }

    fn retained_by_definition(&self) -> Vec<u32> {
        let live = self.reachable_without(None);
        (0..self.rows.len())
            .map(|node| {
                if !live[node] {
                    return 0;
                }
                let rest = self.reachable_without(Some(node));
                let lost = (0..self.rows.len()).filter(|&other| live[other] && !rest[other]);
                lost.map(|other| self.sizes[other]).sum()
            })
            .collect()
    }
}

fn any_graph(nodes: std::ops::Range<usize>, edges_per_node: usize) -> impl Strategy<Value = Graph> {
    nodes.prop_flat_map(move |nodes| {
        let edges = prop::collection::vec((0..nodes, 0..nodes), 0..nodes * edges_per_node);
        let roots = prop::collection::vec(0..nodes, 0..4);
        (edges, roots).prop_map(move |(edges, roots)| Graph::new(nodes, &edges, &roots))
    })
}

/// Mostly a long path with some jumps back and forth: where path compression works hardest.
fn path_with_jumps() -> impl Strategy<Value = Graph> {
    (10usize..60).prop_flat_map(|nodes| {
        prop::collection::vec((0..nodes, 0..nodes), 0..20).prop_map(move |jumps| {
            let mut edges: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
            edges.extend(jumps);
            Graph::new(nodes, &edges, &[0])
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn retained_sizes_are_those_of_the_definition_on_sparse_graphs(graph in any_graph(1..16, 2)) {
        prop_assert_eq!(graph.retained(), graph.retained_by_definition());
    }

    #[test]
    fn retained_sizes_are_those_of_the_definition_on_dense_graphs(graph in any_graph(1..24, 6)) {
        prop_assert_eq!(graph.retained(), graph.retained_by_definition());
    }

    #[test]
    fn retained_sizes_are_those_of_the_definition_on_paths_with_jumps(graph in path_with_jumps()) {
        prop_assert_eq!(graph.retained(), graph.retained_by_definition());
    }

    #[test]
    fn the_live_objects_are_those_that_the_roots_reach(graph in any_graph(1..24, 2)) {
        let mut live: Vec<usize> = graph.tree().live().iter().map(|object| object.at()).collect();
        live.sort_unstable();
        let reached = graph.reachable_without(None);
        let expected: Vec<usize> = (0..reached.len()).filter(|&node| reached[node]).collect();
        prop_assert_eq!(live, expected);
    }
}

#[test]
fn a_list_of_a_million_nodes_is_as_easy_as_a_short_one() {
    const NODES: usize = 1_000_000;
    let targets: Vec<ObjectIndex> = (1..NODES as u32).map(ObjectIndex).collect();
    let rows = (0..NODES).map(|node| targets.get(node..node + 1).unwrap_or(&[]));
    let edges = Edges::from_rows(rows);
    let (sizes, roots) = (vec![16; NODES], [ObjectIndex(0)]);
    let (_, retained) = DominatorTree::new(&edges, &sizes, &roots, &Control::default()).unwrap();
    assert_eq!(retained[0], 16 * NODES as u32);
    assert_eq!(retained[NODES - 1], 16);
}

#[test]
fn cancelled_work_stops() {
    let control = Control::default();
    control.cancel();
    let targets: Vec<ObjectIndex> = (0..200_000).map(ObjectIndex).collect();
    let rows = (0..200_000).map(|_| &[] as &[ObjectIndex]);
    let sizes = vec![16; targets.len()];
    let result = DominatorTree::new(&Edges::from_rows(rows), &sizes, &targets, &control);
    assert_eq!(result.unwrap_err().code(), "ABORT_ERR");
}
