//! Unreachable objects and blocks as a graph for viewers.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use super::answer::{UnreachableEdge, UnreachableGraph, UnreachableNode};
use super::keep_first::keep_first;
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{Cycles, ObjectState, RawTable};

/// The largest number of edges per node, on average.
const EDGES_PER_NODE: usize = 16;

/// The object or block of a node.
#[derive(Clone, Copy)]
enum GraphNode {
    Object(ObjectIndex),
    /// A raw block, by its number.
    Raw(u32),
}

/// The largest unreachable objects and lost blocks; then, up to the limit, the largest of the other
/// objects to which they refer.
pub(super) fn unreachable_graph(
    loaded: &LoadedHeap,
    cycles: &Cycles,
    raw: &RawTable,
    lost: &[u32],
    most: usize,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<UnreachableGraph> {
    let step = control.begin(Phase::View, 1);
    let order = |left: &GraphNode, right: &GraphNode| node_order(loaded, raw, *left, *right);
    let mut objects: Vec<GraphNode> = Vec::new();
    columns::reserve(&mut objects, cycles.objects().len() + lost.len())?;
    objects.extend(
        cycles
            .objects()
            .iter()
            .map(|&object| GraphNode::Object(object)),
    );
    objects.extend(lost.iter().map(|&nth| GraphNode::Raw(nth)));
    keep_first(&mut objects, most, order);
    step.advance(0)?;

    let mut others = Vec::new();
    for node in &objects {
        let GraphNode::Object(object) = *node else {
            continue;
        };
        for &target in loaded.heap.edges.targets(object) {
            if !loaded.heap.is_garbage(target) {
                columns::push(&mut others, target)?;
                if others.len().is_multiple_of(CHECK_INTERVAL) {
                    step.advance(0)?;
                }
            }
        }
    }
    others.sort_unstable();
    others.dedup();
    let mut others: Vec<GraphNode> = columns::collected(others.into_iter().map(GraphNode::Object))?;
    keep_first(&mut others, most - objects.len(), order);
    let mut nodes = objects;
    columns::extend(&mut nodes, &others)?;

    let numbers = cycle_numbers(cycles, &nodes);
    let edges = edges_between(loaded, &nodes, most, notes, control)?;
    let nodes = nodes.iter().map(|&node| match node {
        GraphNode::Object(object) => UnreachableNode {
            address: loaded.heap.address(object).0,
            address_text: loaded.shown(object).to_string(),
            class_name: Some(loaded.class_name(object).to_owned()),
            state: loaded.heap.state(object),
            shallow_size: loaded.heap.shallow_size(object),
            cycle: cycles
                .cycle_of(object)
                .and_then(|cycle| numbers.get(&cycle).copied()),
        },
        GraphNode::Raw(nth) => UnreachableNode {
            address: raw.payload(nth).into(),
            address_text: loaded.heap.address_form.of(raw.payload(nth)).to_string(),
            class_name: None,
            state: ObjectState::Raw,
            shallow_size: raw.size(nth).into(),
            cycle: None,
        },
    });
    Ok(UnreachableGraph {
        nodes: nodes.collect(),
        edges,
    })
}

/// Size ↓, class name ↑ (blocks without one last), address ↑.
fn node_order(loaded: &LoadedHeap, raw: &RawTable, left: GraphNode, right: GraphNode) -> Ordering {
    let size = |node| match node {
        GraphNode::Object(object) => loaded.heap.shallow_size(object),
        GraphNode::Raw(nth) => raw.size(nth).into(),
    };
    let class_name = |node| match node {
        GraphNode::Object(object) => (false, loaded.class_name(object)),
        GraphNode::Raw(_) => (true, ""),
    };
    let address = |node| match node {
        GraphNode::Object(object) => loaded.heap.address(object).0,
        GraphNode::Raw(nth) => raw.payload(nth).into(),
    };
    size(right)
        .cmp(&size(left))
        .then_with(|| class_name(left).cmp(&class_name(right)))
        .then_with(|| address(left).cmp(&address(right)))
}

/// The numbers of the cycles that have nodes: shallow size ↓, count ↓, first address ↑.
fn cycle_numbers(cycles: &Cycles, nodes: &[GraphNode]) -> HashMap<u32, u32> {
    let mut found: Vec<u32> = nodes
        .iter()
        .filter_map(|node| match *node {
            GraphNode::Object(object) => cycles.cycle_of(object),
            GraphNode::Raw(_) => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.sort_unstable_by_key(|&nth| {
        let cycle = &cycles.cycles()[nth as usize];
        (Reverse((cycle.shallow_size, cycle.count)), cycle.first)
    });
    found.into_iter().zip(0..).collect()
}

/// The references between nodes, in the order of their source nodes and of the references of each.
fn edges_between(
    loaded: &LoadedHeap,
    nodes: &[GraphNode],
    most: usize,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Vec<UnreachableEdge>> {
    let positions: HashMap<ObjectIndex, u32> = nodes
        .iter()
        .zip(0..)
        .filter_map(|(node, position)| match *node {
            GraphNode::Object(object) => Some((object, position)),
            GraphNode::Raw(_) => None,
        })
        .collect();
    let most = most.saturating_mul(EDGES_PER_NODE);
    let mut edges = Vec::new();
    let mut left_out = 0u64;
    for (node, from) in nodes.iter().zip(0..) {
        let GraphNode::Object(source) = *node else {
            continue;
        };
        let slot = loaded.heap.objects.class_slots[source.at()];
        for (nth, edge) in loaded.heap.edges.range(source).enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                control.check()?;
            }
            let Some(&to) = positions.get(&loaded.heap.edges.target(edge)) else {
                continue;
            };
            if edges.len() == most {
                left_out += 1;
                continue;
            }
            let field = loaded.heap.edges.label(edge).unwrap_or_default();
            let label = loaded.source.class_label(slot, field);
            columns::push(&mut edges, UnreachableEdge { from, to, label })?;
        }
    }
    if left_out > 0 {
        notes.push(Warning::EdgesLeftOut { count: left_out });
    }
    Ok(edges)
}
