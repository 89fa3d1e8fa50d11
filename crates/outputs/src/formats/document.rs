//! The interface between views and formats: totals, columns, rows, and the instances of a row.

use std::sync::Arc;

use base::error::Result;
use base::warning::Warning;
use heap::views::{ComparisonView, ConstructorView, Instances, RetainedColumns};
use heap::{Accounting, TypeEvidence};

/// A number that every row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its key in JSON.
    pub key: &'static str,
    /// Its heading in a table.
    pub title: &'static str,
    /// The unit that it counts.
    pub measure: Measure,
}

/// The unit that a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Objects.
    Count,
    /// A difference in objects.
    CountDelta,
    /// Bytes.
    Size,
    /// A difference in bytes.
    SizeDelta,
}

/// A size of the whole heap, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// Its label in a table.
    pub label: &'static str,
    /// The size now, and its key in JSON.
    pub after: (&'static str, u64),
    /// In a comparison: the size before, and the key of the difference.
    pub before: Option<((&'static str, u64), &'static str)>,
}

impl Total {
    /// All its numbers with their keys in JSON: before, after, difference.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, i64)> {
        let before = self.before.map(|(before, _)| before);
        let sizes = before.into_iter().chain([self.after]);
        sizes
            .map(|(key, size)| (key, size as i64))
            .chain(self.delta())
    }

    /// The difference, with its key in JSON.
    pub fn delta(&self) -> Option<(&'static str, i64)> {
        self.before
            .map(|((_, before), key)| (key, self.after.1 as i64 - before as i64))
    }
}

/// A row's name and its numbers, one per column.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// In full, such as `assembly/game/Player`.
    pub class_name: &'a str,
    /// How the type of the class was found, where that differs.
    pub type_evidence: Option<&'static str>,
    /// The numbers, in the order of the columns.
    pub numbers: Vec<i64>,
}

/// A view that a format can render.
pub trait Document {
    /// Sizes of the whole heap, as a table shows them below the rows.
    fn totals(&self) -> Vec<Total>;
    /// Whether a heap is damaged and the view covers only a part of it.
    fn is_partial(&self) -> bool;
    /// The reasons why numbers may be wrong.
    fn warnings(&self) -> Vec<&Warning>;
    /// What every byte is used for; only for a view of one heap.
    fn accounting(&self) -> Option<&Accounting>;
    /// The columns of every row.
    fn columns(&self) -> &'static [Column];
    /// The number of rows.
    fn row_count(&self) -> usize;
    /// The `nth` row; `None` past the last.
    fn row(&self, nth: usize) -> Option<Row<'_>>;
    /// The number of listed instances of all rows together.
    fn instance_count(&self) -> u64;
    /// The instances of the `nth` row; `None` past the last.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    fn instances(&self, nth: usize) -> Result<Option<Instances>>;
}

impl<D: Document + ?Sized> Document for Arc<D> {
    fn totals(&self) -> Vec<Total> {
        (**self).totals()
    }

    fn is_partial(&self) -> bool {
        (**self).is_partial()
    }

    fn warnings(&self) -> Vec<&Warning> {
        (**self).warnings()
    }

    fn accounting(&self) -> Option<&Accounting> {
        (**self).accounting()
    }

    fn columns(&self) -> &'static [Column] {
        (**self).columns()
    }

    fn row_count(&self) -> usize {
        (**self).row_count()
    }

    fn row(&self, nth: usize) -> Option<Row<'_>> {
        (**self).row(nth)
    }

    fn instance_count(&self) -> u64 {
        (**self).instance_count()
    }

    fn instances(&self, nth: usize) -> Result<Option<Instances>> {
        (**self).instances(nth)
    }
}

const fn column(key: &'static str, title: &'static str, measure: Measure) -> Column {
    Column {
        key,
        title,
        measure,
    }
}

/// Without the size of the heap if that is not known, and without what is unreferenced if such a heap has none.
fn known([size, live, unreferenced]: [Total; 3], heap: &heap::Heap) -> Vec<Total> {
    let size = heap.total_size.map(|_| size);
    let unreferenced = heap.unreferenced.map(|_| unreferenced);
    size.into_iter().chain([live]).chain(unreferenced).collect()
}

fn unreferenced_size(heap: &heap::Heap) -> u64 {
    heap.unreferenced.map_or(0, |totals| totals.size)
}

impl Document for ConstructorView {
    fn totals(&self) -> Vec<Total> {
        let heap = self.heap();
        let totals = [
            Total {
                label: "heap",
                after: ("totalHeapSize", heap.total_size.unwrap_or_default()),
                before: None,
            },
            Total {
                label: "live",
                after: ("totalLiveSize", heap.total_live_size()),
                before: None,
            },
            Total {
                label: "unreferenced",
                after: ("totalUnreferencedSize", unreferenced_size(heap)),
                before: None,
            },
        ];
        known(totals, heap)
    }

