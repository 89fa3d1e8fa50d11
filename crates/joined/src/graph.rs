//! One graph of two heaps. The objects of the memory come first, then those of the snapshot. The row of an object has
//! its references in its own heap, without those that declared slots replace, and then those to the other heap.

use std::collections::HashMap;

use crate::extra::{Extra, Extras};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Edges, Heap, WideLabel};

use crate::JoinError;

/// The graph, and how it was put together.
pub(crate) struct JoinedGraph {
    pub(crate) edges: Edges,
    pub(crate) extras: Extras,
    pub(crate) left_out: LeftOut,
}

/// The references of the snapshot that are not in the joined graph.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// By object of the snapshot: the positions in its graph, ascending.
    positions: HashMap<u32, Vec<u32>>,
}

impl LeftOut {
    /// Leaves a reference out. Those of one object come in order.
    pub(crate) fn add(&mut self, holder: ObjectIndex, position: u32) {
        self.positions.entry(holder.0).or_default().push(position);
    }

    fn of_holder(&self, holder: ObjectIndex) -> &[u32] {
        self.positions.get(&holder.0).map_or(&[], Vec::as_slice)
    }

    /// The position in the graph of the snapshot of the nth reference that is left of an object whose first is at
    /// `start`.
    pub(crate) fn nth(&self, holder: ObjectIndex, start: u32, nth: u32) -> u32 {
        let mut position = start + nth;
        for &left_out in self.of_holder(holder) {
            if left_out <= position {
                position += 1;
            }
        }
        position
    }

    pub(crate) fn memory_size(&self) -> u64 {
        let positions = self.positions.values();
        positions
            .map(|positions| 32 + positions.capacity() as u64 * 4)
            .sum()
    }
}

/// Puts the graphs of both heaps and the references between them together. `between` are by source.
///
/// # Errors
/// [`JoinError::TooLarge`], [`Error::OutOfMemory`](base::Error::OutOfMemory),
/// [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn join_graphs(
    [wasm, js]: [&Heap; 2],
    left_out: LeftOut,
    between: Vec<Extra>,
    step: &Step<'_>,
) -> Result<JoinedGraph> {
    let first_js = wasm.objects.len() as u32;
    let total = wasm.edges.len() + js.edges.len() + between.len();
    if total >= u32::MAX as usize {
        return Err(JoinError::TooLarge {
            what: "number of references",
            found: total as u64,
            limit: u32::MAX.into(),
        }
        .into());
    }
    let objects = wasm.objects.len() + js.objects.len();
    let mut offsets = columns::with_capacity(objects + 1)?;
    let mut targets = columns::with_capacity(total)?;
    let mut labels = columns::with_capacity(total)?;
    let mut extras = Extras::default();
    let mut between = between.into_iter().peekable();
    offsets.push(0);
    for object in (0..objects as u32).map(ObjectIndex) {
        if object.at().is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
        let (heap, own, first) = match object.0.checked_sub(first_js) {
            Some(own) => (js, ObjectIndex(own), first_js),
            None => (wasm, object, 0),
        };
        let gone = if first > 0 {
            left_out.of_holder(own)
        } else {
            &[]
        };
        for position in heap.edges.range(own) {
            if gone.binary_search(&position).is_ok() {
                continue;
            }
            targets.push(ObjectIndex(first + heap.edges.target(position).0));
            labels.push(label_of(heap, position));
        }
        while let Some(extra) = between.next_if(|extra| extra.source == object) {
            let position = targets.len() as u32;
            targets.push(extra.target);
            labels.push(extra.label);
            extras.push(extra, position)?;
        }
        offsets.push(targets.len() as u32);
    }
    Ok(JoinedGraph {
        edges: Edges::from_columns(offsets, targets, labels),
        extras,
        left_out,
    })
}

fn label_of(heap: &Heap, position: u32) -> WideLabel {
    match heap.edges.wide_label(position) {
        Some(label) => label,
        None => WideLabel::of_label(heap.edges.label(position).unwrap_or_default()),
    }
}
