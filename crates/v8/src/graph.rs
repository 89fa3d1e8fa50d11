//! The references that keep nodes alive, by the rules of DevTools, and the heap that they make.
//!
//! Objects are numbered by their ids, which take the place of addresses. The root of the snapshot is not an
//! object: what it refers to are the roots of the heap.

use std::collections::HashMap;

use rayon::prelude::*;

use super::classes::{NodeClass, NodeClasses, PlainObjects, classify};
use super::ephemerons::Ephemerons;
use super::names::SnapshotNames;
use super::order::{NO_OBJECT, Order};
use super::other_edges::OtherEdges;
use super::place_finder;
use super::places::Places;
use super::raw::{EdgeKind, RawSnapshot};
use super::reached::{Reached, can_keep};
use super::roots::SnapshotRoots;
use crate::warning::SnapshotWarning;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::{AddressForm, ObjectIndex};
use heap::{
    AllocationLines, Edges, Heap, HeapClass, NameKind, ObjectTable, RootKind, RootSlots,
    UnsizedTree, WideLabel, class_counts, live_classes, prefetch,
};

/// How many objects ahead the edges of a node are looked up, and read.
const NODES_AHEAD: usize = 16;
const EDGES_AHEAD: usize = 8;

/// Computes the heap of a snapshot. For questions, its references have labels, and the names of roots and of all else are
/// found; otherwise these are empty.
///
/// # Errors
/// [`SnapshotError::Unreadable`](crate::SnapshotError::Unreadable) if two nodes have one id, [`Error::OutOfMemory`], [`Error::Aborted`].
pub(super) fn solve(
    mut raw: RawSnapshot,
    for_questions: bool,
    control: &Control,
) -> Result<(Heap, RootSlots, SnapshotNames)> {
    let step = control.begin(Phase::References, 4);
    raw.propagate_detachedness(&step)?;
    let ephemerons = Ephemerons::find(&raw, &step)?;
    let scripts = if for_questions {
        raw.scripts(&step)?
    } else {
        HashMap::new()
    };
    let ((reached, plain), (distances, owners)) = side_by_side(
        || {
            let reached = Reached::find(&raw, &ephemerons, &step)?;
            Ok((reached, PlainObjects::find(&raw, &step)?))
        },
        || {
            let distances = if for_questions {
                raw.distances(&ephemerons, &step)?
            } else {
                Vec::new()
            };
            Ok((distances, raw.size_owners(&step)?))
        },
    )?;
    step.advance(2)?;
    let order = Order::by_id(&raw)?;
    let places = if for_questions {
        place_finder::find(&raw, &step)?
    } else {
        Places::default()
    };
    let path_starts = places.starts(&raw, &order)?;
    let is_partial = raw.is_cut;
    let outside_size = raw.extra_native_bytes;
    let warnings = raw
        .is_renumbered
        .then_some(SnapshotWarning::IdsRenumbered.into());
    let general = if for_questions {
        Some(GeneralNames::new(&mut raw, &ephemerons)?)
    } else {
        None
    };
    let SnapshotRoots {
        slots: roots,
        entries: root_nodes,
        globals,
    } = SnapshotRoots::find(&raw, &reached, &ephemerons, &order, for_questions, &step)?;
    let starts = roots_of_page_first(&root_nodes);
    let selection = EdgeSelection {
        root: raw.root,
        ids: std::mem::take(&mut raw.ids),
        first_edges: std::mem::take(&mut raw.first_edges),
        labels: std::mem::take(&mut raw.edge_labels),
        targets: std::mem::take(&mut raw.edge_targets),
        reached,
        ephemerons,
        general,
    };
    let ((ids, edges, other_edges, tree), (objects, names)) = side_by_side(
        || {
            let (ids, edges, other_edges) = selection.edges(&order, &step)?;
            let tree = UnsizedTree::new(&edges, &starts, control)?;
            Ok((ids, edges, other_edges, tree))
        },
        || {
            let columns = (plain, distances, owners);
            objects_and_names(raw, columns, for_questions, &order, &step, control)
        },
    )?;
    let mut objects = ObjectTable {
        addresses: ids.into(),
        ..objects
    };
    objects.place_slots = places.slots(&order, &objects.class_slots, &mut objects.classes)?;
    let names = SnapshotNames {
        other_edges,
        globals,
        scripts,
        ..names
    };
    drop((step, order));
    let (dominators, retained_sizes, huge_retained_sizes) =
        tree.with_sizes(&objects.shallow_sizes, &objects.huge_sizes, control)?;
    let mut heap = Heap {
        total_size: None,
        live_size: 0,
        outside_size,
        edges,
        roots: root_nodes,
        dominators,
        retained_sizes,
        huge_retained_sizes,
        live_classes: Vec::new(),
        accounting: None,
        unreferenced: None,
        address_form: AddressForm::Id,
        root_kinds: &[RootKind::Global, RootKind::System],
        is_partial,
        warnings: warnings.into_iter().collect(),
        objects,
    };
    heap.live_classes = live_classes(&heap);
    heap.live_size = heap
        .live_classes
        .iter()
        .map(|class| class.shallow_size)
        .sum();
    Ok((heap, roots.with_starts(path_starts)?, names))
}

