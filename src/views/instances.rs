//! The objects of a row, in the order of their view.

use std::sync::Arc;

use rayon::prelude::*;

use crate::columns;
use crate::error::Result;
use crate::heap::Heap;
use crate::units::{Address, ObjectIndex};

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
    pub address: Address,
    /// Its block in bytes.
    pub shallow_size: u32,
    /// Its retained size in bytes.
    pub retained_size: u32,
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
    pub addresses: Vec<u32>,
    /// Block sizes in bytes.
    pub shallow_sizes: Vec<u32>,
    /// Retained sizes in bytes.
    pub retained_sizes: Vec<u32>,
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
        match (self.first.objects.get(nth), &self.deleted) {
            (Some(&object), None) => Some(self.first.instance(object, None)),
            (Some(&object), Some(_)) => Some(self.first.instance(object, Some(ChangeKind::New))),
            (None, None) => None,
            (None, Some(deleted)) => {
                let object = *deleted.objects.get(nth.checked_sub(self.first.len())?)?;
                Some(deleted.instance(object, Some(ChangeKind::Deleted)))
            }
        }
    }

    /// All objects, in order.
    pub fn iter(&self) -> impl Iterator<Item = Instance> {
        (0..self.len()).filter_map(|nth| self.get(nth))
    }

    /// All objects, as columns.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn columns(&self) -> Result<InstanceColumns> {
        let mut all = InstanceColumns::default();
        let InstanceColumns {
            addresses,
            shallow_sizes,
            retained_sizes,
        } = &mut all;
        for column in [&mut *addresses, shallow_sizes, retained_sizes] {
            columns::reserve(column, self.len())?;
        }
        for instance in self.iter() {
            addresses.push(instance.address.0);
            shallow_sizes.push(instance.shallow_size);
            retained_sizes.push(instance.retained_size);
        }
        Ok(all)
    }
}

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
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn ordered(
        heap: &Arc<Heap>,
        objects: &[ObjectIndex],
        limit: Option<usize>,
        sizes: impl Fn(&Heap, ObjectIndex) -> [u32; 2] + Sync,
    ) -> Result<Self> {
        let limit = limit.unwrap_or(usize::MAX).min(objects.len());
        // The keys are copied: reading them at each comparison would be random access to the heap.
        let mut keyed: Vec<(u64, ObjectIndex)> = columns::with_capacity(objects.len())?;
        keyed.par_extend(objects.par_iter().map(|&object| {
            let [first, second] = sizes(heap, object);
            (!(u64::from(first) << 32 | u64::from(second)), object)
        }));
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

    #[inline]
    fn instance(&self, object: ObjectIndex, change: Option<ChangeKind>) -> Instance {
        Instance {
            address: self.heap.address(object),
            shallow_size: self.heap.shallow_size(object),
            retained_size: self.heap.retained_size(object),
            change,
        }
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
pub(super) fn by_retained_size(heap: &Heap, object: ObjectIndex) -> [u32; 2] {
    [heap.retained_size(object), heap.shallow_size(object)]
}

/// Shallow size, then retained size.
pub(super) fn by_shallow_size(heap: &Heap, object: ObjectIndex) -> [u32; 2] {
    [heap.shallow_size(object), heap.retained_size(object)]
}

/// How many objects the rows list together, from the number of objects of each row.
pub(super) fn listed_count(counts: impl Iterator<Item = u64>, limit: Option<usize>) -> u64 {
    let limit = limit.map_or(u64::MAX, |limit| limit as u64);
    counts.map(|count| count.min(limit)).sum()
}
