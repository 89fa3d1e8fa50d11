//! The objects behind a row, as columns.

use std::cmp::Reverse;

use rayon::prelude::*;

use crate::heap::Heap;
use crate::units::ObjectIndex;

/// Objects in the order of their view, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instances {
    /// Payload addresses.
    pub addresses: Vec<u32>,
    /// Block sizes in bytes.
    pub shallow_sizes: Vec<u32>,
    /// What each object keeps alive, in bytes.
    pub retained_sizes: Vec<u32>,
}

impl Instances {
    /// The given objects of a heap, ordered by `key`.
    pub(super) fn sorted_by<K: Ord + Send>(
        heap: &Heap,
        objects: &[ObjectIndex],
        key: impl Fn(&Heap, ObjectIndex) -> K + Sync,
    ) -> Self {
        let mut objects = objects.to_vec();
        objects.par_sort_unstable_by_key(|&object| key(heap, object));
        Self {
            addresses: objects
                .iter()
                .map(|&object| heap.address(object).0)
                .collect(),
            shallow_sizes: objects
                .iter()
                .map(|&object| heap.shallow_size(object))
                .collect(),
            retained_sizes: objects
                .iter()
                .map(|&object| heap.retained_size(object))
                .collect(),
        }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.addresses.append(&mut other.addresses);
        self.shallow_sizes.append(&mut other.shallow_sizes);
        self.retained_sizes.append(&mut other.retained_sizes);
    }
}

/// Retained size ↓, shallow size ↓, address ↑.
pub(super) fn by_retained_size(heap: &Heap, object: ObjectIndex) -> impl Ord + Send + use<> {
    (
        Reverse(heap.retained_size(object)),
        Reverse(heap.shallow_size(object)),
        object,
    )
}

/// Shallow size ↓, retained size ↓, address ↑.
pub(super) fn by_shallow_size(heap: &Heap, object: ObjectIndex) -> impl Ord + Send + use<> {
    (
        Reverse(heap.shallow_size(object)),
        Reverse(heap.retained_size(object)),
        object,
    )
}
