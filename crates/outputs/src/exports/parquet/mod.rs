//! Tables in Apache Parquet, for questions about many dumps: one file a table, one dump a file. Engines such as
//! DuckDB and Apache Spark read a folder of these files as one table.
//!
//! Each row begins with the hash of its dump, by which tables are joined. No table contains what strings
//! contain, unless it is asked for. A heap snapshot of V8 is a dump without a module; what it does not say is null.

mod fields;
mod graph;
mod options;
mod summaries;
mod table_export;
mod write;
mod writer;

pub use options::{DumpFacts, ParquetOptions, ParquetTable, Unreadable};
pub use write::unreadable_dump;
pub(super) use write::write;
