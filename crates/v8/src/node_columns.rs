//! Reads the nodes of a file into columns, each piece of the array into its part of every column.

use rayon::prelude::*;

use super::meta::MOST_FIELDS;
use super::raw::{NodeKind, RawSnapshot, WideSizes};
use super::reader::File;
use super::stretch::NumberRow;
use super::strings::SnapshotStrings;
use base::columns;
use base::error::Result;
use heap::HUGE;

/// Sizes and their sums are smaller: JSON can have them.
const MOST_BYTES: u64 = 1 << 53;

/// What few nodes of a piece have, by number, and a sum over all.
#[derive(Default)]
struct Sparse {
    /// The sizes for which the column has [`HUGE`].
    huge: Vec<(u32, u64)>,
    detachedness: Vec<(u32, u8)>,
    /// Ids of calls that allocated nodes.
    traces: Vec<(u32, u64)>,
    /// The sum of the sizes in the column.
    small: u64,
    /// Whether an id does not fit into its column.
    has_wide_id: bool,
}

/// The columns of the fields of a node.
#[derive(Clone, Copy)]
struct NodeColumns {
    kind: usize,
    name: usize,
    id: usize,
    size: usize,
    edges: usize,
    detached: Option<usize>,
    trace: Option<usize>,
}

struct ColumnsPiece<'c> {
    types: &'c mut [u8],
    names: &'c mut [u32],
    ids: &'c mut [u32],
    sizes: &'c mut [u32],
    edge_counts: &'c mut [u32],
}

impl<'c> ColumnsPiece<'c> {
    /// The part of the next nodes.
    fn next(&mut self, count: usize) -> Self {
        fn next<'c, T>(column: &mut &'c mut [T], count: usize) -> &'c mut [T] {
            column.split_off_mut(..count).unwrap_or_default()
        }
        Self {
            types: next(&mut self.types, count),
            names: next(&mut self.names, count),
            ids: next(&mut self.ids, count),
            sizes: next(&mut self.sizes, count),
            edge_counts: next(&mut self.edge_counts, count),
        }
    }
}

/// The numbers of a node that all nodes have.
struct NodeNumbers {
    kind: u8,
    name: u32,
    id: u64,
    size: u64,
    edges: u32,
}