fn roots_of_page_first(roots: &[(ObjectIndex, RootKind)]) -> Vec<ObjectIndex> {
    let mut by_kind = roots.to_vec();
    by_kind.sort_unstable_by_key(|&(object, kind)| (kind, object));
    by_kind.into_iter().map(|(object, _)| object).collect()
}

/// The columns of objects without their ids, and for questions the names without the references that keep nothing alive.
/// Reports the classes.
fn objects_and_names(
    mut raw: RawSnapshot,
    (mut plain, distances, owners): (PlainObjects, Vec<i32>, Vec<u32>),
    for_questions: bool,
    order: &Order,
    step: &Step<'_>,
    control: &Control,
) -> Result<(ObjectTable, SnapshotNames)> {
    let interfaces = plain.interfaces(&raw.strings, step)?;
    let mut sizes = std::mem::take(&mut raw.sizes);
    raw.attribute_sizes(&mut sizes, &owners);
    // The owners are not needed any more, but their memory is.
    let (slots, classes) = classify(&raw, &sizes, owners, &plain, &interfaces, step)?;
    for node in &mut plain.nodes {
        *node = order.object_of(*node);
    }
    let mut huge_sizes: Vec<(ObjectIndex, u64)> = sizes
        .huge
        .iter()
        .filter(|&(&node, _)| sizes.low[node as usize] == heap::HUGE)
        .map(|(&node, &size)| (ObjectIndex(order.object_of(node)), size))
        .filter(|&(object, _)| object.0 != NO_OBJECT)
        .collect();
    huge_sizes.sort_unstable();
    let class_slots = order.column(slots)?;
    let objects = ObjectTable {
        shallow_sizes: order.column(sizes.low)?,
        huge_sizes,
        classes: heap_classes(classes, &class_slots),
        class_slots,
        ..ObjectTable::default()
    };
    // Every node is reached: those that no other one keeps alive are entries.
    let reached = (0..objects.class_slots.len() as u32)
        .into_par_iter()
        .map(ObjectIndex);
    control.report_classes(|| class_counts(&objects, reached));
    if !for_questions {
        return Ok((objects, SnapshotNames::default()));
    }
    let is_detached = raw
        .detachedness
        .iter()
        .map(|&state| state == super::attribution::DETACHED);
    let names = SnapshotNames {
        is_detached: order.column(columns::collected(is_detached)?)?,
        names: order.column(raw.names)?,
        types: order.column(raw.types)?,
        kinds: raw.kinds,
        distances: order.column(distances)?,
        strings: raw.strings,
        other_edges: OtherEdges::default(),
        plain,
        interfaces,
        globals: Vec::new(),
        scripts: HashMap::new(),
        allocations: match raw.allocations {
            Some(found) => Some(AllocationLines {
                line_of: order.column(found.line_of)?,
                ..found
            }),
            None => None,
        },
    };
    Ok((objects, names))
}

