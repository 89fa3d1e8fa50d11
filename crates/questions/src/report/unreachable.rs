//! What no root reaches, with the fields of the objects that the graph shows.

use serde::Serialize;

use crate::loaded_heap::LoadedHeap;
use crate::unreachable::{Unreachable, UnreachableOptions, unreachable};
use base::control::Control;
use base::error::Result;
use base::units::ObjectAddress;
use base::warning::Warning;
use heap::FieldValue;

/// Nodes of the graph.
const NODES: u64 = 200;

/// Entries of the lists.
const ENTRIES: u64 = 50;

/// Fields of a node.
const FIELDS: usize = 12;

#[derive(Serialize)]
pub(super) struct UnreachablePart {
    #[serde(flatten)]
    answer: Unreachable,
    /// By node of the graph.
    fields: Vec<NodeFields>,
}

#[derive(Default, Serialize)]
struct NodeFields {
    /// How many there are.
    total: usize,
    /// The first of them.
    fields: Vec<FieldValue>,
}

pub(super) fn unreachable_part(
    loaded: &LoadedHeap,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<UnreachablePart> {
    let options = UnreachableOptions {
        max_nodes: Some(NODES),
        limit: ENTRIES,
    };
    let answer = unreachable(loaded, &options, notes, control)?;
    let nodes = answer.graph.iter().flat_map(|graph| &graph.nodes);
    let mut reader = loaded.reader(control);
    let mut fields = Vec::new();
    for node in nodes {
        fields.push(match loaded.heap.objects.at(ObjectAddress(node.address)) {
            Some(object) => {
                let mut fields = reader.fields(object, &mut Vec::new())?;
                let total = fields.len();
                fields.truncate(FIELDS);
                NodeFields { total, fields }
            }
            None => NodeFields::default(),
        });
    }
    Ok(UnreachablePart { answer, fields })
}
