//! References between objects, in compressed sparse rows: the targets of object `i` are
//! `targets[offsets[i]..offsets[i + 1]]`.

use std::ops::Range;

use super::labels::{EdgeLabel, WideLabel};
use super::prefetch::prefetch;
use base::units::ObjectIndex;

/// The reference graph over the object table.
#[derive(Debug, Default)]
pub struct Edges {
    offsets: Vec<u32>,
    targets: Vec<ObjectIndex>,
    /// The label of each reference, in the order of the targets; empty if labels were not asked for.
    labels: Vec<u16>,
    /// The same for a snapshot.
    wide_labels: Vec<WideLabel>,
}

impl Edges {
    /// A graph from rows of targets.
    pub fn from_rows<'r>(rows: impl IntoIterator<Item = &'r [ObjectIndex]>) -> Self {
        let mut edges = Self {
            offsets: vec![0],
            ..Self::default()
        };
        for row in rows {
            edges.targets.extend_from_slice(row);
            edges.offsets.push(edges.targets.len() as u32);
        }
        edges
    }

    /// A graph from columns: the targets of object `i` are `targets[offsets[i]..offsets[i + 1]]`. There are as many
    /// labels, or none.
    pub fn with_narrow_labels(
        offsets: Vec<u32>,
        targets: Vec<ObjectIndex>,
        labels: Vec<u16>,
    ) -> Self {
        Self {
            offsets,
            targets,
            labels,
            wide_labels: Vec::new(),
        }
    }

    /// The same graph with a label for each reference.
    pub fn labelled(self, labels: Vec<u16>) -> Self {
        Self { labels, ..self }
    }

    /// A graph from columns: the targets of object `i` are `targets[offsets[i]..offsets[i + 1]]`, and each has
    /// a label.
    pub fn from_columns(
        offsets: Vec<u32>,
        targets: Vec<ObjectIndex>,
        wide_labels: Vec<WideLabel>,
    ) -> Self {
        Self {
            offsets,
            targets,
            labels: Vec::new(),
            wide_labels,
        }
    }

    /// The objects to which an object refers. It may refer to itself, and to the same object twice.
    #[inline]
    pub fn targets(&self, object: ObjectIndex) -> &[ObjectIndex] {
        let start = self.offsets[object.at()] as usize;
        let end = self.offsets[object.at() + 1] as usize;
        &self.targets[start..end]
    }

    /// The range of an object's targets in the column of all targets.
    #[inline]
    pub fn range(&self, object: ObjectIndex) -> Range<u32> {
        self.offsets[object.at()]..self.offsets[object.at() + 1]
    }

    /// The object whose range of targets has this position of the column.
    pub fn source(&self, position: u32) -> ObjectIndex {
        let after = self.offsets.partition_point(|&start| start <= position);
        ObjectIndex(after.saturating_sub(1) as u32)
    }

    /// The target at this position of the column, if it has one.
    #[inline]
    pub fn get_target(&self, position: u32) -> Option<ObjectIndex> {
        self.targets.get(position as usize).copied()
    }

    /// The target at this position of the column.
    #[inline]
    pub fn target(&self, position: u32) -> ObjectIndex {
        self.targets[position as usize]
    }

    /// The label of the reference at this position of the column; `None` if there are no labels.
    #[inline]
    pub fn label(&self, position: u32) -> Option<EdgeLabel> {
        match self.labels.get(position as usize) {
            Some(&label) => Some(EdgeLabel::of_narrow(label)),
            None => self.wide_label(position).map(WideLabel::label),
        }
    }

    /// The label, with its index, of the reference of a snapshot at this position of the column.
    #[inline]
    pub fn wide_label(&self, position: u32) -> Option<WideLabel> {
        self.wide_labels.get(position as usize).copied()
    }

    /// The position of a reference with this target and label, after `skipped` equal ones of the same source.
    pub fn position(
        &self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Option<u32> {
        let mut equal = self.range(source).filter(|&position| {
            self.target(position) == target && self.label(position) == Some(label)
        });
        equal.nth(skipped)
    }

    /// Whether the reference at this position of the column has an index: only those of snapshots do.
    #[inline]
    pub fn has_index(&self, position: u32) -> bool {
        self.wide_label(position)
            .is_some_and(|label| label.index().is_some())
    }

    /// Prefetches the memory that [`range`](Self::range) needs.
    #[inline]
    pub(super) fn prefetch_range(&self, object: ObjectIndex) {
        prefetch(&self.offsets, object.0);
    }

    /// Prefetches the first targets of an object.
    #[inline]
    pub(super) fn prefetch_targets(&self, object: ObjectIndex) {
        prefetch(&self.targets, self.offsets[object.at()]);
    }

    /// Prefetches the first targets and labels of an object.
    #[inline]
    pub(super) fn prefetch_references(&self, object: ObjectIndex) {
        let first = self.offsets[object.at()];
        prefetch(&self.targets, first);
        prefetch(&self.labels, first);
        prefetch(&self.wide_labels, first);
    }

    /// The number of objects in the graph.
    pub fn object_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The size of the columns in bytes.
    pub(super) fn memory_size(&self) -> usize {
        let labels = self.labels.capacity() * size_of::<u16>()
            + self.wide_labels.capacity() * size_of::<WideLabel>();
        (self.offsets.capacity() + self.targets.capacity()) * size_of::<u32>() + labels
    }

    /// The number of references.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there are no references.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}
