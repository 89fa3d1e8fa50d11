//! The constructor view: what takes space in one heap, by class.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::instances::{Instances, by_retained_size};
use crate::heap::Heap;
use crate::units::ObjectIndex;

/// Live objects grouped by class name.
#[derive(Debug)]
pub struct ConstructorView {
    heap: Arc<Heap>,
    rows: Vec<ConstructorRow>,
}

/// All live objects of one class name. Sums are in bytes.
#[derive(Clone, Debug)]
pub struct ConstructorRow {
    /// The class name; classes that share one share a row.
    pub class_name: String,
    /// Number of objects.
    pub count: u64,
    /// Sum of the shallow sizes.
    pub total_shallow_size: u64,
    /// Sum of the retained sizes. Regions overlap: it may exceed the live size.
    pub total_retained_size: u64,
    objects: Vec<ObjectIndex>,
}

/// Orders of rows. Each is total: what it leaves open, the others decide, the name at last.
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
    /// Groups the live objects of a heap and keeps the first `top` rows.
    pub fn new(heap: Arc<Heap>, sort: ConstructorSort, top: Option<usize>) -> Self {
        let mut rows: Vec<ConstructorRow> = Vec::new();
        let mut row_of_name: HashMap<&str, usize> = HashMap::new();
        let row_of_slot: Vec<usize> = heap
            .objects
            .classes
            .iter()
            .map(|class| {
                *row_of_name.entry(&class.class.name).or_insert_with(|| {
                    rows.push(ConstructorRow {
                        class_name: class.class.name.clone(),
                        count: 0,
                        total_shallow_size: 0,
                        total_retained_size: 0,
                        objects: Vec::new(),
                    });
                    rows.len() - 1
                })
            })
            .collect();
        let row_of =
            |object: ObjectIndex| row_of_slot[heap.objects.class_slots[object.at()] as usize];
        for object in heap.live_heap_objects() {
            let row = &mut rows[row_of(object)];
            row.count += 1;
            row.total_shallow_size += u64::from(heap.shallow_size(object));
            row.total_retained_size += u64::from(heap.retained_size(object));
        }

        let mut order: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].count > 0).collect();
        order.sort_unstable_by(|&left, &right| sort.key(&rows[left]).cmp(&sort.key(&rows[right])));
        order.truncate(top.unwrap_or(usize::MAX));

        // Objects are listed only for the rows that stay.
        let mut is_kept = vec![false; rows.len()];
        for &row in &order {
            is_kept[row] = true;
            let count = rows[row].count as usize;
            rows[row].objects.reserve_exact(count);
        }
        for object in heap.live_heap_objects() {
            let row = row_of(object);
            if is_kept[row] {
                rows[row].objects.push(object);
            }
        }
        let mut rows: Vec<_> = rows.into_iter().map(Some).collect();
        let rows = order
            .into_iter()
            .filter_map(|row| rows[row].take())
            .collect();
        Self { heap, rows }
    }

    /// The heap that the view is of.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[ConstructorRow] {
        &self.rows
    }

    /// The objects of a row: retained size ↓, shallow size ↓, address ↑. Sorted anew at each call.
    pub fn instances(&self, row: &ConstructorRow) -> Instances {
        Instances::sorted_by(&self.heap, &row.objects, by_retained_size)
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
