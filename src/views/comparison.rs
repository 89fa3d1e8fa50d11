//! The comparison view: what came and what went between two heaps of one program, by class.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::sync::Arc;

use super::instances::{Instances, by_shallow_size};
use crate::heap::Heap;
use crate::units::ObjectIndex;

/// The classes whose live objects changed. An object is the same if class name and address are.
#[derive(Debug)]
pub struct ComparisonView {
    before: Arc<Heap>,
    after: Arc<Heap>,
    rows: Vec<ComparisonRow>,
}

/// What changed in one class. Sizes are sums of shallow sizes in bytes.
#[derive(Clone, Debug)]
pub struct ComparisonRow {
    /// The class name.
    pub class_name: String,
    /// The size of the objects only in the after heap.
    pub allocated_size: u64,
    /// The size of the objects only in the before heap.
    pub freed_size: u64,
    created: Vec<ObjectIndex>,
    deleted: Vec<ObjectIndex>,
}

impl ComparisonRow {
    /// Objects only in the after heap.
    pub fn new_count(&self) -> u64 {
        self.created.len() as u64
    }

    /// Objects only in the before heap.
    pub fn deleted_count(&self) -> u64 {
        self.deleted.len() as u64
    }

    /// New − deleted.
    pub fn count_delta(&self) -> i64 {
        self.created.len() as i64 - self.deleted.len() as i64
    }

    /// Allocated − freed.
    pub fn size_delta(&self) -> i64 {
        self.allocated_size as i64 - self.freed_size as i64
    }
}

/// Orders of rows. Each is total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComparisonSort {
    /// Size delta ↓, allocated ↓, count delta ↓, name ↑.
    #[default]
    Delta,
    /// Allocated ↓, size delta ↓, count delta ↓, name ↑.
    Alloc,
    /// Freed ↓, size delta ↑, name ↑.
    Freed,
    /// Count delta ↓, size delta ↓, name ↑.
    Count,
}

impl ComparisonView {
    /// Compares two heaps and keeps the first `top` rows.
    pub fn new(
        before: Arc<Heap>,
        after: Arc<Heap>,
        sort: ComparisonSort,
        top: Option<usize>,
    ) -> Self {
        let mut rows = Rows::default();
        let before_rows = rows.of_classes(&before);
        let after_rows = rows.of_classes(&after);
        let row_before =
            |object: ObjectIndex| before_rows[before.objects.class_slots[object.at()] as usize];
        let row_after =
            |object: ObjectIndex| after_rows[after.objects.class_slots[object.at()] as usize];

        // Both heaps list their objects in address order: one merge finds what they share.
        let mut old = before.live_heap_objects().peekable();
        let mut new = after.live_heap_objects().peekable();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(&old), Some(&new)) => before.address(old).cmp(&after.address(new)),
            };
            let gone = if order.is_le() { old.next() } else { None };
            let come = if order.is_ge() { new.next() } else { None };
            if let (Some(gone), Some(come)) = (gone, come)
                && row_before(gone) == row_after(come)
            {
                continue;
            }
            if let Some(gone) = gone {
                let row = &mut rows.all[row_before(gone)];
                row.deleted.push(gone);
                row.freed_size += u64::from(before.shallow_size(gone));
            }
            if let Some(come) = come {
                let row = &mut rows.all[row_after(come)];
                row.created.push(come);
                row.allocated_size += u64::from(after.shallow_size(come));
            }
        }

        drop((old, new));
        let mut rows = rows.all;
        rows.retain(|row| !(row.created.is_empty() && row.deleted.is_empty()));
        rows.sort_unstable_by(|left, right| sort.compare(left, right));
        rows.truncate(top.unwrap_or(usize::MAX));
        Self {
            before,
            after,
            rows,
        }
    }

    /// The earlier heap.
    pub fn before(&self) -> &Heap {
        &self.before
    }

    /// The later heap.
    pub fn after(&self) -> &Heap {
        &self.after
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[ComparisonRow] {
        &self.rows
    }

    /// The changed objects of a row: the new ones with their sizes in the after heap, then the
    /// deleted ones with their sizes in the before heap; each shallow size ↓, retained size ↓,
    /// address ↑. Sorted anew at each call.
    pub fn instances(&self, row: &ComparisonRow) -> Instances {
        let mut instances = Instances::sorted_by(&self.after, &row.created, by_shallow_size);
        instances.append(Instances::sorted_by(
            &self.before,
            &row.deleted,
            by_shallow_size,
        ));
        instances
    }
}

impl ComparisonSort {
    fn compare(self, left: &ComparisonRow, right: &ComparisonRow) -> Ordering {
        let size_delta = || right.size_delta().cmp(&left.size_delta());
        let count_delta = || right.count_delta().cmp(&left.count_delta());
        let allocated = || right.allocated_size.cmp(&left.allocated_size);
        let by_sizes = match self {
            Self::Delta => size_delta().then_with(allocated).then_with(count_delta),
            Self::Alloc => allocated().then_with(size_delta).then_with(count_delta),
            Self::Freed => Reverse(left.freed_size)
                .cmp(&Reverse(right.freed_size))
                .then_with(|| size_delta().reverse()),
            Self::Count => count_delta().then_with(size_delta),
        };
        by_sizes.then_with(|| left.class_name.cmp(&right.class_name))
    }
}

/// Rows by class name, for two heaps at once.
#[derive(Default)]
struct Rows {
    all: Vec<ComparisonRow>,
    by_name: HashMap<String, usize>,
}

impl Rows {
    /// The row of each class slot of a heap.
    fn of_classes(&mut self, heap: &Heap) -> Vec<usize> {
        let names = heap.objects.classes.iter().map(|class| &class.class.name);
        names
            .map(|name| {
                *self.by_name.entry(name.clone()).or_insert_with(|| {
                    self.all.push(ComparisonRow {
                        class_name: name.clone(),
                        allocated_size: 0,
                        freed_size: 0,
                        created: Vec::new(),
                        deleted: Vec::new(),
                    });
                    self.all.len() - 1
                })
            })
            .collect()
    }
}
