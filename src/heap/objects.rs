//! The object table: one row per static object and per managed heap object, in address order,
//! as columns.

use std::collections::HashMap;

use super::address_index::AddressIndex;
use crate::runtime::classes::RuntimeClass;
use crate::units::{ClassId, ObjectIndex};

/// A class that has objects in the dump.
#[derive(Debug)]
pub struct HeapClass {
    /// The runtime id.
    pub id: ClassId,
    /// Its name and layout.
    pub class: RuntimeClass,
    /// The number of rows of this class, alive or not.
    pub count: u64,
}

/// All objects, alive or not. Static objects come first, because they are below the heap.
#[derive(Debug, Default)]
pub struct ObjectTable {
    /// Payload addresses, ascending.
    pub addresses: Vec<u32>,
    /// Positions in `classes`.
    pub class_slots: Vec<u32>,
    /// Block sizes in bytes; 0 for static objects, which take no heap space.
    pub shallow_sizes: Vec<u32>,
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
