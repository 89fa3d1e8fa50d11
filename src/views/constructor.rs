//! The constructor view: the live objects of one heap, by class.

use std::cmp::Reverse;
use std::sync::{Arc, OnceLock};

use super::Selection;
use super::grouping::{NO_ROW, Names, RowObjects, renumber};
use super::instances::{Instances, Listed, by_retained_size, listed_count};
use crate::error::Result;
use crate::heap::{Heap, LiveClass};

/// Live objects grouped by class name.
#[derive(Debug)]
pub struct ConstructorView {
    heap: Arc<Heap>,
    rows: Vec<ConstructorRow>,
    row_of_slot: Vec<u32>,
    instance_limit: Option<usize>,
    objects: OnceLock<RowObjects>,
}

/// All live objects of one class name. Sums are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstructorRow {
    /// The class name. Classes with the same name share a row.
    pub class_name: String,
    /// Number of objects.
    pub count: u64,
    /// Sum of the shallow sizes.
    pub total_shallow_size: u64,
    /// Sum of the retained sizes. They overlap, so the sum may exceed the live size.
    pub total_retained_size: u64,
}

/// Orders of rows. Each is total: ties are broken by the other numbers, and at last by the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstructorSort {
    /// Retained ↓, shallow ↓, count ↓, name ↑.
    #[default]
    Retained,
    /// Shallow ↓, then as `Retained`.
    Shallow,
    /// Count ↓, then as `Retained`.
    Count,
}

impl ConstructorView {
    /// Groups the live objects of a heap.
    pub fn new(heap: Arc<Heap>, selection: Selection<ConstructorSort>) -> Self {
        let mut names = Names::default();
        let mut row_of_slot = names.of_classes(&heap);
        let mut sums = vec![LiveClass::default(); names.all.len()];
        for (&row, &class) in row_of_slot.iter().zip(&heap.live_classes) {
            sums[row as usize].add(class);
        }
        let rows = (0..).zip(names.all.into_iter().zip(sums));
        let rows = rows.map(|(number, (class_name, sums))| {
            let row = ConstructorRow {
                class_name,
                count: sums.count,
                total_shallow_size: sums.shallow_size,
                total_retained_size: sums.retained_size,
            };
            (number, row)
        });
        let mut rows: Vec<(u32, ConstructorRow)> = rows.filter(|(_, row)| row.count > 0).collect();
        rows.sort_unstable_by(|(_, left), (_, right)| {
            let sort = selection.sort;
            sort.key(left).cmp(&sort.key(right))
        });
        rows.truncate(selection.top.unwrap_or(usize::MAX));
        let (order, rows): (Vec<_>, _) = rows.into_iter().unzip();
        renumber(&mut row_of_slot, &order);
        Self {
            heap,
            rows,
            row_of_slot,
            instance_limit: selection.instances,
            objects: OnceLock::new(),
        }
    }

    /// The heap that the view is of.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[ConstructorRow] {
        &self.rows
    }

    /// How many objects are listed in all rows together.
    pub fn instance_count(&self) -> u64 {
        let counts = self.rows.iter().map(|row| row.count);
        listed_count(counts, self.instance_limit)
    }

    /// The objects of the `nth` row: retained size ↓, shallow size ↓, address ↑; `None` past the last
    /// row. The objects of all rows are looked up at the first call; those of a row are put in order
    /// at each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn instances(&self, nth: usize) -> Result<Option<Instances>> {
        if nth >= self.rows.len() {
            return Ok(None);
        }
        let objects = match self.objects.get() {
            Some(objects) => objects,
            None => {
                let objects = self.group()?;
                self.objects.get_or_init(|| objects)
            }
        };
        let (objects, limit) = (objects.of(nth), self.instance_limit);
        let listed = Listed::ordered(&self.heap, objects, limit, by_retained_size)?;
        Ok(Some(Instances::of_one(listed)))
    }

    fn group(&self) -> Result<RowObjects> {
        let mut grouped = RowObjects::with_room(self.rows.iter().map(|row| row.count))?;
        for object in self.heap.live_heap_objects() {
            let slot = self.heap.objects.class_slots[object.at()];
            let row = self.row_of_slot[slot as usize];
            if row != NO_ROW {
                grouped.push(row, object);
            }
        }
        Ok(grouped)
    }
}

impl ConstructorSort {
    fn key(self, row: &ConstructorRow) -> impl Ord + '_ {
        let first = match self {
            Self::Retained => 0,
            Self::Shallow => row.total_shallow_size,
            Self::Count => row.count,
        };
        (
            Reverse(first),
            Reverse(row.total_retained_size),
            Reverse(row.total_shallow_size),
            Reverse(row.count),
            &row.class_name,
        )
    }
}
