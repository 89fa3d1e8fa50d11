//! The comparison view: which objects were created and deleted between two heaps of a program, by class.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::Selection;
use super::grouping::{ClassNumbers, NO_ROW, RowObjects, renumber};
use super::instances::{Instances, Listed, by_shallow_size, listed_count, release_unread};
use crate::Heap;
use base::control::{Control, Phase};
use base::error::Result;
use base::sorting::sorted_by;
use base::units::{ObjectAddress, ObjectIndex};

/// About how many objects of both heaps one task compares.
const CHUNK: usize = 1 << 16;

/// The classes whose live objects changed. Two objects are the same if their class name and address are.
#[derive(Debug)]
pub struct ComparisonView {
    pair: HeapPair,
    rows: Vec<ComparisonRow>,
    instance_limit: Option<usize>,
    /// By heap: the objects that are only in this heap.
    objects: OnceLock<[RowObjects; 2]>,
}

/// What changed in one class. Sizes are sums of shallow sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparisonRow {
    /// In full, such as `assembly/game/Player`.
    pub class_name: String,
    /// Objects only in the after heap.
    pub new_count: u64,
    /// Objects only in the before heap.
    pub deleted_count: u64,
    /// The size of the objects only in the after heap.
    pub allocated_size: u64,
    /// The size of the objects only in the before heap.
    pub freed_size: u64,
}

impl ComparisonRow {
    /// New − deleted.
    pub fn count_delta(&self) -> i64 {
        self.new_count as i64 - self.deleted_count as i64
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
    /// Compares two heaps.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(
        before: Arc<Heap>,
        after: Arc<Heap>,
        selection: Selection<ComparisonSort>,
        control: &Control,
    ) -> Result<Self> {
        let mut names = ClassNumbers::default();
        let rows = [
            names.of_classes(&before, control)?,
            names.of_classes(&after, control)?,
        ];
        Self::of_groups([before, after], selection, names, rows, control)
    }

    /// The same, where constructors of a snapshot that share a name share a row, wherever in the source they are.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn by_name(
        before: Arc<Heap>,
        after: Arc<Heap>,
        selection: Selection<ComparisonSort>,
        control: &Control,
    ) -> Result<Self> {
        let mut names = ClassNumbers::default();
        let rows = [
            names.without_origins(&before, control)?,
            names.without_origins(&after, control)?,
        ];
        Self::of_groups([before, after], selection, names, rows, control)
    }

    fn of_groups(
        heaps: [Arc<Heap>; 2],
        selection: Selection<ComparisonSort>,
        names: ClassNumbers,
        row_of_slot: [Vec<u32>; 2],
        control: &Control,
    ) -> Result<Self> {
        let mut pair = HeapPair { row_of_slot, heaps };
        let sums = pair.sum_changes(names.all.len(), control)?;
        let rows: Vec<(u32, ComparisonRow)> = (0..)
            .zip(names.distinct(control)?.into_iter().zip(sums))
            .map(|(number, (class_name, sums))| {
                let [deleted, new] = sums.0;
                let row = ComparisonRow {
                    class_name,
                    new_count: new.count,
                    deleted_count: deleted.count,
                    allocated_size: new.size,
                    freed_size: deleted.size,
                };
                (number, row)
            })
            .filter(|(_, row)| row.new_count + row.deleted_count > 0)
            .collect();
        let compare =
            |(_, left): &(u32, _), (_, right): &(u32, _)| selection.sort.compare(left, right);
        let mut rows = sorted_by(rows, compare, control)?;
        rows.truncate(selection.top.unwrap_or(usize::MAX));
        let (order, rows): (Vec<_>, _) = rows.into_iter().unzip();
        for row_of_slot in &mut pair.row_of_slot {
            renumber(row_of_slot, &order);
        }
        Ok(Self {
            pair,
            rows,
            instance_limit: selection.instances,
            objects: OnceLock::new(),
        })
    }

    /// Releases the parts of the heaps that the view does not read any more: the graph, and the objects if no
    /// instance is listed. Does nothing to heaps that are shared.
    pub fn release_unread(&mut self) {
        for heap in &mut self.pair.heaps {
            release_unread(heap, self.instance_limit);
        }
    }

    /// The size of the view in bytes, without its heaps.
    pub fn memory_size(&self) -> u64 {
        let objects = self.objects.get().into_iter().flatten();
        objects.map(RowObjects::memory_size).sum()
    }

    /// The earlier heap.
    pub fn before(&self) -> &Heap {
        &self.pair.heaps[BEFORE]
    }

    /// The later heap.
    pub fn after(&self) -> &Heap {
        &self.pair.heaps[AFTER]
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[ComparisonRow] {
        &self.rows
    }

    /// How many objects are listed in all rows together.
    pub fn instance_count(&self) -> u64 {
        let rows = self.rows.iter();
        let counts = rows.map(|row| row.new_count + row.deleted_count);
        listed_count(counts, self.instance_limit)
    }

    /// The changed objects of the `nth` row: the new ones with their sizes in the after heap, then
    /// the deleted ones with their sizes in the before heap; each shallow size ↓, retained size ↓,
    /// address ↑. `None` past the last row. The objects of all rows are looked up at the first call;
    /// those of a row are put in order at each.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn instances(&self, nth: usize) -> Result<Option<Instances>> {
        if nth >= self.rows.len() {
            return Ok(None);
        }
        if self.instance_limit == Some(0) {
            let [deleted, new] = self.pair.heaps.each_ref().map(Listed::none);
            return Ok(Some(Instances::changed(new, deleted)));
        }
        let [deleted, new] = match self.objects.get() {
            Some(objects) => objects,
            None => {
                let objects = self.group()?;
                self.objects.get_or_init(|| objects)
            }
        };
        let [before, after] = &self.pair.heaps;
        let limit = self.instance_limit;
        let new = Listed::ordered(after, new.of(nth), limit, by_shallow_size)?;
        let rest = limit.map(|limit| limit - new.len());
        let deleted = Listed::ordered(before, deleted.of(nth), rest, by_shallow_size)?;
        Ok(Some(Instances::changed(new, deleted)))
    }

    fn group(&self) -> Result<[RowObjects; 2]> {
        let mut changed = [
            RowObjects::with_room(self.rows.iter().map(|row| row.deleted_count))?,
            RowObjects::with_room(self.rows.iter().map(|row| row.new_count))?,
        ];
        let all = [self.before(), self.after()].map(|heap| 0..heap.objects.len());
        self.pair.for_each_change(all, |heap, row, object| {
            if row != NO_ROW {
                changed[heap].push(row, object);
            }
        });
        Ok(changed)
    }
}

