//! The tables that grow with the heap: its objects, and the references between them.

use questions::group_text;
use std::collections::HashMap;
use std::io::Write;

use super::table_export::{AddressColumns, TableExport, begin};
use super::writer::ColumnValue;
use base::columns;
use base::control::Phase;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, PathGroup, ReadOrder};
use questions::{ObjectState, root_kind_name};

/// Rows between two reports.
const REPORT: usize = 1 << 12;

fn object_columns(addresses: AddressColumns) -> String {
    let [address, dominator] = ["address", "dominator"].map(|name| addresses.column(name));
    format!(
        "required {address};
        required binary class (STRING);
        required binary state (STRING);
        required int64 shallow_size (INTEGER(64,false));
        required int64 retained_size (INTEGER(64,false));
        optional {dominator};
        optional binary fingerprint (STRING);
        optional binary contents (STRING);"
    )
}

fn edge_columns(addresses: AddressColumns) -> String {
    let [source, target] = ["source", "target"].map(|name| addresses.column(name));
    format!(
        "optional {source};
        required {target};
        required binary label (STRING);
        optional binary root_kind (STRING);"
    )
}

impl TableExport<'_> {
    fn class_names(&self) -> Vec<ColumnValue> {
        let classes = self.heap.heap().objects.classes.iter();
        classes.map(|class| self.named(&class.name)).collect()
    }

    /// All objects by address, static ones first.
    pub(super) fn objects(&self, out: &mut dyn Write) -> Result<()> {
        let heap = self.heap.heap();
        let index = self.heap.dominator_index(self.control)?;
        let tree = self.heap.path_tree(self.control)?;
        let step = self.control.begin(Phase::Export, heap.objects.len() as u64);
        let classes = self.class_names();
        let [live, garbage, of_data] =
            [ObjectState::Live, ObjectState::Garbage, ObjectState::Static]
                .map(|state| ColumnValue::from(state.name()));
        let mut fingerprints: Vec<Option<ColumnValue>> =
            columns::repeated(None, tree.groups().len())?;
        let mut reader = self
            .heap
            .source()
            .reader(ReadOrder::Ascending, self.control);
        let addresses = self.address_columns();
        let mut table = begin(out, "object", &object_columns(addresses), &["address"])?;
        for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
            if object.at().is_multiple_of(REPORT) {
                step.advance(REPORT as u64)?;
            }
            let state = match heap.state(object) {
                ObjectState::Static => &of_data,
                ObjectState::Garbage => &garbage,
                _ => &live,
            };
            let dominator = index
                .position(object)
                .and_then(|position| index.dominator(position))
                .map(|dominator| addresses.value(heap.address(index.object(dominator))));
            let fingerprint = if tree.is_reached(object) {
                Some(self.fingerprint(tree.group(object), &mut fingerprints)?)
            } else {
                None
            };
            let contents = if self.options.strings {
                reader.literal(object)?
            } else {
                None
            };
            table.add(self.id());
            table.add(addresses.value(heap.address(object)));
            table.add(classes[heap.objects.class_slots[object.at()] as usize].clone());
            table.add(state.clone());
            table.add(ColumnValue::from(heap.shallow_size(object)));
            table.add(ColumnValue::from(heap.retained_size(object)));
            table.add(dominator);
            table.add(fingerprint.flatten());
            table.add(contents.map(|contents| ColumnValue::from(contents.as_str())));
            table.end_row()?;
        }
        table.finish()
    }

    /// The fingerprint of a group; `None` for paths that are not told apart.
    fn fingerprint(
        &self,
        group: PathGroup,
        known: &mut [Option<ColumnValue>],
    ) -> Result<Option<ColumnValue>> {
        if group == PathGroup::REST {
            return Ok(None);
        }
        let known = &mut known[group.0 as usize];
        if known.is_none() {
            let path = group_text(self.heap, group, self.control)?;
            *known = Some(ColumnValue::from(path.fingerprint().as_str()));
        }
        Ok(known.clone())
    }

    /// The references of the roots, then those of all objects by address and label; of a snapshot in its order.
    pub(super) fn edges(&self, out: &mut dyn Write) -> Result<()> {
        let heap = self.heap.heap();
        let step = self.control.begin(Phase::Export, heap.objects.len() as u64);
        let addresses = self.address_columns();
        let mut table = begin(out, "edge", &edge_columns(addresses), &["source", "target"])?;
        let roots = self.heap.root_slots();
        for &slot in roots.all() {
            table.add(self.id());
            table.add(None);
            table.add(addresses.value(heap.address(slot.object)));
            let name = roots.name(slot).unwrap_or_default();
            table.add(self.named(&name));
            table.add(ColumnValue::from(root_kind_name(slot.kind)));
            table.end_row()?;
        }
        let mut labels: HashMap<(u32, EdgeLabel), ColumnValue> = HashMap::new();
        for source in (0..heap.objects.len() as u32).map(ObjectIndex) {
            if source.at().is_multiple_of(REPORT) {
                step.advance(REPORT as u64)?;
            }
            let class_slot = heap.objects.class_slots[source.at()];
            for position in heap.edges.range(source) {
                let text = || self.named(&self.heap.source().label_at(class_slot, position));
                let text = match heap.edges.label(position) {
                    // Objects of one class can have as many indexes as references.
                    Some(label) if !heap.edges.has_index(position) => labels
                        .entry((class_slot, label))
                        .or_insert_with(text)
                        .clone(),
                    _ => text(),
                };
                table.add(self.id());
                table.add(addresses.value(heap.address(source)));
                table.add(addresses.value(heap.address(heap.edges.target(position))));
                table.add(text);
                table.add(None);
                table.end_row()?;
            }
        }
        table.finish()
    }
}
