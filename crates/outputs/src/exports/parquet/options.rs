//! Which table is written, and what it says beside the heap.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParquetTable {
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
    /// A row for each field of each live object.
    Field,
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
    pub table: ParquetTable,
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
