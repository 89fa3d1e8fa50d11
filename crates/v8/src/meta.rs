//! The part `snapshot` of a file: which numbers a row has, and the names of their values.

use super::json::JsonCursor;
use crate::SnapshotError;
use base::error::Result;

/// The largest number of fields of a row of numbers.
pub(super) const MOST_FIELDS: usize = 16;
/// The largest number of types of nodes or edges.
const MOST_TYPES: usize = 64;

/// The part `snapshot` of the file.
#[derive(Default)]
pub(super) struct Meta {
    pub(super) node_fields: Vec<String>,
    pub(super) node_types: Vec<String>,
    pub(super) edge_fields: Vec<String>,
    pub(super) edge_types: Vec<String>,
    pub(super) location_fields: Vec<String>,
    pub(super) function_fields: Vec<String>,
    pub(super) call_fields: Vec<String>,
    pub(super) node_count: Option<u64>,
    pub(super) edge_count: Option<u64>,
    pub(super) root_index: u64,
    /// Bytes outside of V8's heap that are of no node: Node 26 and Chrome write them.
    pub(super) extra_native_bytes: u64,
}

/// Reads it.
///
/// # Errors
/// [`SnapshotError::Unreadable`], [`SnapshotError::Truncated`].
pub(super) fn read_meta(cursor: &mut JsonCursor<'_>) -> Result<Meta> {
    let mut meta = Meta::default();
    let start = cursor.at;
    cursor.object(|cursor, key| {
        match key {
            "meta" => cursor.object(|cursor, key| match key {
                "node_fields" => fields(cursor, &mut meta.node_fields),
                "edge_fields" => fields(cursor, &mut meta.edge_fields),
                "location_fields" => fields(cursor, &mut meta.location_fields),
                "trace_function_info_fields" => fields(cursor, &mut meta.function_fields),
                "trace_node_fields" => fields(cursor, &mut meta.call_fields),
                "node_types" => types(cursor, &mut meta.node_types),
                "edge_types" => types(cursor, &mut meta.edge_types),
                _ => cursor.skip_value(),
            })?,
            "node_count" => meta.node_count = Some(cursor.whole_number()?),
            "edge_count" => meta.edge_count = Some(cursor.whole_number()?),
            "root_index" => meta.root_index = cursor.whole_number()?,
            "extra_native_bytes" => meta.extra_native_bytes = cursor.whole_number()?,
            _ => cursor.skip_value()?,
        }
        Ok(())
    })?;
    let lists = [
        (&meta.node_fields, "node_fields"),
        (&meta.node_types, "node_types"),
        (&meta.edge_fields, "edge_fields"),
        (&meta.edge_types, "edge_types"),
    ];
    match lists.iter().find(|(list, _)| list.is_empty()) {
        Some((_, name)) => Err(SnapshotError::Unreadable {
            offset: start as u64,
            message: format!(
                "the part \"snapshot\" has no {name}: this is not a heap snapshot of V8"
            ),
        }
        .into()),
        None => Ok(meta),
    }
}

/// The names of the fields of a row, each once.
fn fields(cursor: &mut JsonCursor<'_>, names: &mut Vec<String>) -> Result<()> {
    let start = *cursor;
    list(cursor, MOST_FIELDS, names)?;
    let is_repeated = |nth: usize| names[..nth].contains(&names[nth]);
    if (0..names.len()).any(is_repeated) {
        return Err(start.error("each field once"));
    }
    Ok(())
}

/// A list of names, which must be empty before.
fn list(cursor: &mut JsonCursor<'_>, most: usize, names: &mut Vec<String>) -> Result<()> {
    if !names.is_empty() {
        return Err(cursor.error("one list of each kind"));
    }
    cursor.array(|cursor| {
        if names.len() == most {
            return Err(cursor.error("fewer names"));
        }
        names.push(cursor.text()?);
        Ok(())
    })
}

/// The names of types: the list inside of the list, which stands for the field `type`. V8 writes it first.
fn types(cursor: &mut JsonCursor<'_>, names: &mut Vec<String>) -> Result<()> {
    let mut is_found = false;
    cursor.array(|cursor| match cursor.peek() {
        Some(b'[') if !is_found => {
            is_found = true;
            list(cursor, MOST_TYPES, names)
        }
        _ => cursor.skip_value(),
    })
}