impl File<'_, '_> {
    fn node_fields(&self) -> Result<NodeColumns> {
        let fields = &self.meta.node_fields;
        let column = |name: &str| fields.iter().position(|field| field == name);
        let required = |name: &'static str| {
            column(name).ok_or_else(|| {
                self.error_at(
                    0,
                    format!("node_fields has no {name:?}: this is not a heap snapshot of V8"),
                )
            })
        };
        Ok(NodeColumns {
            kind: required("type")?,
            name: required("name")?,
            id: required("id")?,
            size: required("self_size")?,
            edges: required("edge_count")?,
            detached: column("detachedness"),
            trace: column("trace_node_id"),
        })
    }

    /// The nodes. In place of its first edge, each has the number of edges of the node before it. Names are below
    /// `strings`.
    pub(super) fn read_nodes(&self, strings: usize) -> Result<RawSnapshot> {
        let at = self.node_fields()?;
        let rows = self.nodes.rows;
        let mut types = columns::zeros::<u8>(rows)?;
        let mut names = columns::zeros::<u32>(rows)?;
        let mut ids = columns::zeros::<u32>(rows)?;
        let mut low = columns::zeros::<u32>(rows)?;
        // The number of edges of each node, after a zero.
        let mut first_edges = columns::zeros::<u32>(rows + 1)?;
        let numbers = &self.nodes;
        let parts = (
            numbers.cut(&mut types),
            numbers.cut(&mut names),
            numbers.cut(&mut ids),
            numbers.cut(&mut low),
            numbers.cut(&mut first_edges[1..]),
        );
        let found: Vec<Sparse> = parts
            .into_par_iter()
            .enumerate()
            .map(|(piece, (types, names, ids, sizes, edge_counts))| {
                let columns = ColumnsPiece {
                    types,
                    names,
                    ids,
                    sizes,
                    edge_counts,
                };
                let sparse = self.read_piece(&at, piece, columns, strings)?;
                (self.release)(numbers.pieces[piece].0.clone());
                self.step.advance(1)?;
                Ok(sparse)
            })
            .collect::<Result<_>>()?;
        let is_renumbered = found.iter().any(|sparse| sparse.has_wide_id);
        if is_renumbered {
            for (id, number) in ids.iter_mut().zip(1..) {
                *id = number;
            }
        }
        let huge = || found.iter().flat_map(|sparse| &sparse.huge);
        let total = found
            .iter()
            .map(|sparse| sparse.small)
            .chain(huge().map(|&(_, size)| size - u64::from(HUGE)))
            .chain([self.meta.extra_native_bytes])
            .fold(0, u64::saturating_add);
        if total >= MOST_BYTES {
            return Err(self.error_at(
                self.nodes.start(),
                format!("the self_size of all nodes and extra_native_bytes add up to {total}: expected less than 8 PiB"),
            ));
        }
        let mut detachedness = Vec::new();
        for &(node, state) in found.iter().flat_map(|sparse| &sparse.detachedness) {
            if detachedness.is_empty() {
                detachedness = columns::zeros::<u8>(rows)?;
            }
            detachedness[node as usize] = state;
        }
        let mut traces = Vec::new();
        for sparse in &found {
            columns::extend(&mut traces, &sparse.traces)?;
        }
        Ok(RawSnapshot {
            traces,
            allocations: None,
            kinds: self
                .meta
                .node_types
                .iter()
                .map(|name| NodeKind::of(name))
                .collect(),
            type_names: self.meta.node_types.clone(),
            root: 0,
            nodes_offset: self.nodes.start() as u64,
            types,
            names,
            ids,
            is_renumbered,
            is_cut: false,
            sizes: WideSizes {
                low,
                huge: huge().copied().collect(),
            },
            extra_native_bytes: self.meta.extra_native_bytes,
            first_edges,
            detachedness,
            edge_labels: Vec::new(),
            edge_targets: Vec::new(),
            internal_names: Vec::new(),
            location_of: Vec::new(),
            locations: Vec::new(),
            strings: SnapshotStrings::default(),
        })
    }

    /// Reads one piece of the nodes into its part of every column.
    fn read_piece(
        &self,
        at: &NodeColumns,
        piece: usize,
        mut into: ColumnsPiece<'_>,
        strings: usize,
    ) -> Result<Sparse> {
        let mut sparse = Sparse::default();
        self.nodes.read_batches(self.bytes, piece, |first, rows| {
            // A copy, so that its parts stay in registers.
            let at = *at;
            let into = into.next(rows.len());
            let columns = into.types.iter_mut().zip(into.names).zip(into.ids);
            let columns = columns.zip(into.sizes).zip(into.edge_counts);
            for (nth, (row, ((((kind, name), id), size), edge_count))) in
                rows.iter().zip(columns).enumerate()
            {
                let number = first + nth;
                let node = self.node(at, strings, number, row)?;
                (*kind, *name, *edge_count) = (node.kind, node.name, node.edges);
                *id = node.id as u32;
                sparse.has_wide_id |= node.id > u64::from(u32::MAX);
                *size = u32::try_from(node.size).unwrap_or(HUGE);
                if *size == HUGE {
                    columns::push(&mut sparse.huge, (number as u32, node.size))?;
                }
                sparse.small += u64::from(*size);
                let value = |field: usize| row[field % MOST_FIELDS];
                let detached = at.detached.map_or(0, |field| (value(field) & 3) as u8);
                if detached != 0 {
                    columns::push(&mut sparse.detachedness, (number as u32, detached))?;
                }
                let trace = at.trace.map_or(0, value);
                if trace != 0 {
                    columns::push(&mut sparse.traces, (number as u32, trace))?;
                }
            }
            Ok(())
        })?;
        Ok(sparse)
    }

    /// The numbers of a node, each as its column can have it.
    #[inline(always)]
    fn node(
        &self,
        at: NodeColumns,
        strings: usize,
        number: usize,
        row: &NumberRow,
    ) -> Result<NodeNumbers> {
        let value = |field: usize| row[field % MOST_FIELDS];
        let bad = |field, what: &str, expected: &str| {
            Err(self.bad_number(&self.nodes, number, field, what, value(field), expected))
        };
        let (kind, name, size) = (value(at.kind), value(at.name), value(at.size));
        if kind >= self.meta.node_types.len() as u64 {
            return bad(
                at.kind,
                "the type of a node",
                "the number of one of node_types",
            );
        }
        if name >= strings as u64 {
            return bad(at.name, "the name of a node", "the number of a string");
        }
        let id = value(at.id);
        let Ok(edges) = u32::try_from(value(at.edges)) else {
            return bad(
                at.edges,
                "the edge_count of a node",
                "at most the number of edges",
            );
        };
        if size >= MOST_BYTES {
            return bad(at.size, "the self_size of a node", "less than 8 PiB");
        }
        Ok(NodeNumbers {
            kind: kind as u8,
            name: name as u32,
            id,
            size,
            edges,
        })
    }
}
