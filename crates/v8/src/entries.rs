//! Pages of the elements and properties of an object of a snapshot.

use super::source::SnapshotSource;
use super::tables::{OrderedHashTable, Part, TableReference};
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::literal::literal;
use heap::{
    ContainerEntry, ContainerKind, ContainerPage, EdgeLabel, HeldValue, LabelKind, NameKind,
    ShownValue, Source, WantedEntries,
};

/// What is shown in the place of a key or a value that is not in the snapshot: a number, a boolean, null or undefined.
const MISSING: &str = "(not in the snapshot)";

impl SnapshotSource {
    /// A page of the elements and properties, in the order of the snapshot; `None` for strings and numbers. References that only
    /// V8 has are none: they are fields.
    pub(super) fn entries_of(
        &self,
        object: ObjectIndex,
        wanted: WantedEntries,
        control: &Control,
    ) -> Result<Option<ContainerPage>> {
        let edges = &self.heap().edges;
        let names = self.names();
        if names.is_string(object) || names.number(edges, object).is_some() {
            return Ok(None);
        }
        if let Some(table) = self.entry_table(object) {
            return self.entries_of_table(table, wanted, control).map(Some);
        }
        let slot = self.heap().objects.class_slots[object.at()];
        let mut entries = Vec::new();
        let mut total = 0u64;
        for (nth, position) in edges.range(object).enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                control.count(CHECK_INTERVAL as u64)?;
            }
            let label = edges.label(position).map(EdgeLabel::kind);
            let is_entry = matches!(
                label,
                Some(LabelKind::Element | LabelKind::Named(NameKind::Property, _))
            );
            if !is_entry {
                continue;
            }
            if total >= wanted.offset && (entries.len() as u64) < wanted.limit {
                entries.push(ContainerEntry {
                    index: total,
                    name: Some(self.label_at(slot, position)),
                    key: None,
                    value: self.held_value(edges.target(position)),
                });
            }
            total += 1;
        }
        Ok(Some(ContainerPage {
            kind: ContainerKind::Properties,
            total,
            offset: wanted.offset,
            limit: wanted.limit,
            entries,
        }))
    }

    /// A page of the entries of a map or a set, of which the key or the value is in the snapshot.
    fn entries_of_table(
        &self,
        table: OrderedHashTable,
        wanted: WantedEntries,
        control: &Control,
    ) -> Result<ContainerPage> {
        let references = self.table_references(table, control)?;
        let held = |reference: Option<&TableReference>| {
            let value = reference.map(|reference| self.held_value(reference.target));
            value.unwrap_or_else(|| HeldValue::plain(ShownValue::Text(MISSING.to_owned())))
        };
        let mut entries = Vec::new();
        let mut total = 0;
        for entry in references.chunk_by(|one, next| one.entry == next.entry) {
            if total >= wanted.offset && (entries.len() as u64) < wanted.limit {
                let part = |part| held(entry.iter().find(|one| one.part == part));
                let (key, value) = if table.is_map {
                    (Some(part(Part::Key)), part(Part::Value))
                } else {
                    (None, part(Part::Key))
                };
                entries.push(ContainerEntry {
                    index: total,
                    name: None,
                    key,
                    value,
                });
            }
            total += 1;
        }
        Ok(ContainerPage {
            kind: if table.is_map {
                ContainerKind::Map
            } else {
                ContainerKind::Set
            },
            total,
            offset: wanted.offset,
            limit: wanted.limit,
            entries,
        })
    }

    /// An object as a value: a number, a string, or its class and id.
    pub(super) fn held_value(&self, target: ObjectIndex) -> HeldValue {
        let names = self.names();
        let edges = &self.heap().edges;
        let class_name = self.class_name(target).to_owned();
        let address = self.heap().address(target).0;
        let text = || {
            if names.is_string(target) {
                literal(names.units(edges, target), true)
            } else {
                format!("{class_name} @{address}")
            }
        };
        let value = match names.number(edges, target) {
            Some(number) => number_value(number),
            None => ShownValue::Text(text()),
        };
        HeldValue {
            value,
            address: Some(address),
            address_text: Some(self.heap().address_form.of(address).to_string()),
            class_name: Some(class_name),
            function_name: None,
        }
    }
}

/// A number as V8 writes it. NaN and infinities are texts.
fn number_value(text: String) -> ShownValue {
    if let Ok(integer) = text.parse::<i32>() {
        return ShownValue::Integer(integer.into());
    }
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => ShownValue::Double(double),
        _ => ShownValue::Text(text),
    }
}
