//! The objects of a row, in the order of their view.

use std::cmp::Reverse;
use std::sync::Arc;

use rayon::prelude::*;

use crate::{HUGE, Heap};
use base::columns;
use base::error::Result;
use base::units::{ObjectAddress, ObjectIndex};

/// Objects of one heap, or the changed ones of two, in order. An object takes four bytes: its address and
/// sizes are read from the heap when they are needed.
#[derive(Clone, Debug)]
pub struct Instances {
    first: Listed,
    /// In a comparison: the deleted objects. Then the first ones are new.
    deleted: Option<Listed>,
}

/// One object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its payload.
    pub address: ObjectAddress,
    /// Its block in bytes.
    pub shallow_size: u64,
    /// Its retained size in bytes.
    pub retained_size: u64,
    /// In a comparison: how it changed.
    pub change: Option<ChangeKind>,
}

/// How an object changed between two heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is only in the after heap.
    New,
    /// It is only in the before heap.
    Deleted,
}

/// Objects as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceColumns {
    /// Payload addresses.
    pub addresses: NumberColumn,
    /// Block sizes in bytes.
    pub shallow_sizes: NumberColumn,
    /// Retained sizes in bytes.
    pub retained_sizes: NumberColumn,
}

/// Addresses, or sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberColumn {
    /// All need at most 32 bits. So it is for every dump.
    Narrow(Vec<u32>),
    /// Some need more.
    Wide(Vec<u64>),
}

impl Default for NumberColumn {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl NumberColumn {
    fn new(sizes: impl ExactSizeIterator<Item = u64>) -> Result<Self> {
        let length = sizes.len();
        let mut narrow: Vec<u32> = columns::with_capacity(length)?;
        let mut wide: Vec<u64> = Vec::new();
        for size in sizes {
            match u32::try_from(size) {
                Ok(size) if wide.is_empty() => narrow.push(size),
                _ => {
                    if wide.is_empty() {
                        wide = columns::with_capacity(length)?;
                        wide.extend(narrow.drain(..).map(u64::from));
                    }
                    wide.push(size);
                }
            }
        }
        Ok(if wide.is_empty() {
            Self::Narrow(narrow)
        } else {
            Self::Wide(wide)
        })
    }
}

impl Instances {
    /// Objects of one heap.
    pub(super) fn of_one(objects: Listed) -> Self {
        Self {
            first: objects,
            deleted: None,
        }
    }

    /// Objects that changed between two heaps.
    pub(super) fn changed(new: Listed, deleted: Listed) -> Self {
        Self {
            first: new,
            deleted: Some(deleted),
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.first.len() + self.deleted.as_ref().map_or(0, Listed::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In a comparison: how many of them are new. They come before the deleted ones.
    pub fn new_count(&self) -> Option<usize> {
        self.deleted.as_ref().map(|_| self.first.len())
    }

    /// The `nth` object; `None` past the last.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<Instance> {
        let Some(deleted) = &self.deleted else {
            return self.first.get(nth, None);
        };
        match nth.checked_sub(self.first.len()) {
            None => self.first.get(nth, Some(ChangeKind::New)),
            Some(nth) => deleted.get(nth, Some(ChangeKind::Deleted)),
        }
    }

    /// All objects, in order.
    pub fn iter(&self) -> impl Iterator<Item = Instance> {
        (0..self.len()).filter_map(|nth| self.get(nth))
    }

    /// All objects, as columns.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn columns(&self) -> Result<InstanceColumns> {
        let instances = || (0..self.len()).map(|nth| self.get(nth));
        let shallow_size = |instance: Option<Instance>| instance.map_or(0, |it| it.shallow_size);
        let retained_size = |instance: Option<Instance>| instance.map_or(0, |it| it.retained_size);
        let address = |instance: Option<Instance>| instance.map_or(0, |it| it.address.0);
        Ok(InstanceColumns {
            addresses: NumberColumn::new(instances().map(address))?,
            shallow_sizes: NumberColumn::new(instances().map(shallow_size))?,
            retained_sizes: NumberColumn::new(instances().map(retained_size))?,
        })
    }
}

/// Objects in advance for which memory is prefetched.
const AHEAD: usize = 24;

/// Objects of one heap, in order.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    heap: Arc<Heap>,
    objects: Vec<ObjectIndex>,
}

impl Listed {
    /// No object.
    pub(super) fn none(heap: &Arc<Heap>) -> Self {
        Self {
            heap: Arc::clone(heap),
            objects: Vec::new(),
        }
    }

