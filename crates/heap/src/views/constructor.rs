//! The constructor view: the live objects of one heap, by class.

use std::cmp::Reverse;
use std::sync::{Arc, OnceLock};

use super::Selection;
use super::grouping::{ClassNumbers, NO_ROW, RowObjects, renumber};
use super::instances::{Instances, Listed, by_retained_size, listed_count, release_unread};
use crate::{Heap, LiveClass, TypeEvidence};
use base::control::Control;
use base::error::Result;
use base::sorting::sorted_by;

/// Live objects grouped by class name.
#[derive(Debug)]
pub struct ConstructorView {
    heap: Arc<Heap>,
    rows: Vec<ConstructorRow>,
    row_of_slot: Vec<u32>,
    instance_limit: Option<usize>,
    retained: RetainedColumns,
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
    /// The sum of the retained sizes of those objects that no other of the row dominates, if it was asked
    /// for: at least what removing all of them frees.
    pub retained_set_size: Option<u64>,
    /// How the type was found; `None` for heaps whose objects say it.
    pub type_evidence: Option<TypeEvidence>,
}

/// Which retained sizes rows have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetainedColumns {
    /// The sum over the objects.
    #[default]
    Sum,
    /// The retained size of the objects as a set.
    Set,
    /// Both.
    Both,
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
    /// The retained size as a set ↓, then as `Retained`. Needs [`ConstructorView::with_retained_sets`].
    RetainedSet,
}

impl ConstructorView {
    /// Groups the live objects of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(
        heap: Arc<Heap>,
        selection: Selection<ConstructorSort>,
        control: &Control,
    ) -> Result<Self> {
        let mut names = ClassNumbers::default();
        let row_of_slot = names.of_classes(&heap, control)?;
        Self::of_groups(heap, selection, names, row_of_slot, &[], control)
    }

    /// As [`new`](Self::new), with the retained size of each row as a set.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn with_retained_sets(
        heap: Arc<Heap>,
        selection: Selection<ConstructorSort>,
        retained: RetainedColumns,
        control: &Control,
    ) -> Result<Self> {
        let mut names = ClassNumbers::default();
        let row_of_slot = names.of_classes(&heap, control)?;
        let sets = heap.retained_set_sizes(&row_of_slot, names.all.len(), control)?;
        Ok(Self {
            retained,
            ..Self::of_groups(heap, selection, names, row_of_slot, &sets, control)?
        })
    }

    /// All rows with their retained sizes as sets, by these. Constructors of a snapshot that share a name share a
    /// row, wherever in the source they are: another run has other places.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn without_origins(heap: Arc<Heap>, control: &Control) -> Result<Self> {
        let mut names = ClassNumbers::default();
        let row_of_slot = names.without_origins(&heap, control)?;
        let sets = heap.retained_set_sizes(&row_of_slot, names.all.len(), control)?;
        let selection = Selection::sorted(ConstructorSort::RetainedSet);
        Ok(Self {
            retained: RetainedColumns::Set,
            ..Self::of_groups(heap, selection, names, row_of_slot, &sets, control)?
        })
    }

    /// The same, with sums of retained sizes in place of the retained sizes of sets.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn by_name(heap: Arc<Heap>, control: &Control) -> Result<Self> {
        let mut names = ClassNumbers::default();
        let row_of_slot = names.without_origins(&heap, control)?;
        Self::of_groups(heap, Selection::default(), names, row_of_slot, &[], control)
    }

    fn of_groups(
        heap: Arc<Heap>,
        selection: Selection<ConstructorSort>,
        names: ClassNumbers,
        mut row_of_slot: Vec<u32>,
        retained_sets: &[u64],
        control: &Control,
    ) -> Result<Self> {
        let mut sums = vec![LiveClass::default(); names.all.len()];
        for (&row, &class) in row_of_slot.iter().zip(&heap.live_classes) {
            sums[row as usize].add(class);
        }
        let mut evidence = vec![None; names.all.len()];
        for (&row, class) in row_of_slot.iter().zip(&heap.objects.classes) {
            let known = &mut evidence[row as usize];
            *known = class.evidence.max(*known);
        }
        let rows: Vec<(u32, ConstructorRow)> = (0..)
            .zip(names.distinct(control)?.into_iter().zip(sums))
            .map(|(number, (class_name, sums))| {
                let row = ConstructorRow {
                    class_name,
                    count: sums.count,
                    total_shallow_size: sums.shallow_size,
                    total_retained_size: sums.retained_size,
                    retained_set_size: retained_sets.get(number as usize).copied(),
                    type_evidence: evidence[number as usize],
                };
                (number, row)
            })
            .filter(|(_, row)| row.count > 0)
            .collect();
        let sort = selection.sort;
        let mut rows = sorted_by(
            rows,
            |(_, left), (_, right)| sort.key(left).cmp(&sort.key(right)),
            control,
        )?;
        rows.truncate(selection.top.unwrap_or(usize::MAX));
        let (order, rows): (Vec<_>, _) = rows.into_iter().unzip();
        renumber(&mut row_of_slot, &order);
        Ok(Self {
            heap,
            rows,
            row_of_slot,
            instance_limit: selection.instances,
            retained: RetainedColumns::Sum,
            objects: OnceLock::new(),
        })
    }

    /// Releases what the view does not read any more, if nothing else shares the heap: the graph, and
    /// the objects if no instance is listed.
    pub fn release_unread(&mut self) {
        release_unread(&mut self.heap, self.instance_limit);
    }

    /// How many bytes the view takes beside its heap.
    pub fn memory_size(&self) -> u64 {
        self.objects.get().map_or(0, RowObjects::memory_size)
    }

    /// The heap that the view is of.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[ConstructorRow] {
        &self.rows
    }

    /// The number of the row that has the live objects of a class slot; `None` if no row has them.
    pub fn row_of_slot(&self, class_slot: u32) -> Option<u32> {
        let row = self.row_of_slot.get(class_slot as usize).copied();
        row.filter(|&row| row != NO_ROW)
    }

    /// The retained size of each row as a set, also if the rows do not have it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn retained_set_sizes(&self, control: &Control) -> Result<Vec<u64>> {
        self.heap
            .retained_set_sizes(&self.row_of_slot, self.rows.len(), control)
    }

    /// Which retained sizes the rows have.
    pub fn retained_columns(&self) -> RetainedColumns {
        self.retained
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
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn instances(&self, nth: usize) -> Result<Option<Instances>> {
        if nth >= self.rows.len() {
            return Ok(None);
        }
        if self.instance_limit == Some(0) {
            return Ok(Some(Instances::of_one(Listed::none(&self.heap))));
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
            Self::RetainedSet => row.retained_set_size.unwrap_or_default(),
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