fn heap_classes(classes: NodeClasses, slots: &[u32]) -> Vec<HeapClass> {
    let mut counts = vec![0u64; classes.all.len()];
    for &slot in slots {
        counts[slot as usize] += 1;
    }
    let all = classes.all.into_iter().zip(counts);
    all.map(|(NodeClass { name, origin }, count)| HeapClass {
        name,
        origin,
        evidence: None,
        count,
    })
    .collect()
}

/// The edges of a snapshot, and what is needed to select those that keep their targets alive.
struct EdgeSelection {
    root: u32,
    ids: Vec<u32>,
    first_edges: Vec<u32>,
    labels: Vec<WideLabel>,
    targets: Vec<u32>,
    reached: Reached,
    ephemerons: Ephemerons,
    /// Only if labels are wanted.
    general: Option<GeneralNames>,
}

impl EdgeSelection {
    /// The ids of the objects, the graph over them, and the references that are not part of it.
    fn edges(self, order: &Order, step: &Step<'_>) -> Result<(Vec<u32>, Edges, OtherEdges)> {
        match order {
            Order::OfFile { .. } => self.edges_in_place(order, step),
            Order::ById { nodes, .. } => self.edges_by_id(order, nodes, step),
        }
    }

    /// The same, if objects are in the order of the file: the graph takes the memory of the edges.
    fn edges_in_place(
        mut self,
        order: &Order,
        step: &Step<'_>,
    ) -> Result<(Vec<u32>, Edges, OtherEdges)> {
        let mut others = OtherEdges::default();
        let mut count = 0;
        let mut end = 0;
        for node in 0..self.ids.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let start = std::mem::replace(&mut end, self.first_edges[node as usize + 1] as usize);
            let object = order.object_of(node);
            if object == NO_OBJECT {
                continue;
            }
            self.first_edges[object as usize] = count as u32;
            for edge in start..end {
                let (label, target) = (self.labels[edge], self.targets[edge]);
                let to = order.object_of(target);
                if to == NO_OBJECT {
                    continue;
                }
                if self.is_selected(node, label, target) {
                    if let Some(general) = &self.general {
                        self.labels[count] = general.label(label);
                    }
                    self.targets[count] = to;
                    count += 1;
                } else if let Some(general) = &self.general {
                    let kind = EdgeKind::of_label(label);
                    let label = general.label(label);
                    others.push(ObjectIndex(object), ObjectIndex(to), kind, label)?;
                }
            }
        }
        let objects = self.ids.len() - 1;
        self.first_edges[objects] = count as u32;
        self.first_edges.truncate(objects + 1);
        let labels = if self.general.is_some() { count } else { 0 };
        self.labels.truncate(labels);
        self.targets.truncate(count);
        // This takes the memory over.
        let targets = self.targets.into_iter().map(ObjectIndex).collect();
        Self::shrunk(
            order.column(self.ids)?,
            (self.first_edges, targets, self.labels),
            others,
        )
    }

    fn edges_by_id(
        self,
        order: &Order,
        nodes: &[u32],
        step: &Step<'_>,
    ) -> Result<(Vec<u32>, Edges, OtherEdges)> {
        let mut offsets = columns::with_capacity(nodes.len() + 1)?;
        let mut targets = columns::with_capacity(self.targets.len())?;
        let mut labels = Vec::new();
        if self.general.is_some() {
            columns::reserve(&mut labels, self.targets.len())?;
        }
        offsets.push(0);
        let mut others = OtherEdges::default();
        for (object, &node) in nodes.iter().enumerate() {
            if object % CHECK_INTERVAL == 0 {
                step.advance(0)?;
            }
            if let Some(&ahead) = nodes.get(object + NODES_AHEAD) {
                prefetch(&self.first_edges, ahead);
            }
            if let Some(&ahead) = nodes.get(object + EDGES_AHEAD) {
                let first = self.first_edges[ahead as usize];
                prefetch(&self.labels, first);
                prefetch(&self.targets, first);
            }
            let edges = self.first_edges[node as usize]..self.first_edges[node as usize + 1];
            for edge in edges {
                let (label, target) = (self.labels[edge as usize], self.targets[edge as usize]);
                let to = order.object_of(target);
                if to == NO_OBJECT {
                    continue;
                }
                if self.is_selected(node, label, target) {
                    if let Some(general) = &self.general {
                        labels.push(general.label(label));
                    }
                    targets.push(ObjectIndex(to));
                } else if let Some(general) = &self.general {
                    let kind = EdgeKind::of_label(label);
                    let label = general.label(label);
                    others.push(ObjectIndex(object as u32), ObjectIndex(to), kind, label)?;
                }
            }
            offsets.push(targets.len() as u32);
        }
        Self::shrunk(order.column(self.ids)?, (offsets, targets, labels), others)
    }

    fn shrunk(
        ids: Vec<u32>,
        (offsets, mut targets, mut labels): (Vec<u32>, Vec<ObjectIndex>, Vec<WideLabel>),
        mut others: OtherEdges,
    ) -> Result<(Vec<u32>, Edges, OtherEdges)> {
        targets.shrink_to_fit();
        labels.shrink_to_fit();
        others.shrink();
        Ok((ids, Edges::from_columns(offsets, targets, labels), others))
    }

    #[inline(always)]
    fn is_selected(&self, node: u32, label: WideLabel, target: u32) -> bool {
        can_keep(
            self.root,
            &self.ids,
            &self.ephemerons,
            (node, label, target),
        ) && self.reached.is_followed(self.root, node, target)
            && self.reached.is_connected(node)
    }
}

