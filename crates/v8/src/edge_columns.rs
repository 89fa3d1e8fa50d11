//! Reads the edges of a file into columns, each piece of the array into its part of every column.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::raw::{EdgeKind, RawSnapshot};
use super::reader::File;
use base::columns;
use base::error::Result;
pub use heap::WideLabel;

impl File<'_, '_> {
    /// The edges. Names are below `strings`.
    pub(super) fn read_edges(&self, raw: &mut RawSnapshot, strings: usize) -> Result<()> {
        let fields = &self.meta.edge_fields;
        let required = |name: &'static str| {
            let column = fields.iter().position(|field| field == name);
            column.ok_or_else(|| {
                self.error_at(
                    0,
                    format!("edge_fields has no {name:?}: this is not a heap snapshot of V8"),
                )
            })
        };
        let at_type = required("type")?;
        let at_name = required("name_or_index")?;
        let at_target = required("to_node")?;
        let rows = self.edges.rows;
        let kinds: Vec<EdgeKind> = self
            .meta
            .edge_types
            .iter()
            .map(|name| EdgeKind::of(name))
            .collect();
        raw.edge_labels = columns::zeros::<WideLabel>(rows)?;
        raw.edge_targets = columns::zeros::<u32>(rows)?;
        let is_internal: Vec<AtomicBool> =
            columns::collected((0..strings).map(|_| AtomicBool::new(false)))?;
        let numbers = &self.edges;
        let node_fields = self.meta.node_fields.len() as u64;
        let nodes = self.nodes.rows as u64;
        let parts = (
            numbers.cut(&mut raw.edge_labels),
            numbers.cut(&mut raw.edge_targets),
        );
        parts
            .into_par_iter()
            .enumerate()
            .try_for_each(|(piece, (labels, targets))| {
                numbers.read(self.bytes, piece, |nth, row| {
                    let bad = |field: usize, what: &str, expected: &str| {
                        let number = numbers.pieces[piece].1 + nth;
                        Err(self.bad_number(numbers, number, field, what, row[field], expected))
                    };
                    let Some(&kind) = kinds.get(row[at_type] as usize) else {
                        return bad(
                            at_type,
                            "the type of an edge",
                            "the number of one of edge_types",
                        );
                    };
                    let most = if kind.has_name() {
                        strings as u64
                    } else {
                        1 << 32
                    };
                    if row[at_name] >= most {
                        return bad(
                            at_name,
                            "the name or index of an edge",
                            "the number of a string, or an index below 2^32",
                        );
                    }
                    let target = row[at_target] / node_fields;
                    if target >= nodes || target * node_fields != row[at_target] {
                        return bad(at_target, "the to_node of an edge", "the index of a node");
                    }
                    labels[nth] = kind.label(row[at_name] as u32);
                    targets[nth] = target as u32;
                    if kind == EdgeKind::Internal {
                        is_internal[row[at_name] as usize].store(true, Ordering::Relaxed);
                    }
                    Ok(())
                })?;
                (self.release)(numbers.pieces[piece].0.clone());
                self.step.advance(1)
            })?;
        for (is_internal, name) in is_internal.iter().zip(0..) {
            if is_internal.load(Ordering::Relaxed) {
                columns::push(&mut raw.internal_names, name)?;
            }
        }
        Ok(())
    }
}
