//! A table that is written: what all tables have in common.

use std::io::Write;

use ::parquet::data_type::ByteArray;

use super::options::ParquetOptions;
use super::writer::{ColumnValue, TableWriter};
use base::control::Control;
use base::error::Result;
use base::units::ObjectAddress;
use questions::{LoadedHeap, SEPARATOR, fingerprint};

/// The version of the tables. It rises when a column changes its meaning or is removed; a new column does not
/// change it.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// A table that is written.
pub(super) struct TableExport<'e> {
    pub(super) heap: &'e LoadedHeap,
    pub(super) options: &'e ParquetOptions,
    pub(super) dump_id: ByteArray,
    pub(super) control: &'e Control,
}

impl TableExport<'_> {
    /// The first column of every row.
    pub(super) fn id(&self) -> ColumnValue {
        ColumnValue::Text(self.dump_id.clone())
    }

    /// The columns of addresses in this table.
    pub(super) fn address_columns(&self) -> AddressColumns {
        if self.heap.heap().objects.addresses.fit_32_bits() {
            AddressColumns::Bits32
        } else {
            AddressColumns::Bits64
        }
    }

    /// A text that contains names from the source, or its hash.
    pub(super) fn named(&self, text: &str) -> ColumnValue {
        if self.options.hash_names {
            ColumnValue::from(format!("#{}", fingerprint(text)).as_str())
        } else {
            ColumnValue::from(text)
        }
    }

    /// The steps of the text of a path.
    pub(super) fn steps(&self, text: &str) -> impl Iterator<Item = ColumnValue> {
        text.split(SEPARATOR).map(|step| self.named(step))
    }
}

/// The type of the columns that hold addresses: 64 bits only for a heap that needs them.
#[derive(Clone, Copy, Debug)]
pub(super) enum AddressColumns {
    Bits32,
    Bits64,
}

impl AddressColumns {
    /// A column in the text of a schema, without whether it is required.
    pub(super) fn column(self, name: &str) -> String {
        match self {
            Self::Bits32 => format!("int32 {name} (INTEGER(32,false))"),
            Self::Bits64 => format!("int64 {name} (INTEGER(64,false))"),
        }
    }

    #[inline]
    pub(super) fn value(self, address: ObjectAddress) -> ColumnValue {
        match self {
            Self::Bits32 => ColumnValue::from(address.0 as u32),
            Self::Bits64 => ColumnValue::from(address.0),
        }
    }
}

/// Begins a table.
pub(super) fn begin<'o>(
    out: &'o mut dyn Write,
    name: &str,
    columns: &str,
    different: &[&str],
) -> Result<TableWriter<'o>> {
    let schema = format!("message {name} {{ required binary dump_id (STRING); {columns} }}");
    let version = SCHEMA_VERSION.to_string();
    let metadata = [
        ("warpo.table", name),
        ("warpo.schema-version", version.as_str()),
    ];
    TableWriter::new(out, &schema, different, &metadata)
}
