//! What questions say of the objects of a snapshot, which has names and references, but no memory.

use super::LoadedHeap;
use super::answer::{FieldValue, Value};
use super::values::literal;
use crate::heap::{EdgeLabel, LabelKind, NameKind};
use crate::snapshots::{OtherEdge, SnapshotNames};
use crate::units::ObjectIndex;
use crate::warning::Warning;

/// The largest number of references of one object that are listed.
const MOST_FIELDS: usize = 1000;
/// The largest number of properties in a preview.
const ITEMS: usize = 10;

impl LoadedHeap {
    /// A short text of the contents: a string, the names of properties, or V8's name of the object.
    pub(super) fn snapshot_preview(
        &self,
        snapshot: &SnapshotNames,
        object: ObjectIndex,
    ) -> Option<String> {
        if snapshot.is_string(object) {
            return Some(literal(snapshot.units(&self.heap.edges, object), true));
        }
        let name = snapshot.name(object);
        if name == "Object" {
            let edges = &self.heap.edges;
            let names = edges.range(object).filter_map(|place| {
                match edges.label(place).map(EdgeLabel::kind) {
                    Some(LabelKind::Named(kind @ NameKind::Property, name)) => {
                        let label = snapshot.label(kind, name);
                        (label != "__proto__").then_some(label)
                    }
                    _ => None,
                }
            });
            let names: Vec<String> = names.take(ITEMS + 1).collect();
            let rest = if names.len() > ITEMS { ", …" } else { "" };
            let shown = names.len().min(ITEMS);
            return Some(format!("{{{}{rest}}}", names[..shown].join(", ")));
        }
        (!name.is_empty() && name != self.class_name(object)).then_some(name)
    }

    /// The references of an object, in the order of the snapshot; those that keep nothing alive come last.
    pub(super) fn snapshot_fields(
        &self,
        snapshot: &SnapshotNames,
        object: ObjectIndex,
        notes: &mut Vec<Warning>,
    ) -> Vec<FieldValue> {
        let edges = &self.heap.edges;
        let slot = self.heap.objects.class_slots[object.at()];
        let places = edges.range(object);
        let others: Vec<OtherEdge> = snapshot.other_edges_of(object).collect();
        if let Some(more @ 1..) = (places.len() + others.len()).checked_sub(MOST_FIELDS) {
            notes.push(Warning::EdgesLeftOut { count: more as u64 });
        }
        let value = |name: String, type_name: &str, target: ObjectIndex| {
            let class_name = self.class_name(target).to_owned();
            let address = self.heap.address(target).0;
            let value = match snapshot.is_string(target) {
                true => literal(snapshot.units(edges, target), true),
                false => format!("{class_name} @{address}"),
            };
            FieldValue {
                name,
                type_name: type_name.to_owned(),
                value: Value::Text(value),
                address: Some(address),
                class_name: Some(class_name),
            }
        };
        let field = |place: u32| {
            let label = edges.label(place).unwrap_or_default();
            let type_name = match label.kind() {
                LabelKind::Element => "element",
                LabelKind::Hidden => "hidden",
                LabelKind::Named(NameKind::Property, _) => "property",
                LabelKind::Named(NameKind::Context, _) => "context",
                _ => "internal",
            };
            value(self.label_at(slot, place), type_name, edges.target(place))
        };
        let others = others
            .iter()
            .map(|edge| value(edge.label(snapshot), edge.type_name(), edge.target));
        places.map(field).chain(others).take(MOST_FIELDS).collect()
    }
}
