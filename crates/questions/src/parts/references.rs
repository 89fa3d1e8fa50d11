//! The named references to an object, and which of them keep it alive.

use schemars::JsonSchema;
use serde::Serialize;

use super::joined::evidence;
use super::labels::after_class;
use super::roots::{Root, named_root};
use crate::loaded_heap::{LoadedHeap, ReferenceReader};
use crate::parts::host::other_label;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, HolderEvidence, OtherEdge, RootSlot};

/// A reference to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// The object that has the reference; null for a root.
    pub address: Option<u64>,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: Option<String>,
    /// The class of that object; null for a root.
    pub class_name: Option<String>,
    /// The reference, as in `Step.label`; null for a root.
    pub label: Option<String>,
    /// The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is.
    pub label_text: Option<String>,
    /// The root that has the reference; null for an object.
    pub root: Option<Root>,
    /// Whether this reference alone keeps the object reachable when all other references to it are cut.
    pub independent: bool,
    /// What speaks for the reference, if it leads from one of two joined heaps to the other. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<HolderEvidence>,
    /// True for a weak reference of a heap snapshot of V8, which keeps nothing alive; absent for others.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(extend("const" = true))]
    pub weak: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A reference to an object.
#[derive(Clone, Copy)]
pub(crate) enum Reference {
    /// From a global, the stack or a pin.
    Root(RootSlot),
    /// From an object; the number counts the references from this object to the same target before it.
    Object(ObjectIndex, usize),
    /// From an object; it keeps nothing alive.
    Other(OtherEdge),
}

/// The references of which each keeps a live object alive without the others: their number, and the first
/// of them.
pub(crate) fn independent_references(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    limit: usize,
    control: &Control,
) -> Result<(u64, Vec<Reference>)> {
    let dominators = loaded.dominator_index(control)?;
    let sources = loaded.referrers(control)?.of(object);
    let roots: Vec<Reference> = loaded.roots.of(object).map(Reference::Root).collect();
    let mut count = roots.len() as u64;
    let mut first = roots;
    first.truncate(limit);
    for (nth, &source) in sources.iter().enumerate() {
        if !dominators.dominates(object, source) {
            count += 1;
            if first.len() < limit {
                first.push(nth_reference(sources, nth));
            }
        }
    }
    Ok((count, first))
}

/// A reference, named.
pub(crate) fn named_edge(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    target: ObjectIndex,
    reference: Reference,
    control: &Control,
) -> Result<Edge> {
    Ok(match reference {
        Reference::Root(slot) => Edge {
            address: None,
            address_text: None,
            class_name: None,
            label: None,
            label_text: None,
            root: Some(named_root(loaded, slot)),
            independent: true,
            evidence: None,
            weak: false,
        },
        Reference::Object(source, skipped) => {
            let label = reference_label(loaded, reader, source, target, skipped)?;
            let independent = !loaded.dominator_index(control)?.dominates(target, source);
            Edge {
                evidence: evidence(loaded, source, target),
                ..edge_from(loaded, source, Some(label), independent, false)
            }
        }
        Reference::Other(edge) => {
            let label = other_label(loaded, edge);
            edge_from(loaded, edge.source, label, false, edge.is_weak)
        }
    })
}

fn edge_from(
    loaded: &LoadedHeap,
    source: ObjectIndex,
    label: Option<String>,
    independent: bool,
    weak: bool,
) -> Edge {
    Edge {
        address: Some(loaded.heap.address(source).0),
        address_text: Some(loaded.shown(source).to_string()),
        class_name: Some(loaded.class_name(source).to_owned()),
        label_text: label.as_deref().map(after_class),
        label,
        root: None,
        independent,
        evidence: None,
        weak,
    }
}

/// The label of the reference from `source` to `target` that follows `skipped` others.
pub(super) fn reference_label(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    source: ObjectIndex,
    target: ObjectIndex,
    skipped: usize,
) -> Result<String> {
    let edges = &loaded.heap.edges;
    match reader.references.find(edges, source, target, skipped) {
        Some((position, alike)) => reader.label_at(source, position, alike),
        None => reader.label(source, target, EdgeLabel::default(), 0),
    }
}

/// The `nth` of these referrers, which ascend.
pub(crate) fn nth_reference(sources: &[ObjectIndex], nth: usize) -> Reference {
    let source = sources[nth];
    let first = sources.partition_point(|&other| other < source);
    Reference::Object(source, nth - first)
}
