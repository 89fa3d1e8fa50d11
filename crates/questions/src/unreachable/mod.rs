//! Unreachable memory: garbage by class and its cycles, and raw blocks to which nothing refers. Of a native program,
//! which has neither: the blocks to which nothing refers.

mod answer;
mod cycles;
mod entries;
mod graph;
mod keep_first;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::QuestionError;
use crate::lacking::require;
use crate::loaded_heap::LoadedHeap;
use crate::parts::page::{default_limit, limit_schema, page};
pub use answer::{
    CycleClass, CycleGroup, Garbage, GarbageClass, GarbageCycles, RawBlock, RawBlocks, Unreachable,
    UnreachableEdge, UnreachableGraph, UnreachableNode, UnreferencedBlocks,
};
use base::control::Control;
use base::error::Result;
use base::warning::Warning;
use cycles::cycle_groups;
use entries::unreferenced_objects;
pub use entries::{UnreferencedEntry, UnreferencedObjects};
use graph::unreachable_graph;
use heap::{Cycles, RawTable};
use keep_first::keep_first;

/// Whether to make a graph, and how many entries to list.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnreachableOptions {
    /// The largest number of nodes in the graph: a whole number ≥ 1 (default: no graph). The graph has at most 16 edges
    /// per node; if there are more, a warning says how many are left out.
    #[serde(default)]
    #[schemars(
        range(min = 1),
        extend("x-cli" = "--max-nodes <n>: in JSON, add a graph of at most n objects and blocks (default: no graph)")
    )]
    pub max_nodes: Option<u64>,
    /// How many entries to list of each kind: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
}

/// Unreachable memory: garbage, its cycles, and raw blocks to which nothing refers.
///
/// # Errors
/// [`Error`](base::Error): the source's own if it has no garbage, `InvalidOption` for a limit or a number of
/// nodes of 0, `DumpChanged` and `Io` if the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn unreachable(
    loaded: &LoadedHeap,
    options: &UnreachableOptions,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Unreachable> {
    let source = &*loaded.source;
    require(source, "unreachable", source.facts().lacks.garbage)?;
    let limit = page(0, options.limit)?.end();
    let max_nodes = options.max_nodes;
    if max_nodes == Some(0) {
        return Err(QuestionError::InvalidOption {
            name: "maxNodes",
            found: "0".to_owned(),
            expected: "a whole number of at least 1",
        }
        .into());
    }
    let cycles = Cycles::new(&loaded.heap, control)?;
    let (raw, lost) = match source.memory() {
        Some(memory) => {
            let raw = memory.raw_blocks(control)?;
            let lost = memory.unreferenced_blocks(&raw, notes, control)?;
            (raw, lost)
        }
        None => (RawTable::default(), Some(Vec::new())),
    };
    let graph = match max_nodes {
        Some(most) => {
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let lost = lost.as_deref().unwrap_or_default();
            Some(unreachable_graph(
                loaded, &cycles, &raw, lost, most, notes, control,
            )?)
        }
        None => None,
    };
    let shallow_size = cycles
        .objects()
        .iter()
        .map(|&object| loaded.heap.shallow_size(object));
    Ok(Unreachable {
        garbage: Garbage {
            count: cycles.objects().len() as u64,
            shallow_size: shallow_size.sum(),
            classes: garbage_classes(loaded, &cycles, limit),
            cycles: cycle_groups(loaded, &cycles, limit, control)?,
        },
        raw: RawBlocks {
            count: raw.len() as u64,
            size: raw.total_size(),
            unreferenced: lost.map(|lost| unreferenced(loaded, &raw, lost, limit)),
        },
        unreferenced: unreferenced_objects(loaded, limit, control)?,
        graph,
    })
}

fn garbage_classes(loaded: &LoadedHeap, cycles: &Cycles, limit: usize) -> Vec<GarbageClass> {
    let heap = &loaded.heap;
    let mut sums = vec![(0u64, 0u64); heap.objects.classes.len()];
    for &object in cycles.objects() {
        let (count, size) = &mut sums[heap.objects.class_slots[object.at()] as usize];
        *count += 1;
        *size += heap.shallow_size(object);
    }
    // Classes may share a name.
    let mut by_name: HashMap<&str, (u64, u64)> = HashMap::new();
    for (class, (count, size)) in heap.objects.classes.iter().zip(sums) {
        if count > 0 {
            let sum = by_name.entry(class.name.as_str()).or_default();
            sum.0 += count;
            sum.1 += size;
        }
    }
    let mut classes: Vec<GarbageClass> = by_name
        .into_iter()
        .map(|(name, (count, shallow_size))| GarbageClass {
            class_name: name.to_owned(),
            count,
            shallow_size,
        })
        .collect();
    keep_first(&mut classes, limit, |left, right| {
        let sizes = |class: &GarbageClass| (class.shallow_size, class.count);
        sizes(right)
            .cmp(&sizes(left))
            .then_with(|| left.class_name.cmp(&right.class_name))
    });
    classes
}

/// The answer about these blocks of the table.
fn unreferenced(
    loaded: &LoadedHeap,
    raw: &RawTable,
    lost: Vec<u32>,
    limit: usize,
) -> UnreferencedBlocks {
    let block = |nth: u32| RawBlock {
        address: raw.payload(nth).into(),
        address_text: loaded.heap.address_form.of(raw.payload(nth)).to_string(),
        size: raw.size(nth),
    };
    let count = lost.len() as u64;
    let size = lost.iter().map(|&nth| u64::from(raw.size(nth))).sum();
    let mut largest = lost;
    keep_first(&mut largest, limit, |&left, &right| {
        raw.size(right)
            .cmp(&raw.size(left))
            .then_with(|| left.cmp(&right))
    });
    UnreferencedBlocks {
        count,
        size,
        blocks: largest.into_iter().map(block).collect(),
    }
}
