//! The object table: one row per static object and per managed heap object, in address order,
//! as columns.

use std::collections::HashMap;

use super::address_index::AddressIndex;
use crate::runtime::classes::RuntimeClass;
use crate::snapshots::Location;
use crate::units::{Address, ClassId, ObjectIndex};

/// A class that has objects in the dump.
#[derive(Debug)]
pub struct HeapClass {
    /// The runtime id.
    pub id: ClassId,
    /// Its name and layout.
    pub class: RuntimeClass,
    /// Of a snapshot: the place of the constructor in the source, if it is known.
    pub location: Option<Location>,
    /// The number of rows of this class, alive or not.
    pub count: u64,
}

impl HeapClass {
    /// A class of a snapshot, without objects.
    pub(crate) fn of_snapshot(id: u32, name: String, location: Option<Location>) -> Self {
        Self {
            id: ClassId(id),
            class: RuntimeClass::of_snapshot(name),
            location,
            count: 0,
        }
    }

    /// The same class of a snapshot, without objects.
    pub(crate) fn without_objects(&self) -> Self {
        Self::of_snapshot(self.id.0, self.class.name.clone(), self.location)
    }
}

/// All objects, alive or not. Static objects come first, because they are below the heap.
#[derive(Debug, Default)]
pub struct ObjectTable {
    /// Payload addresses, ascending.
    pub addresses: Vec<u32>,
    /// Positions in `classes`.
    pub class_slots: Vec<u32>,
    /// Block sizes in bytes; 0 for static objects, which take no heap space. [`HUGE`](super::HUGE) stands for
    /// a size in `huge_sizes`.
    pub shallow_sizes: Vec<u32>,
    /// The sizes of at least [`HUGE`](super::HUGE) bytes, ascending by object. Only snapshots have them.
    pub huge_sizes: Vec<(ObjectIndex, u64)>,
    /// The classes that occur.
    pub classes: Vec<HeapClass>,
    /// Pinned objects, ascending.
    pub pinned: Vec<ObjectIndex>,
    /// Finds an object by its address.
    pub index: AddressIndex,
}

impl ObjectTable {
    /// The bytes of all managed heap objects, alive or not.
    pub fn heap_bytes(&self) -> u64 {
        self.shallow_sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// The size of the columns in bytes.
    pub(super) fn memory_size(&self) -> usize {
        let columns = [&self.addresses, &self.class_slots, &self.shallow_sizes];
        let columns: usize = columns.map(|column| column.capacity()).iter().sum();
        (columns + self.pinned.capacity()) * size_of::<u32>() + self.index.memory_size()
    }

    /// Releases the index and the spare capacity of columns.
    pub(super) fn release_index(&mut self) {
        self.index = AddressIndex::default();
        self.addresses.shrink_to_fit();
        self.class_slots.shrink_to_fit();
        self.shallow_sizes.shrink_to_fit();
        self.pinned.shrink_to_fit();
    }

    /// Releases everything except the classes.
    pub(super) fn release_columns(&mut self) {
        let classes = std::mem::take(&mut self.classes);
        *self = Self {
            classes,
            ..Self::default()
        };
    }

    /// The number of objects, static ones included.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Whether the object takes heap space. The smallest block has 16 bytes.
    #[inline]
    pub fn is_on_heap(&self, object: ObjectIndex) -> bool {
        self.shallow_sizes[object.at()] != 0
    }

    /// The object at an address.
    pub fn at(&self, address: Address) -> Option<ObjectIndex> {
        // The ids of a snapshot need not be as dense as the index expects.
        if let Some(object) = self.index.get(address) {
            return Some(object);
        }
        let place = self.addresses.partition_point(|&start| start < address.0);
        let is_found = self.addresses.get(place) == Some(&address.0);
        is_found.then_some(ObjectIndex(place as u32))
    }

    /// By class slot: the first slot of a class of the same name.
    pub fn first_slots(&self) -> Vec<u32> {
        let mut by_name = HashMap::new();
        let classes = (0..).zip(&self.classes);
        classes
            .map(|(slot, class)| *by_name.entry(class.class.name.as_str()).or_insert(slot))
            .collect()
    }

    /// The class of an object.
    #[inline]
    pub fn class_of(&self, object: ObjectIndex) -> &HeapClass {
        &self.classes[self.class_slots[object.at()] as usize]
    }
}