/// The names of internal edges without what differs between edges of one kind: V8 numbers some of them, and names
/// the values of weak maps by key, value and table.
struct GeneralNames {
    /// By number of a name: the label of internal edges.
    labels: Vec<WideLabel>,
}

fn index_of(name: &[u8]) -> Option<u32> {
    let is_index = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(name).ok().filter(|_| is_index)?;
    text.parse().ok()
}

/// The name of a reference from a key of a weak map to its value.
pub(crate) const WEAK_MAP_VALUE: &[u8] = b"value in WeakMap";

impl GeneralNames {
    fn new(raw: &mut RawSnapshot, ephemerons: &Ephemerons) -> Result<Self> {
        let internal = |name| WideLabel::named(NameKind::Internal, name);
        let mut labels = columns::collected((0..raw.strings.len() as u32).map(internal))?;
        let mut added: HashMap<Vec<u8>, u32> = HashMap::new();
        for &name in &raw.internal_names {
            let text = raw.strings.bytes(name);
            // V8 names the elements of its own arrays by their numbers.
            if let Some(index) = index_of(text) {
                labels[name as usize] = WideLabel::hidden(index);
                continue;
            }
            let general = match ephemerons.of_name(name) {
                Some(_) => WEAK_MAP_VALUE,
                None => {
                    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    match text[digits..].strip_prefix(b" / ") {
                        Some(rest) if digits > 0 => rest,
                        _ => continue,
                    }
                }
            };
            let general = general.to_vec();
            let number = match added.get(&general) {
                Some(&number) => number,
                None => {
                    let number = raw.strings.add(&general)?;
                    added.insert(general, number);
                    number
                }
            };
            labels[name as usize] = internal(number);
        }
        Ok(Self { labels })
    }

    #[inline]
    fn label(&self, label: WideLabel) -> WideLabel {
        match EdgeKind::of_label(label) {
            EdgeKind::Element | EdgeKind::Hidden | EdgeKind::Property | EdgeKind::Context => label,
            EdgeKind::Internal | EdgeKind::Shortcut | EdgeKind::Weak | EdgeKind::Invisible => {
                self.labels[label.number() as usize]
            }
        }
    }
}
