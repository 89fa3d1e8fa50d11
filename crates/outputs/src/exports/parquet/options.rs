//! Which table is written, and what it says beside the heap.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DumpFacts {
    /// The SHA-256 of the dump file: 64 hexadecimal digits, the first column of every table.
    pub dump_id: String,
    /// The SHA-256 of the module file: 64 hexadecimal digits. A dump needs it; a heap snapshot of V8 has none.
    #[serde(default)]
    pub module_id: Option<String>,
    /// When the dump was taken. The engine reads it in milliseconds since 1970.
    #[schemars(extend("x-ts" = "Date"))]
    pub captured_at: i64,
    /// The size of the dump file in bytes.
    pub dump_size: u64,
    /// Where the dump is (default: an empty text).
    #[schemars(default)]
    pub source: String,
    /// What is known of the process, such as its service, release and machine (default: nothing).
    #[schemars(default)]
    pub labels: BTreeMap<String, String>,
}

/// Which table to write, and what it needs to know of the dump, which the dump does not contain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParquetOptions {
    /// The table. `object`, `edge` and `field` have a row for each object, reference and field; the others stay small.
    pub table: ParquetTable,
    /// Facts about the dump.
    #[schemars(extend("x-flat" = true))]
    pub dump: DumpFacts,
    /// Show the beginnings of strings (default: false).
    #[serde(default)]
    pub strings: bool,
    /// Replace the names of classes, fields, variables and globals by hashes (default: false).
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
