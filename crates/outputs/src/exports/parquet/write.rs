//! The tables of a heap, and that of a dump that could not be read.

use std::io::Write;

use ::parquet::data_type::ByteArray;

use super::options::{ParquetOptions, ParquetTable, Unreadable};
use super::summaries;
use super::table_export::TableExport;
use base::control::Control;
use base::error::Result;
use questions::LoadedHeap;

/// Writes a table of a heap.
///
/// # Errors
/// As [`LoadedHeap::export`].
pub(in crate::exports) fn write(
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
        ParquetTable::Dump => export.dump(out),
        ParquetTable::Class => export.classes(out),
        ParquetTable::Path => export.paths(out),
        ParquetTable::Suspect => export.suspects(out),
        ParquetTable::Waste => export.waste(out),
        ParquetTable::Object => export.objects(out),
        ParquetTable::Edge => export.edges(out),
        ParquetTable::Field => export.fields(out),
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
