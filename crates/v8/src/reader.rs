//! Reads the text of a snapshot, in the order of the file: finds its parts, checks that they fit together, and reads
//! them into columns.

use std::collections::HashMap;

use super::calls::CallTree;
use super::json::{BYTES_PER_UNIT, JsonCursor};
use super::meta::{Meta, read_meta};
use super::numbers::NumberTexts;
use super::raw::RawSnapshot;
use super::strings::SnapshotStrings;
use crate::SnapshotError;
use base::columns;
use base::control::{Control, Phase, Step};
use base::error::{Error, Result};
use base::input::Release;
use heap::Location;

/// The largest number of nodes. Indexes of paths store a length in 28 bits.
const MOST_NODES: usize = (1 << 28) - 1;

/// Reads a snapshot. The bytes of nodes and edges are released as they are read.
///
/// # Errors
/// [`SnapshotError::Unreadable`], [`SnapshotError::Truncated`], [`Error::OutOfMemory`], [`Error::Aborted`].
///
/// With `partial`, a file that ends after its nodes and edges is read with the texts that it has; one that ends before
/// is refused, because nothing that it has says what is alive.
pub(super) fn read(
    bytes: &[u8],
    release: Release<'_>,
    partial: bool,
    control: &Control,
) -> Result<RawSnapshot> {
    let finding = control.begin(Phase::Blocks, bytes.len() as u64 / BYTES_PER_UNIT);
    let mut cursor = JsonCursor::new(bytes);
    let mut parts = Parts::default();
    let found = cursor.object(|cursor, key| {
        let offset = cursor.at as u64;
        if parts.take(cursor, key, &finding)? {
            let message = format!("found a second {key:?}");
            return Err(SnapshotError::Unreadable { offset, message }.into());
        }
        finding.advance(0)
    });
    match found {
        Err(error) if partial && is_truncated(&error) => {
            let length = bytes.len() as u64;
            parts.is_cut = parts.graph_or(length)?;
        }
        found => found?,
    }
    if !parts.is_cut && cursor.peek().is_some() {
        return Err(cursor.error("the end of the file"));
    }
    drop(finding);
    parts.read(bytes, release, control)
}

/// Whether the file ends too early.
fn is_truncated(error: &Error) -> bool {
    matches!(error.own(), Some(SnapshotError::Truncated { .. }))
}

/// The parts of a file, as far as they were found.
#[derive(Default)]
struct Parts {
    meta: Option<Meta>,
    nodes: Option<NumberTexts>,
    edges: Option<NumberTexts>,
    locations: Option<NumberTexts>,
    functions: Option<NumberTexts>,
    calls: Option<CallTree>,
    strings: Option<SnapshotStrings>,
    /// Whether the file ends before its last part.
    is_cut: bool,
}

impl Parts {
    /// True if the nodes and edges are whole.
    ///
    /// # Errors
    /// [`SnapshotError::GraphCut`].
    fn graph_or(&self, length: u64) -> Result<bool> {
        let nodes = self.nodes.as_ref().map(|nodes| nodes.rows as u64);
        match self.edges {
            Some(_) if nodes.is_some() => Ok(true),
            _ => Err(SnapshotError::GraphCut { length, nodes }.into()),
        }
    }

