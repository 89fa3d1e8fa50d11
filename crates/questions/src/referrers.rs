//! The named references to an object, and which of them keep it alive.

use crate::reader::Reader;

use super::LoadedHeap;
use super::answer::{Cut, Edge, Referrers, Root};
use super::question::Page;
use crate::object_at::object_at;
use crate::roots::named_root;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{EdgeLabel, OtherEdge, RootSlot};

/// A reference to an object.
#[derive(Clone, Copy)]
pub(super) enum Reference {
    /// From a global, the stack or a pin.
    Root(RootSlot),
    /// From an object; the number counts the references from this object to the same target before it.
    Object(ObjectIndex, usize),
    /// From an object; it keeps nothing alive.
    Other(OtherEdge),
}

pub(super) fn referrers_of(
    loaded: &LoadedHeap,
    address: u32,
    page: Page,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Referrers> {
    let object = object_at(loaded, address, notes, control)?;
    let roots: Vec<RootSlot> = loaded.roots.of(object).collect();
    let sources = loaded.referrers(control)?.of(object);
    // As in DevTools, what keeps the object alive comes first.
    let others = loaded.source.other_edges_to(object);
    let strong = roots.len() + sources.len();
    let references = 0..strong + others.len();
    let mut reader = loaded.reader(control);
    let mut referrers = Vec::new();
    for nth in page.of(references.clone()) {
        let reference = match (roots.get(nth), nth.checked_sub(strong)) {
            (Some(&slot), _) => Reference::Root(slot),
            (None, Some(nth)) => Reference::Other(others[nth]),
            (None, None) => nth_reference(sources, nth - roots.len()),
        };
        referrers.push(named_edge(loaded, &mut reader, object, reference, control)?);
    }
    Ok(Referrers {
        address: loaded.heap.address(object).0,
        total: references.len() as u64,
        offset: page.offset,
        limit: page.limit,
        referrers,
    })
}

/// The references of which each keeps a live object alive without the others: their number, and the first
/// of them.
pub(super) fn independent_references(
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
pub(super) fn named_edge(
    loaded: &LoadedHeap,
    reader: &mut Reader<'_>,
    target: ObjectIndex,
    reference: Reference,
    control: &Control,
) -> Result<Edge> {
    Ok(match reference {
        Reference::Root(slot) => Edge {
            address: None,
            class_name: None,
            label: None,
            root: Some(named_root(loaded, slot)),
            independent: true,
            weak: false,
        },
        Reference::Object(source, skipped) => Edge {
            address: Some(loaded.heap.address(source).0),
            class_name: Some(loaded.class_name(source).to_owned()),
            label: Some(reference_label(loaded, reader, source, target, skipped)?),
            root: None,
            independent: !loaded.dominator_index(control)?.dominates(target, source),
            weak: false,
        },
        Reference::Other(edge) => Edge {
            address: Some(loaded.heap.address(edge.source).0),
            class_name: Some(loaded.class_name(edge.source).to_owned()),
            label: loaded.source.other_label(edge),
            root: None,
            independent: false,
            weak: edge.is_weak,
        },
    })
}

/// The bytes that cutting a reference frees, if it is the only independent one.
pub(super) fn named_cut(
    loaded: &LoadedHeap,
    reader: &mut Reader<'_>,
    target: ObjectIndex,
    reference: Reference,
    freed: u64,
) -> Result<Cut> {
    let (class_name, label, root): (_, _, Option<Root>) = match reference {
        Reference::Root(slot) => (None, None, Some(named_root(loaded, slot))),
        Reference::Object(source, skipped) => (
            Some(loaded.class_name(source).to_owned()),
            Some(reference_label(loaded, reader, source, target, skipped)?),
            None,
        ),
        Reference::Other(edge) => (
            Some(loaded.class_name(edge.source).to_owned()),
            loaded.source.other_label(edge),
            None,
        ),
    };
    Ok(Cut {
        class_name,
        label,
        root,
        freed,
    })
}

/// The label of the reference from `source` to `target` that follows `skipped` others.
fn reference_label(
    loaded: &LoadedHeap,
    reader: &mut Reader<'_>,
    source: ObjectIndex,
    target: ObjectIndex,
    skipped: usize,
) -> Result<String> {
    let edges = &loaded.heap.edges;
    match reader.references.find(edges, source, target, skipped) {
        Some((place, alike)) => reader.label_at(source, place, alike),
        None => reader.label(source, target, EdgeLabel::default(), 0),
    }
}

/// The `nth` of these referrers, which ascend.
fn nth_reference(sources: &[ObjectIndex], nth: usize) -> Reference {
    let source = sources[nth];
    let first = sources.partition_point(|&other| other < source);
    Reference::Object(source, nth - first)
}
