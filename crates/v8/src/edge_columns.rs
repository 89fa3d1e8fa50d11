//! Reads the edges of a file into columns, each piece of the array into its part of every column.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::meta::MOST_FIELDS;
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
        raw.edge_labels = columns::zeros::<WideLabel>(rows)?;
        raw.edge_targets = columns::zeros::<u32>(rows)?;
        let is_internal: Vec<AtomicBool> =
            columns::collected((0..strings).map(|_| AtomicBool::new(false)))?;
        let numbers = &self.edges;
        let node_fields = ExactDivisor::new(self.meta.node_fields.len() as u64);
        let nodes = self.nodes.rows as u64;
        let parts = (
            numbers.cut(&mut raw.edge_labels),
            numbers.cut(&mut raw.edge_targets),
        );
        parts
            .into_par_iter()
            .enumerate()
            .try_for_each(|(piece, (labels, targets))| {
                let mut columns = labels.iter_mut().zip(targets);
                numbers.read(self.bytes, piece, |number, row| {
                    let value = |field: usize| row[field % MOST_FIELDS];
                    let bad = |field: usize, what: &str, expected: &str| {
                        let value = value(field);
                        Err(self.bad_number(numbers, number, field, what, value, expected))
                    };
                    let name = value(at_name);
                    let Some(&(kind, names)) = kinds.get(value(at_type) as usize) else {
                        return bad(
                            at_type,
                            "the type of an edge",
                            "the number of one of edge_types",
                        );
                    };
                    if name >= names {
                        return bad(
                            at_name,
                            "the name or index of an edge",
                            "the number of a string, or an index below 2^32",
                        );
                    }
                    let node = node_fields.quotient(value(at_target));
                    if node >= nodes {
                        return bad(at_target, "the to_node of an edge", "the index of a node");
                    }
                    if let Some((label, target)) = columns.next() {
                        *label = kind.label(name as u32);
                        *target = node as u32;
                    }
                    if kind == EdgeKind::Internal {
                        is_internal[name as usize].store(true, Ordering::Relaxed);
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

/// Divides by a number without a division.
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
