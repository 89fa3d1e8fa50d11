//! Reads the edges of a file into columns, each piece of the array into its part of every column.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::meta::MOST_FIELDS;
use super::raw::{EdgeKind, RawSnapshot};
use super::reader::File;
use super::stretch::NumberRow;
use base::columns;
use base::error::Result;
pub use heap::WideLabel;

/// How the numbers of an edge are read.
#[derive(Clone, Copy)]
struct EdgeReader<'a> {
    at_type: usize,
    at_name: usize,
    at_target: usize,
    /// The types, each with the end of its names or indexes.
    kinds: &'a [(EdgeKind, u64)],
    node_fields: ExactDivisor,
    nodes: u64,
}

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
        let kinds: Vec<(EdgeKind, u64)> = self
            .meta
            .edge_types
            .iter()
            .map(|name| {
                let kind = EdgeKind::of(name);
                let has_name = kind.has_name();
                (kind, if has_name { strings as u64 } else { 1 << 32 })
            })
            .collect();
        let of_edges = EdgeReader {
            at_type: required("type")?,
            at_name: required("name_or_index")?,
            at_target: required("to_node")?,
            kinds: &kinds,
            node_fields: ExactDivisor::new(self.meta.node_fields.len() as u64),
            nodes: self.nodes.rows as u64,
        };
        let rows = self.edges.rows;
        raw.edge_labels = columns::zeros::<WideLabel>(rows)?;
        raw.edge_targets = columns::zeros::<u32>(rows)?;
        let is_internal: Vec<AtomicBool> =
            columns::collected((0..strings).map(|_| AtomicBool::new(false)))?;
        let numbers = &self.edges;
        let parts = (
            numbers.cut(&mut raw.edge_labels),
            numbers.cut(&mut raw.edge_targets),
        );
        parts
            .into_par_iter()
            .enumerate()
            .try_for_each(|(piece, (mut labels, mut targets))| {
                numbers.read_batches(self.bytes, piece, |first, rows| {
                    // A copy, so that its parts stay in registers.
                    let reader = of_edges;
                    let labels = labels.split_off_mut(..rows.len()).unwrap_or_default();
                    let targets = targets.split_off_mut(..rows.len()).unwrap_or_default();
                    let columns = labels.iter_mut().zip(targets);
                    for (nth, (row, (to_label, to_target))) in rows.iter().zip(columns).enumerate()
                    {
                        let number = first + nth;
                        let (kind, name, target) = self.edge(reader, number, row)?;
                        (*to_label, *to_target) = (kind.label(name), target);
                        if kind == EdgeKind::Internal {
                            is_internal[name as usize].store(true, Ordering::Relaxed);
                        }
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

    /// The type of an edge, its name or index, and the node that it leads to.
    #[inline(always)]
    fn edge(
        &self,
        reader: EdgeReader<'_>,
        number: usize,
        row: &NumberRow,
    ) -> Result<(EdgeKind, u32, u32)> {
        let value = |field: usize| row[field % MOST_FIELDS];
        let bad = |field: usize, what: &str, expected: &str| {
            let value = value(field);
            Err(self.bad_number(&self.edges, number, field, what, value, expected))
        };
        let name = value(reader.at_name);
        let Some(&(kind, names)) = reader.kinds.get(value(reader.at_type) as usize) else {
            return bad(
                reader.at_type,
                "the type of an edge",
                "the number of one of edge_types",
            );
        };
        if name >= names {
            return bad(
                reader.at_name,
                "the name or index of an edge",
                "the number of a string, or an index below 2^32",
            );
        }
        let target = reader.node_fields.quotient(value(reader.at_target));
        if target >= reader.nodes {
            return bad(
                reader.at_target,
                "the to_node of an edge",
                "the index of a node",
            );
        }
        Ok((kind, name as u32, target as u32))
    }
}

/// Divides by a number without a division.
#[derive(Clone, Copy)]
struct ExactDivisor {
    /// The product with the odd part of the divisor is 1, modulo 2^64.
    inverse: u64,
    /// How often the divisor can be halved.
    twos: u32,
}

impl ExactDivisor {
    /// For a divisor above 0.
    fn new(divisor: u64) -> Self {
        let twos = divisor.trailing_zeros();
        let odd = divisor >> twos;
        // Each step doubles the number of bits that are right. An odd number is its own inverse modulo 8.
        let step =
            |inverse: u64, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        Self {
            inverse: (0..5).fold(odd, step),
            twos,
        }
    }

    /// The quotient of a multiple of the divisor. For other numbers, it is greater than `u64::MAX` by the divisor.
    #[inline]
    fn quotient(&self, number: u64) -> u64 {
        number.wrapping_mul(self.inverse).rotate_right(self.twos)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_multiples_have_quotients(divisor in 1u64..20, number: u64) {
            let found = ExactDivisor::new(divisor).quotient(number);
            if number % divisor == 0 {
                prop_assert_eq!(found, number / divisor);
            } else {
                prop_assert!(found > u64::MAX / divisor);
            }
        }
    }
}
