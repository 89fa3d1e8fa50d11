//! A snapshot in columns, as the file has it: no rule of DevTools is applied.

use std::collections::HashMap;
use std::ops::Range;

use super::strings::SnapshotStrings;
use heap::AllocationLines;
pub use heap::{HUGE, Location, WideLabel, labels};

/// The type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Hidden,
    Array,
    String,
    Object,
    Code,
    Closure,
    RegExp,
    Number,
    Native,
    Synthetic,
    ConsString,
    SlicedString,
    Other,
}

impl NodeKind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "hidden" => Self::Hidden,
            "array" => Self::Array,
            "string" => Self::String,
            "object" => Self::Object,
            "code" => Self::Code,
            "closure" => Self::Closure,
            "regexp" => Self::RegExp,
            "number" => Self::Number,
            "native" => Self::Native,
            "synthetic" => Self::Synthetic,
            "concatenated string" => Self::ConsString,
            "sliced string" => Self::SlicedString,
            _ => Self::Other,
        }
    }

    pub(super) fn is_string(self) -> bool {
        matches!(self, Self::String | Self::ConsString | Self::SlicedString)
    }
}

/// The type of an edge, as the kind of its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EdgeKind {
    Invisible = 0,
    Property = labels::PROPERTY as u8,
    Context = labels::CONTEXT as u8,
    /// Internal edges, and types of other versions, which have a name too.
    Internal = labels::INTERNAL as u8,
    Element = labels::INDEXED as u8,
    Hidden = labels::NUMBERED as u8,
    Shortcut = 6,
    Weak = 7,
}

impl EdgeKind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "context" => Self::Context,
            "element" => Self::Element,
            "property" => Self::Property,
            "hidden" => Self::Hidden,
            "shortcut" => Self::Shortcut,
            "weak" => Self::Weak,
            "invisible" => Self::Invisible,
            _ => Self::Internal,
        }
    }

    /// The label of an edge.
    #[inline]
    pub(super) fn label(self, number: u32) -> WideLabel {
        WideLabel::of_kind(self as u32, number)
    }

    /// The type of the edge with this label.
    #[inline]
    pub(super) fn of_label(label: WideLabel) -> Self {
        const ALL: [EdgeKind; 8] = [
            EdgeKind::Invisible,
            EdgeKind::Property,
            EdgeKind::Context,
            EdgeKind::Internal,
            EdgeKind::Element,
            EdgeKind::Hidden,
            EdgeKind::Shortcut,
            EdgeKind::Weak,
        ];
        ALL[label.kind() as usize & 7]
    }

    /// Whether the edge has a name, and not an index.
    pub(super) fn has_name(self) -> bool {
        !matches!(self, Self::Element | Self::Hidden)
    }
}

/// A snapshot in columns. Nodes have the numbers that they have in the file.
pub(super) struct RawSnapshot {
    /// The names of the types of nodes.
    pub(super) type_names: Vec<String>,
    pub(super) root: u32,
    /// Where the nodes begin in the file.
    pub(super) nodes_offset: u64,
    /// Per node: the number of its type.
    pub(super) types: Vec<u8>,
    pub(super) kinds: Vec<NodeKind>,
    /// Per node: the number of its name.
    pub(super) names: Vec<u32>,
    pub(super) ids: Vec<u32>,
    /// Whether the file ends before its last text.
    pub(super) is_cut: bool,
    /// Whether the ids do not fit, and are numbers in the order of the file instead.
    pub(super) is_renumbered: bool,
    pub(super) sizes: WideSizes,
    /// Bytes outside of V8's heap that are of no node.
    pub(super) extra_native_bytes: u64,
    /// Per node: the number of its first edge; one more entry for the end.
    pub(super) first_edges: Vec<u32>,
    /// Per node: whether it is attached to the document (1) or detached (2); empty if the file does not say so.
    pub(super) detachedness: Vec<u8>,
    /// Per edge: its type, and the number of its name or its index.
    pub(super) edge_labels: Vec<WideLabel>,
    /// Per edge: the node that it leads to.
    pub(super) edge_targets: Vec<u32>,
    /// The names of internal edges, ascending.
    pub(super) internal_names: Vec<u32>,
    /// Per node: 1 + the number of its location; empty if there are none.
    pub(super) location_of: Vec<u32>,
    pub(super) locations: Vec<Location>,
    pub(super) strings: SnapshotStrings,
    /// The nodes whose allocation V8 recorded, each with the id of the call.
    pub(super) traces: Vec<(u32, u64)>,
    /// Where these were allocated, by node.
    pub(super) allocations: Option<AllocationLines>,
}

/// Sizes, few of which need more than 32 bits.
#[derive(Default)]
pub(super) struct WideSizes {
    pub(super) low: Vec<u32>,
    pub(super) huge: HashMap<u32, u64>,
}

impl WideSizes {
    #[inline]
    pub(super) fn get(&self, nth: u32) -> u64 {
        match self.low[nth as usize] {
            HUGE => self.huge.get(&nth).copied().unwrap_or(HUGE.into()),
            size => size.into(),
        }
    }

    pub(super) fn set(&mut self, nth: u32, size: u64) {
        let low = u32::try_from(size).unwrap_or(HUGE);
        self.low[nth as usize] = low;
        if low == HUGE {
            self.huge.insert(nth, size);
        }
    }
}

impl RawSnapshot {
    pub(super) fn len(&self) -> usize {
        self.types.len()
    }

    #[inline]
    pub(super) fn kind(&self, node: u32) -> NodeKind {
        self.kinds[self.types[node as usize] as usize]
    }

    #[inline]
    pub(super) fn edge_kind(&self, edge: usize) -> EdgeKind {
        EdgeKind::of_label(self.edge_labels[edge])
    }

    #[inline]
    pub(super) fn edges(&self, node: u32) -> Range<usize> {
        self.first_edges[node as usize] as usize..self.first_edges[node as usize + 1] as usize
    }

    /// The name of a node, as WTF-8.
    #[inline]
    pub(super) fn name(&self, node: u32) -> &[u8] {
        self.strings.bytes(self.names[node as usize])
    }
}