    fn is_partial(&self) -> bool {
        self.heap().is_partial
    }

    fn warnings(&self) -> Vec<&Warning> {
        self.heap().warnings.iter().collect()
    }

    fn accounting(&self) -> Option<&Accounting> {
        self.heap().accounting.as_ref()
    }

    fn columns(&self) -> &'static [Column] {
        const COUNT: Column = column("count", "Count", Measure::Count);
        const SHALLOW: Column = column("totalShallowSize", "Shallow size", Measure::Size);
        const SUM: Column = column("totalRetainedSize", "Retained size", Measure::Size);
        const SUM_BESIDE_SET: Column = column("totalRetainedSize", "Retained sum", Measure::Size);
        const SET: Column = column("retainedSetSize", "Retained size", Measure::Size);
        match self.retained_columns() {
            RetainedColumns::Sum => &[COUNT, SHALLOW, SUM],
            RetainedColumns::Set => &[COUNT, SHALLOW, SET],
            RetainedColumns::Both => &[COUNT, SHALLOW, SUM_BESIDE_SET, SET],
        }
    }

    fn row_count(&self) -> usize {
        self.rows().len()
    }

    fn row(&self, nth: usize) -> Option<Row<'_>> {
        let row = self.rows().get(nth)?;
        let (sum, set) = (row.total_retained_size, row.retained_set_size);
        let set = set.unwrap_or_default();
        let retained = match self.retained_columns() {
            RetainedColumns::Sum => vec![sum],
            RetainedColumns::Set => vec![set],
            RetainedColumns::Both => vec![sum, set],
        };
        let numbers = [row.count, row.total_shallow_size]
            .into_iter()
            .chain(retained)
            .map(|number| number as i64);
        Some(Row {
            class_name: &row.class_name,
            type_evidence: row.type_evidence.map(TypeEvidence::name),
            numbers: numbers.collect(),
        })
    }

    fn instance_count(&self) -> u64 {
        ConstructorView::instance_count(self)
    }

    fn instances(&self, nth: usize) -> Result<Option<Instances>> {
        ConstructorView::instances(self, nth)
    }
}

impl Document for ComparisonView {
    fn totals(&self) -> Vec<Total> {
        let (before, after) = (self.before(), self.after());
        let totals = [
            Total {
                label: "heap",
                after: ("afterTotalHeapSize", after.total_size.unwrap_or_default()),
                before: Some((
                    ("beforeTotalHeapSize", before.total_size.unwrap_or_default()),
                    "totalHeapSizeDelta",
                )),
            },
            Total {
                label: "live",
                after: ("afterTotalLiveSize", after.total_live_size()),
                before: Some((
                    ("beforeTotalLiveSize", before.total_live_size()),
                    "totalLiveSizeDelta",
                )),
            },
            Total {
                label: "unreferenced",
                after: ("afterTotalUnreferencedSize", unreferenced_size(after)),
                before: Some((
                    ("beforeTotalUnreferencedSize", unreferenced_size(before)),
                    "totalUnreferencedSizeDelta",
                )),
            },
        ];
        known(totals, after)
    }

    fn is_partial(&self) -> bool {
        self.before().is_partial || self.after().is_partial
    }

    fn warnings(&self) -> Vec<&Warning> {
        let heaps = [self.before(), self.after()];
        heaps.iter().flat_map(|heap| &heap.warnings).collect()
    }

    fn accounting(&self) -> Option<&Accounting> {
        None
    }

    fn columns(&self) -> &'static [Column] {
        const COLUMNS: [Column; 6] = [
            column("newCount", "New", Measure::Count),
            column("deletedCount", "Deleted", Measure::Count),
            column("countDelta", "Delta", Measure::CountDelta),
            column("allocatedSize", "Alloc. size", Measure::Size),
            column("freedSize", "Freed size", Measure::Size),
            column("sizeDelta", "Size delta", Measure::SizeDelta),
        ];
        &COLUMNS
    }

    fn row_count(&self) -> usize {
        self.rows().len()
    }

    fn row(&self, nth: usize) -> Option<Row<'_>> {
        let row = self.rows().get(nth)?;
        let numbers = vec![
            row.new_count as i64,
            row.deleted_count as i64,
            row.count_delta(),
            row.allocated_size as i64,
            row.freed_size as i64,
            row.size_delta(),
        ];
        Some(Row {
            class_name: &row.class_name,
            type_evidence: None,
            numbers,
        })
    }

    fn instance_count(&self) -> u64 {
        ComparisonView::instance_count(self)
    }

    fn instances(&self, nth: usize) -> Result<Option<Instances>> {
        ComparisonView::instances(self, nth)
    }
}
