//! The object table: one row per static object and per managed heap object, in address order,
//! as columns.

use std::collections::HashMap;

use super::address_index::AddressIndex;
use super::addresses::Addresses;
use super::type_evidence::TypeEvidence;
use base::units::{Address, ObjectAddress, ObjectIndex};

/// A class that has objects.
#[derive(Clone, Debug)]
pub struct HeapClass {
    /// The name that views show.
    pub name: String,
    /// What tells classes of one name apart, if it is known.
    pub origin: Option<ClassOrigin>,
    /// How the type of its objects was found, where that differs: in native programs. Of several ways, the worst.
    pub evidence: Option<TypeEvidence>,
    /// The number of rows of this class, alive or not.
    pub count: u64,
}

/// Where in the source a class of V8 is from. Both numbers are other ones in each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClassOrigin {
    /// The constructor.
    Constructor(Location),
    /// The scope whose variables a context has: the id of its object.
    Scope(u32),
}

/// A position in the source of a script, with the line and the column from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The number of the script.
    pub script: u32,
    /// From 0.
    pub line: u32,
    /// From 0.
    pub column: u32,
}

/// All objects, alive or not. Static objects come first.
#[derive(Debug, Default)]
pub struct ObjectTable {
    /// Payload addresses, ascending.
    pub addresses: Addresses,
    /// Positions in `classes`.
    pub class_slots: Vec<u32>,
    /// Positions in `classes` that paths and places show, where they know an object better than by its class: the scope of
    /// which function, the module of which file. Empty where classes are enough.
    pub place_slots: Vec<u32>,
    /// Block sizes in bytes; 0 for objects that take no heap space, as static ones. [`HUGE`](super::HUGE) stands
    /// for a size in `huge_sizes`.
    pub shallow_sizes: Vec<u32>,
    /// The number of static objects; `None` for a heap that has no such objects. Then the objects without a size
    /// of their own may be anywhere.
    pub statics: Option<u32>,
    /// The sizes of at least [`HUGE`](super::HUGE) bytes, ascending by object.
    pub huge_sizes: Vec<(ObjectIndex, u64)>,
    /// The classes that occur.
    pub classes: Vec<HeapClass>,
    /// Pinned objects, ascending.
    pub pinned: Vec<ObjectIndex>,
    /// Finds an object by its address.
    pub index: AddressIndex,
    /// By class, where references are conservative and types are known: by the number of a field, whether its type says
    /// that it holds no reference. Paths take such references only if there are no others.
    pub plain_fields: Vec<Vec<bool>>,
}

impl ObjectTable {
    /// The bytes of all managed heap objects, alive or not.
    pub fn heap_bytes(&self) -> u64 {
        self.shallow_sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// The size of the columns in bytes.
    pub(super) fn memory_size(&self) -> usize {
        let columns: usize = [&self.class_slots, &self.place_slots, &self.shallow_sizes]
            .map(Vec::capacity)
            .iter()
            .sum();
        self.addresses.memory_size()
            + (columns + self.pinned.capacity()) * size_of::<u32>()
            + self.index.memory_size()
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

    /// Whether the object is static: it lies outside of the heap.
    #[inline]
    pub fn is_static(&self, object: ObjectIndex) -> bool {
        self.statics.is_some_and(|statics| object.0 < statics)
    }

    /// Whether the object takes no heap space. As [`is_on_heap`](Self::is_on_heap), but reads no memory if static
    /// objects come first.
    #[inline]
    pub(crate) fn is_without_size(&self, object: ObjectIndex) -> bool {
        match self.statics {
            Some(statics) => object.0 < statics,
            None => !self.is_on_heap(object),
        }
    }

    /// The object at an address.
    pub fn at(&self, address: impl Into<ObjectAddress>) -> Option<ObjectIndex> {
        let address = address.into();
        // The ids of a snapshot need not be as dense as the index expects.
        let word = u32::try_from(address.0).ok().map(Address);
        if let Some(object) = word.and_then(|word| self.index.get(word)) {
            return Some(object);
        }
        let position = self.addresses.position(address)?;
        Some(ObjectIndex(position as u32))
    }

    /// By class slot: the first slot of a class of the same name.
    pub fn first_slots(&self) -> Vec<u32> {
        let mut by_name = HashMap::new();
        let classes = (0..).zip(&self.classes);
        classes
            .map(|(slot, class)| *by_name.entry(class.name.as_str()).or_insert(slot))
            .collect()
    }

    /// The class of an object in paths and places.
    #[inline]
    pub fn place_slot(&self, object: ObjectIndex) -> u32 {
        let slots = if self.place_slots.is_empty() {
            &self.class_slots
        } else {
            &self.place_slots
        };
        slots[object.at()]
    }

    /// The class of an object.
    #[inline]
    pub fn class_of(&self, object: ObjectIndex) -> &HeapClass {
        &self.classes[self.class_slots[object.at()] as usize]
    }
}
