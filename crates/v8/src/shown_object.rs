//! What an object looks like: a preview of its contents, and its references as fields.

use super::other_edges::NamedEdge;
use super::source::SnapshotSource;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::literal::literal;
use heap::{EdgeLabel, FieldValue, LabelKind, NameKind, Source};

/// The largest number of references of one object that are listed.
const MOST_FIELDS: usize = 1000;
/// The largest number of properties in a preview.
const ITEMS: usize = 10;

impl SnapshotSource {
    /// A short text of the contents: a string, the names of properties, or V8's name of the object.
    pub(super) fn preview_of(&self, object: ObjectIndex) -> Option<String> {
        let snapshot = self.names();
        if snapshot.is_string(object) {
            return Some(literal(snapshot.units(&self.heap().edges, object), true));
        }
        if let Some(value) = snapshot.number(&self.heap().edges, object) {
            return Some(value);
        }
        let name = snapshot.name(object);
        if name == "Object" {
            let edges = &self.heap().edges;
            let names: Vec<String> = edges
                .range(object)
                .filter_map(
                    |position| match edges.label(position).map(EdgeLabel::kind) {
                        Some(LabelKind::Named(kind @ NameKind::Property, name)) => {
                            let label = snapshot.label(kind, name);
                            (label != "__proto__").then_some(label)
                        }
                        _ => None,
                    },
                )
                .take(ITEMS + 1)
                .collect();
            let rest = if names.len() > ITEMS { ", …" } else { "" };
            let shown = names.len().min(ITEMS);
            return Some(format!("{{{}{rest}}}", names[..shown].join(", ")));
        }
        (!name.is_empty() && name != self.class_name(object)).then_some(name)
    }

    /// The references of an object, in the order of the snapshot; those that keep nothing alive come last.
    pub(super) fn fields_of(
        &self,
        object: ObjectIndex,
        notes: &mut Vec<Warning>,
    ) -> Vec<FieldValue> {
        let snapshot = self.names();
        let edges = &self.heap().edges;
        let slot = self.heap().objects.class_slots[object.at()];
        let positions = edges.range(object);
        let others: Vec<NamedEdge> = snapshot.other_edges_of(object).collect();
        if let Some(more @ 1..) = (positions.len() + others.len()).checked_sub(MOST_FIELDS) {
            notes.push(Warning::EdgesLeftOut { count: more as u64 });
        }
        let value = |name: String, type_name: &str, target: ObjectIndex| {
            let held = self.held_value(target);
            FieldValue {
                name,
                type_name: type_name.to_owned(),
                value: held.value,
                address: held.address,
                class_name: held.class_name,
                function_name: None,
            }
        };
        let field = |position: u32| {
            let label = edges.label(position).unwrap_or_default();
            let type_name = match label.kind() {
                LabelKind::Element => "element",
                LabelKind::Hidden => "hidden",
                LabelKind::Named(NameKind::Property, _) => "property",
                LabelKind::Named(NameKind::Context, _) => "context",
                _ => "internal",
            };
            value(
                self.label_at(slot, position),
                type_name,
                edges.target(position),
            )
        };
        let others = others
            .iter()
            .map(|edge| value(snapshot.other_label(*edge), edge.type_name(), edge.target));
        positions
            .map(field)
            .chain(others)
            .take(MOST_FIELDS)
            .collect()
    }
}