const BEFORE: usize = 0;
const AFTER: usize = 1;

/// Two heaps and the row of each of their class slots.
#[derive(Debug)]
struct HeapPair {
    heaps: [Arc<Heap>; 2],
    row_of_slot: [Vec<u32>; 2],
}

/// The objects of one row that are only in one of two heaps, by heap.
#[derive(Clone, Copy, Default)]
struct RowChanges([Change; 2]);

#[derive(Clone, Copy, Default)]
struct Change {
    count: u64,
    size: u64,
}

impl RowChanges {
    fn add(&mut self, other: Self) {
        for (change, other) in self.0.iter_mut().zip(other.0) {
            change.count += other.count;
            change.size += other.size;
        }
    }
}

impl HeapPair {
    fn sum_changes(&self, rows: usize, control: &Control) -> Result<Vec<RowChanges>> {
        let none = || vec![RowChanges::default(); rows];
        let pieces = self.pieces();
        let step = control.begin(Phase::View, pieces.len() as u64);
        pieces
            .into_par_iter()
            .try_fold(none, |mut sums, objects| {
                self.for_each_change(objects, |heap, row, object| {
                    let change = &mut sums[row as usize].0[heap];
                    change.count += 1;
                    change.size += self.heaps[heap].shallow_size(object);
                });
                step.advance(1)?;
                Ok(sums)
            })
            .try_reduce(none, |mut left, right| {
                let pairs = left.iter_mut().zip(right);
                pairs.for_each(|(left, right)| left.add(right));
                Ok(left)
            })
    }

    /// Divides both object tables at the same addresses.
    fn pieces(&self) -> Vec<[Range<usize>; 2]> {
        let [before, after] = self.heaps.each_ref().map(|heap| &heap.objects.addresses);
        let mut start = [0, 0];
        let mut pieces = Vec::new();
        while start != [before.len(), after.len()] {
            // The longer remaining column decides the next boundary.
            let longer = if before.len() - start[BEFORE] >= after.len() - start[AFTER] {
                (before, start[BEFORE])
            } else {
                (after, start[AFTER])
            };
            let next = longer.1 + CHUNK;
            let end = if next < longer.0.len() {
                let boundary = longer.0.get(next);
                [
                    before.first_from(boundary, start[BEFORE]..before.len()),
                    after.first_from(boundary, start[AFTER]..after.len()),
                ]
            } else {
                [before.len(), after.len()]
            };
            pieces.push([start[BEFORE]..end[BEFORE], start[AFTER]..end[AFTER]]);
            start = end;
        }
        pieces
    }

    /// Passes on the live objects that are in only one heap: the heap, the row, the object. Both
    /// heaps list their objects in address order, so one merge finds what they share.
    fn for_each_change(
        &self,
        [before, after]: [Range<usize>; 2],
        mut changed: impl FnMut(usize, u32, ObjectIndex),
    ) {
        let mut old = self.live_objects(BEFORE, before).peekable();
        let mut new = self.live_objects(AFTER, after).peekable();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.address.cmp(&new.address),
            };
            let gone = if order.is_le() { old.next() } else { None };
            let come = if order.is_ge() { new.next() } else { None };
            if let (Some(gone), Some(come)) = (&gone, &come)
                && gone.row == come.row
            {
                continue;
            }
            if let Some(gone) = gone {
                changed(BEFORE, gone.row, gone.object);
            }
            if let Some(come) = come {
                changed(AFTER, come.row, come.object);
            }
        }
    }

    fn live_objects(&self, heap: usize, range: Range<usize>) -> impl Iterator<Item = LiveObject> {
        let row_of_slot = &self.row_of_slot[heap];
        let heap = &self.heaps[heap];
        let objects = range.map(|object| ObjectIndex(object as u32));
        let live = objects.filter(|&object| heap.is_live_on_heap(object));
        live.map(|object| LiveObject {
            object,
            address: heap.address(object),
            row: row_of_slot[heap.objects.class_slots[object.at()] as usize],
        })
    }
}

struct LiveObject {
    object: ObjectIndex,
    address: ObjectAddress,
    row: u32,
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
