//! The roots of a snapshot: what the root and its parts refer to.
//!
//! V8 writes the places from which the collector starts as nodes, such as `(GC roots)` and `(Global handles)`. These are
//! not objects of the program. What they refer to are the roots of paths, with the name of the place. Sizes are
//! computed from the nodes to which the root itself refers, as DevTools does.

use super::ephemerons::Ephemerons;
use super::order::{NO_OBJECT, Order};
use super::raw::{EdgeKind, NodeKind, RawSnapshot};
use super::reached::{EntryKind, Reached, can_keep};
use super::strings::text;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{RootKind, RootSlots};

/// The name of roots that V8 keeps alive in ways that the snapshot does not show.
const UNREACHED: &str = "(no strong reference)";

pub(super) struct SnapshotRoots {
    /// Where paths begin, each with its name.
    pub(super) slots: RootSlots,
    /// What the root of the snapshot refers to, and what is alive without a strong reference: ascending by object,
    /// each with its first kind.
    pub(super) entries: Vec<(ObjectIndex, RootKind)>,
    /// The global objects, ascending.
    pub(super) globals: Vec<ObjectIndex>,
}

type NamedSlot = (RootKind, String, ObjectIndex);

impl SnapshotRoots {
    /// Finds them; without `wants_names` only the entries.
    pub(super) fn find(
        raw: &RawSnapshot,
        reached: &Reached,
        ephemerons: &Ephemerons,
        order: &Order,
        wants_names: bool,
        step: &Step<'_>,
    ) -> Result<Self> {
        let mut slots = entries(raw, reached, order)?;
        let mut roots: Vec<_> = slots
            .iter()
            .map(|&(kind, _, object)| (object, kind))
            .collect();
        roots.sort_unstable();
        roots.dedup_by_key(|&mut (object, _)| object);
        if !wants_names {
            return Ok(Self {
                slots: RootSlots::default(),
                entries: roots,
                globals: Vec::new(),
            });
        }

        let follows = |node: u32, edge: usize| {
            let target = raw.edge_targets[edge];
            let edge = (node, raw.edge_labels[edge], target);
            can_keep(raw.root, &raw.ids, ephemerons, edge)
                && reached.is_followed(raw.root, node, target)
                && reached.is_connected(node)
        };
        for node in 0..raw.len() as u32 {
            if (node as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if node == raw.root {
                continue;
            }
            let kept = raw.edges(node).filter(|&edge| follows(node, edge));
            if raw.kind(node) == NodeKind::Synthetic {
                add_of_part(raw, order, node, kept, &mut slots)?;
            } else if raw.name(node).starts_with(b"system / NativeContext") {
                add_globals(raw, order, kept, &mut slots)?;
            }
        }
        let is_global = |slot: &&NamedSlot| slot.0 == RootKind::Global;
        let mut globals: Vec<ObjectIndex> =
            slots.iter().filter(is_global).map(|slot| slot.2).collect();
        globals.sort_unstable();
        globals.dedup();
        Ok(Self {
            slots: RootSlots::of_named(slots)?,
            entries: roots,
            globals,
        })
    }
}

/// What the root of the snapshot refers to, and what is alive without a strong reference.
fn entries(raw: &RawSnapshot, reached: &Reached, order: &Order) -> Result<Vec<NamedSlot>> {
    let mut slots = Vec::new();
    for (node, entry) in reached.entries() {
        let object = order.object_of(node);
        if object == NO_OBJECT {
            continue;
        }
        let slot = match entry {
            EntryKind::Edge => {
                let kind = if raw.is_user_root(node) {
                    RootKind::Global
                } else {
                    RootKind::System
                };
                // The name of a string is what it contains.
                let name = if raw.kind(node).is_string() {
                    format!("({})", raw.type_names[raw.types[node as usize] as usize])
                } else if kind == RootKind::Global {
                    global_name(raw, node)
                } else {
                    text(raw.name(node)).into_owned()
                };
                (kind, name, ObjectIndex(object))
            }
            EntryKind::Orphan | EntryKind::Clique => {
                (RootKind::System, UNREACHED.to_owned(), ObjectIndex(object))
            }
        };
        columns::push(&mut slots, slot)?;
    }
    Ok(slots)
}

/// The objects to which a part of the root refers.
fn add_of_part(
    raw: &RawSnapshot,
    order: &Order,
    part: u32,
    edges: impl Iterator<Item = usize>,
    slots: &mut Vec<NamedSlot>,
) -> Result<()> {
    let name = text(raw.name(part));
    let kind = if raw.is_document_root(part) {
        RootKind::Global
    } else {
        RootKind::System
    };
    for edge in edges {
        let target = raw.edge_targets[edge];
        let object = order.object_of(target);
        if object != NO_OBJECT && raw.kind(target) != NodeKind::Synthetic {
            columns::push(slots, (kind, name.to_string(), ObjectIndex(object)))?;
        }
    }
    Ok(())
}

/// The global objects of a context: the one that scripts see, and the one with the variables.
fn add_globals(
    raw: &RawSnapshot,
    order: &Order,
    edges: impl Iterator<Item = usize>,
    slots: &mut Vec<NamedSlot>,
) -> Result<()> {
    for edge in edges {
        let is_internal = raw.edge_kind(edge) == EdgeKind::Internal;
        if !is_internal {
            continue;
        }
        let name = raw.strings.bytes(raw.edge_labels[edge].number());
        if !matches!(name, b"global_object" | b"global_proxy_object") {
            continue;
        }
        let target = raw.edge_targets[edge];
        let object = order.object_of(target);
        if object != NO_OBJECT {
            let slot = (
                RootKind::Global,
                global_name(raw, target),
                ObjectIndex(object),
            );
            columns::push(slots, slot)?;
        }
    }
    Ok(())
}

/// The name of a global object as scripts have it: `Window` of `Window / https://example.com`.
fn global_name(raw: &RawSnapshot, node: u32) -> String {
    let name = text(raw.name(node));
    let end = [" / ", " ["]
        .iter()
        .filter_map(|mark| name.find(mark))
        .min();
    match &name[..end.unwrap_or(name.len())] {
        "" => name.into_owned(),
        short => short.to_owned(),
    }
}
