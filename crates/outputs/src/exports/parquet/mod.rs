//! Tables in Apache Parquet, for questions about many dumps: one file a table, one dump a file. Engines such as
//! DuckDB and Apache Spark read a folder of these files as one table.
//!
//! Each row begins with the hash of its dump, by which tables are joined. No table contains what strings
//! contain, unless it is asked for. A heap snapshot of V8 is a dump without a module; what it does not say is null.

mod graph;
mod summaries;
mod writer;

use std::collections::BTreeMap;
use std::io::Write;

use ::parquet::data_type::ByteArray;
use serde::Deserialize;

use writer::{TableWriter, Value};

use base::control::Control;
use base::error::Result;
use questions::{LoadedHeap, SEPARATOR, fingerprint};

/// The version of the tables. It rises when a column changes its meaning or is removed; a new column does not
/// change it.
pub const SCHEMA_VERSION: u32 = 1;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// One row: where the dump is from, its totals, its warnings.
    Dump,
    /// A row for each class with live objects.
    Class,
    /// A row for each path on which live objects are.
    Path,
    /// A row for each suspect.
    Suspect,
    /// A row for each group of objects that waste memory in the same way.
    Waste,
    /// A row for each object, alive or not.
    Object,
    /// A row for each reference; of a snapshot, for each that keeps its target alive.
    Edge,
}

/// What a dump does not contain, and tables need.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DumpFacts {
    /// The SHA-256 of the dump, in hexadecimal digits.
    pub dump_id: String,
    /// The SHA-256 of the module; `None` for a heap snapshot of V8.
    #[serde(default)]
    pub module_id: Option<String>,
    /// When the dump was taken, in milliseconds since 1970.
    pub captured_at: i64,
    /// The size of the dump file in bytes.
    pub dump_size: u64,
    /// Where the dump is.
    pub source: String,
    /// Anything that is known of the process, such as its service, release and machine.
    pub labels: BTreeMap<String, String>,
}

/// What a table shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParquetOptions {
    /// The table.
    pub table: Table,
    /// Facts about the dump.
    pub dump: DumpFacts,
    /// Whether tables show what strings contain.
    #[serde(default)]
    pub strings: bool,
    /// Whether names of classes, fields, variables and globals are replaced by hashes.
    #[serde(default)]
    pub hash_names: bool,
}

/// A dump that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unreadable {
    /// Facts about the dump.
    pub dump: DumpFacts,
    /// The stable name of the error.
    pub code: String,
    /// Its sentence, which can contain names.
    pub message: String,
    /// Whether the sentence is left out.
    #[serde(default)]
    pub hash_names: bool,
}

/// Writes a table of a heap.
///
/// # Errors
/// As [`LoadedHeap::export`].
pub(super) fn write(
    heap: &LoadedHeap,
    options: &ParquetOptions,
    out: &mut dyn Write,
    control: &Control,
) -> Result<()> {
    let export = TableExport {
        heap,
        options,
        dump_id: ByteArray::from(options.dump.dump_id.as_bytes().to_vec()),
        control,
    };
    match options.table {
        Table::Dump => export.dump(out),
        Table::Class => export.classes(out),
        Table::Path => export.paths(out),
        Table::Suspect => export.suspects(out),
        Table::Waste => export.waste(out),
        Table::Object => export.objects(out),
        Table::Edge => export.edges(out),
    }
}

/// The table `dump` of a dump that could not be read: one row with the error.
///
/// # Errors
/// None that depends on the dump.
pub fn unreadable_dump(unreadable: &Unreadable) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    summaries::write_unreadable(unreadable, &mut bytes)?;
    Ok(bytes)
}

/// A table that is written.
struct TableExport<'e> {
    heap: &'e LoadedHeap,
    options: &'e ParquetOptions,
    dump_id: ByteArray,
    control: &'e Control,
}

impl TableExport<'_> {
    /// The first column of every row.
    fn id(&self) -> Value {
        Value::Text(self.dump_id.clone())
    }

    /// A text that contains names from the source, or its hash.
    fn named(&self, text: &str) -> Value {
        match self.options.hash_names {
            true => Value::from(format!("#{}", fingerprint(text)).as_str()),
            false => Value::from(text),
        }
    }

    /// The steps of the text of a path.
    fn steps(&self, text: &str) -> impl Iterator<Item = Value> {
        text.split(SEPARATOR).map(|step| self.named(step))
    }
}

/// Begins a table.
fn begin<'o>(
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