    /// Takes the value of `key`, at which the cursor is. Returns whether there was one before.
    fn take(&mut self, cursor: &mut JsonCursor<'_>, key: &str, step: &Step<'_>) -> Result<bool> {
        if key == "snapshot" {
            return Ok(self.meta.replace(read_meta(cursor)?).is_some());
        }
        let is_known = matches!(
            key,
            "nodes" | "edges" | "locations" | "trace_function_infos" | "trace_tree" | "strings"
        );
        if !is_known {
            cursor.skip_value()?;
            return Ok(false);
        }
        let Some(meta) = &self.meta else {
            let offset = cursor.at as u64;
            let message =
                format!("expected \"snapshot\" before {key:?}: this is not a heap snapshot of V8");
            return Err(SnapshotError::Unreadable { offset, message }.into());
        };
        Ok(match key {
            "nodes" => {
                let found = NumberTexts::find(cursor, meta.node_fields.len(), step)?;
                self.nodes.replace(found).is_some()
            }
            "edges" => {
                // Node 24 writes some elements with negative indexes.
                let mut names = meta.edge_fields.iter();
                let signed = names.position(|name| name == "name_or_index");
                let found = NumberTexts::find(cursor, meta.edge_fields.len(), step)?;
                self.edges.replace(found.with_signs(signed)).is_some()
            }
            "locations" => optional(cursor, &meta.location_fields, step)?
                .is_some_and(|found| self.locations.replace(found).is_some()),
            "trace_function_infos" => optional(cursor, &meta.function_fields, step)?
                .is_some_and(|found| self.functions.replace(found).is_some()),
            "trace_tree" => {
                let found = CallTree::read(cursor, &meta.call_fields, step)?;
                self.calls.replace(found).is_some()
            }
            _ => {
                let is_second = self.strings.is_some();
                let strings = self.strings.insert(SnapshotStrings::default());
                strings.read(cursor, step)?;
                is_second
            }
        })
    }

    /// Reads the numbers of a file whose parts were found.
    fn read(self, bytes: &[u8], release: Release<'_>, control: &Control) -> Result<RawSnapshot> {
        let missing = |what: &str| SnapshotError::Unreadable {
            offset: bytes.len() as u64,
            message: format!("the file has no {what:?}: this is not a heap snapshot of V8"),
        };
        let meta = self.meta.ok_or_else(|| missing("snapshot"))?;
        let nodes = self.nodes.ok_or_else(|| missing("nodes"))?;
        let edges = self.edges.ok_or_else(|| missing("edges"))?;
        let mut strings = match self.strings {
            None if self.is_cut => SnapshotStrings::default(),
            strings => strings.ok_or_else(|| missing("strings"))?,
        };
        if self.is_cut {
            // Each node and each edge has one name, so this many can be missing.
            strings.fill_to(strings.len() + nodes.rows + edges.rows)?;
        }
        let pieces = nodes.pieces.len() + edges.pieces.len();
        let file = File {
            bytes,
            release,
            meta,
            nodes,
            edges,
            step: control.begin(Phase::Objects, pieces as u64),
        };
        let mut raw = file.read(strings, self.locations)?;
        raw.is_cut = self.is_cut;
        if let (Some(calls), Some(functions)) = (self.calls, self.functions) {
            let traces = std::mem::take(&mut raw.traces);
            let count = raw.len();
            raw.allocations =
                file.allocation_lines(&calls, &functions, &traces, count, &raw.strings)?;
        }
        Ok(raw)
    }
}

/// Rows of numbers, skipped if the file does not say what their fields are.
fn optional(
    cursor: &mut JsonCursor<'_>,
    fields: &[String],
    step: &Step<'_>,
) -> Result<Option<NumberTexts>> {
    if fields.is_empty() {
        cursor.skip_value()?;
        return Ok(None);
    }
    NumberTexts::find(cursor, fields.len(), step).map(Some)
}

/// A file whose parts were found.
pub(super) struct File<'a, 'c> {
    pub(super) bytes: &'a [u8],
    /// Releases the memory of bytes that were read.
    pub(super) release: Release<'a>,
    pub(super) meta: Meta,
    pub(super) nodes: NumberTexts,
    pub(super) edges: NumberTexts,
    pub(super) step: Step<'c>,
}

