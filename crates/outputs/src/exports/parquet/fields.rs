//! The table of the fields of live objects.

use std::io::Write;

use super::table_export::{AddressColumns, TableExport, begin};
use super::writer::ColumnValue;
use base::control::Phase;
use base::error::Result;
use base::units::{ObjectAddress, ObjectIndex};
use heap::ReadOrder;

/// Objects between two reports.
const REPORT: usize = 1 << 12;

fn field_columns(addresses: AddressColumns) -> String {
    let [address, target] = ["address", "target"].map(|name| addresses.column(name));
    format!(
        "required {address};
        required binary name (STRING);
        required binary type (STRING);
        optional binary value (STRING);
        optional {target};"
    )
}

impl TableExport<'_> {
    /// The fields of the live objects: by address, and by offset or in the order of a snapshot.
    pub(super) fn fields(&self, out: &mut dyn Write) -> Result<()> {
        let heap = self.heap.heap();
        let live = self.heap.dominator_index(self.control)?;
        let step = self.control.begin(Phase::Export, heap.objects.len() as u64);
        let source = self.heap.source();
        let mut reader = source.reader(ReadOrder::Ascending, self.control);
        let mut strings = source.reader(ReadOrder::Any, self.control);
        let addresses = self.address_columns();
        let mut table = begin(out, "field", &field_columns(addresses), &["address"])?;
        let mut notes = Vec::new();
        for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
            if object.at().is_multiple_of(REPORT) {
                step.advance(REPORT as u64)?;
            }
            if live.position(object).is_none() {
                continue;
            }
            for field in reader.fields(object, &mut notes)? {
                let target = field.address;
                let text = match target.and_then(|target| heap.objects.at(ObjectAddress(target))) {
                    // What strings contain is shown only if it is asked for.
                    Some(target) if self.options.strings => strings.literal(target)?,
                    Some(_) => None,
                    None if target.is_some() || field.value == heap::ShownValue::Null => None,
                    None => Some(field.value.to_string()),
                };
                table.add(self.id());
                table.add(addresses.value(heap.address(object)));
                table.add(self.named(&field.name));
                table.add(self.named(&field.type_name));
                table.add(text.map(|text| ColumnValue::from(text.as_str())));
                table.add(target.map(|target| addresses.value(ObjectAddress(target))));
                table.end_row()?;
            }
            notes.clear();
        }
        table.finish()
    }
}