    /// The first `limit` of these objects when they are ordered by two of their sizes, each ↓, and
    /// then by address ↑. The objects are given by ascending address.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(super) fn ordered(
        heap: &Arc<Heap>,
        objects: &[ObjectIndex],
        limit: Option<usize>,
        sizes: impl Fn(&Heap, ObjectIndex) -> [u64; 2] + Sync,
    ) -> Result<Self> {
        let limit = limit.unwrap_or(usize::MAX).min(objects.len());
        // The keys are copied: reading them at each comparison would be random access to the heap.
        let mut keyed: Vec<(u64, ObjectIndex)> = columns::with_capacity(objects.len())?;
        keyed.par_extend(objects.par_iter().map(|&object| {
            let [first, second] = sizes(heap, object).map(|size| size.min(HUGE.into()));
            (!(first << 32 | second), object)
        }));
        let is_huge = |&(key, _): &(u64, ObjectIndex)| !key >> 32 == u64::from(HUGE);
        // Only snapshots have sizes that need more than 32 bits.
        if heap.has_huge_sizes() {
            keyed.par_sort_unstable();
            let huge = keyed.partition_point(is_huge);
            keyed[..huge]
                .sort_unstable_by_key(|&(_, object)| (Reverse(sizes(heap, object)), object));
            keyed.truncate(limit);
            return Ok(Self {
                heap: Arc::clone(heap),
                objects: columns::collected(keyed.iter().map(|&(_, object)| object))?,
            });
        }
        if limit < keyed.len() {
            keyed.select_nth_unstable(limit);
            keyed.truncate(limit);
        }
        keyed.par_sort_unstable();
        Ok(Self {
            heap: Arc::clone(heap),
            objects: columns::collected(keyed.iter().map(|&(_, object)| object))?,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// The nth object. Asks for the memory of one that is read soon if all are read in turn.
    #[inline]
    fn get(&self, nth: usize, change: Option<ChangeKind>) -> Option<Instance> {
        let &object = self.objects.get(nth)?;
        if let Some(&ahead) = self.objects.get(nth + AHEAD) {
            self.heap.prefetch_sizes(ahead);
        }
        Some(Instance {
            address: self.heap.address(object),
            shallow_size: self.heap.shallow_size(object),
            retained_size: self.heap.retained_size(object),
            change,
        })
    }
}

/// Releases what a view with this limit of instances does not read of its heap, if the heap is the
/// view's alone.
pub(super) fn release_unread(heap: &mut Arc<Heap>, instance_limit: Option<usize>) {
    if let Some(heap) = Arc::get_mut(heap) {
        match instance_limit {
            Some(0) => heap.release_objects(),
            _ => heap.release_graph(),
        }
    }
}

/// Retained size, then shallow size.
pub(super) fn by_retained_size(heap: &Heap, object: ObjectIndex) -> [u64; 2] {
    [heap.retained_size(object), heap.shallow_size(object)]
}

/// Shallow size, then retained size.
pub(super) fn by_shallow_size(heap: &Heap, object: ObjectIndex) -> [u64; 2] {
    [heap.shallow_size(object), heap.retained_size(object)]
}

/// How many objects the rows list together, from the number of objects of each row.
pub(super) fn listed_count(counts: impl Iterator<Item = u64>, limit: Option<usize>) -> u64 {
    let limit = limit.map_or(u64::MAX, |limit| limit as u64);
    counts.map(|count| count.min(limit)).sum()
}