impl File<'_, '_> {
    fn read(
        &self,
        mut strings: SnapshotStrings,
        locations: Option<NumberTexts>,
    ) -> Result<RawSnapshot> {
        self.check_count("node_count", self.meta.node_count, self.nodes.rows)?;
        self.check_count("edge_count", self.meta.edge_count, self.edges.rows)?;
        if self.nodes.rows > MOST_NODES || self.edges.rows >= u32::MAX as usize {
            let (nodes, edges) = (self.nodes.rows, self.edges.rows);
            return Err(self.error_at(0, format!("{nodes} nodes and {edges} edges: expected at most {MOST_NODES} nodes and {} edges", u32::MAX - 1)));
        }
        if self.nodes.rows == 0 {
            return Err(self.error_at(0, "expected at least one node, found none".to_owned()));
        }
        let mut raw = self.read_nodes(strings.len())?;
        self.add_up(&mut raw.first_edges)?;
        self.read_edges(&mut raw, strings.len())?;
        if let Some(locations) = locations {
            self.read_locations(&mut raw, &locations)?;
        }
        let fields = self.meta.node_fields.len() as u64;
        let root = self.meta.root_index;
        if !root.is_multiple_of(fields) || root / fields >= raw.len() as u64 {
            return Err(self.error_at(
                0,
                format!("root_index is {root}: expected the index of a node"),
            ));
        }
        raw.root = (root / fields) as u32;
        strings.shrink();
        raw.strings = strings;
        Ok(raw)
    }

    pub(super) fn error_at(&self, offset: usize, message: String) -> Error {
        Error::from(SnapshotError::Unreadable {
            offset: offset as u64,
            message,
        })
    }

    fn check_count(&self, name: &str, expected: Option<u64>, found: usize) -> Result<()> {
        match expected {
            Some(expected) if expected != found as u64 => {
                Err(self.error_at(0, format!("{name} is {expected}, but the file has {found}")))
            }
            _ => Ok(()),
        }
    }

    /// An error about a number of a row.
    pub(super) fn bad_number(
        &self,
        numbers: &NumberTexts,
        row: usize,
        field: usize,
        what: &str,
        value: u64,
        expected: &str,
    ) -> Error {
        let offset = numbers.offset(self.bytes, row, field);
        self.error_at(offset, format!("{what} is {value}: expected {expected}"))
    }

    /// Turns the numbers of edges into the first edges.
    fn add_up(&self, first_edges: &mut [u32]) -> Result<()> {
        let mut sum = 0u64;
        for first in first_edges {
            sum += u64::from(*first);
            // Checked below.
            *first = sum as u32;
        }
        if sum == self.edges.rows as u64 {
            Ok(())
        } else {
            Err(self.error_at(
                self.edges.start(),
                format!(
                    "the edge_count of all nodes add up to {sum}, but the file has {} edges",
                    self.edges.rows
                ),
            ))
        }
    }

    fn read_locations(&self, raw: &mut RawSnapshot, numbers: &NumberTexts) -> Result<()> {
        let fields = &self.meta.location_fields;
        let column = |name: &str| fields.iter().position(|field| field == name);
        let (Some(at_object), Some(at_script), Some(at_line), Some(at_column)) = (
            column("object_index"),
            column("script_id"),
            column("line"),
            column("column"),
        ) else {
            return Ok(());
        };
        if numbers.rows == 0 {
            return Ok(());
        }
        raw.location_of = columns::repeated(0u32, raw.len())?;
        let node_fields = self.meta.node_fields.len() as u64;
        let mut found: HashMap<Location, u32> = HashMap::new();
        for piece in 0..numbers.pieces.len() {
            numbers.read(self.bytes, piece, |number, row| {
                let node = row[at_object] / node_fields;
                if node >= raw.len() as u64 || node * node_fields != row[at_object] {
                    return Err(self.bad_number(
                        numbers,
                        number,
                        at_object,
                        "the object_index of a location",
                        row[at_object],
                        "the index of a node",
                    ));
                }
                let part = |field: usize| {
                    u32::try_from(row[field]).map_err(|_| {
                        self.bad_number(
                            numbers,
                            number,
                            field,
                            "a part of a location",
                            row[field],
                            "at most 4294967295",
                        )
                    })
                };
                let location = Location {
                    script: part(at_script)?,
                    line: part(at_line)?,
                    column: part(at_column)?,
                };
                let known = found.len() as u32;
                let number = *found.entry(location).or_insert(known);
                if number == known {
                    columns::push(&mut raw.locations, location)?;
                }
                raw.location_of[node as usize] = number + 1;
                Ok(())
            })?;
            self.step.advance(0)?;
        }
        Ok(())
    }
}
