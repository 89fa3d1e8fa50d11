//! Which classes the objects behind each kind of reference can have, as bits: the scan of the references looks
//! up one bit for each reference whose type is declared.

use std::collections::HashMap;

use super::class_slots::DescribedClass;
use crate::runtime::classes::Classes;
use crate::runtime::declared_types::DeclaredType;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{ObjectTable, prefetch};

/// The largest number of bits. Programs with more classes than this allows are not checked.
const MOST_BITS: usize = 1 << 26;

/// A type, as the position of its first word among the bits. The references of [`ANY`] are not checked.
pub(super) type TypeNumber = u32;

/// The type of references to any object.
pub(super) const ANY: TypeNumber = 0;

/// The types of all references.
#[derive(Default)]
pub(super) struct ReferenceTypes {
    /// By class slot.
    classes: Vec<ClassTypes>,
    /// By type, then by class slot of the target: whether the target can be there.
    bits: Vec<u64>,
    /// By object: its class slot in one byte; empty if there are more than 256 classes. A reference leads anywhere, and
    /// a column of a quarter of the size is a quarter of the cache misses.
    narrow_slots: Vec<u8>,
}

/// The types of the references in the objects of a class.
#[derive(Clone, Default)]
pub(super) struct ClassTypes {
    /// In the order of the offsets of the layout.
    pub(super) fields: Vec<TypeNumber>,
    /// Of the elements, or of the keys.
    pub(super) first: TypeNumber,
    /// Of the values of a map.
    pub(super) second: TypeNumber,
}

impl ReferenceTypes {
    /// The types of the references of these classes, for objects with these class slots.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(super) fn new(
        classes: &[DescribedClass],
        known: &Classes<'_>,
        slots: &[u32],
    ) -> Result<Self> {
        let mut numbers = HashMap::new();
        let words_per_type = classes.len().div_ceil(64);
        let mut number = |declared| match declared {
            DeclaredType::Any => ANY,
            DeclaredType::Class(name) => {
                let next = (numbers.len() + 1) * words_per_type;
                *numbers.entry(name).or_insert(next as TypeNumber)
            }
        };
        let types = classes
            .iter()
            .map(|DescribedClass { id, class, .. }| {
                let types = known.declared_types(*id, class);
                ClassTypes {
                    fields: types.fields.into_iter().map(&mut number).collect(),
                    first: number(types.first),
                    second: number(types.second),
                }
            })
            .collect();
        let words = (numbers.len() + 1) * words_per_type;
        if words > MOST_BITS / 64 {
            let unchecked = classes.iter().map(|class| ClassTypes {
                fields: vec![ANY; class.class.layout.offsets.len()],
                ..ClassTypes::default()
            });
            return Ok(Self {
                classes: unchecked.collect(),
                ..Self::default()
            });
        }
        let mut bits = columns::repeated(0, words)?;
        for (slot, class) in classes.iter().enumerate() {
            let mut allow = |number: TypeNumber| {
                bits[number as usize + slot / 64] |= 1 << (slot % 64);
            };
            match known.names_of_bases(class.id) {
                None => numbers.values().for_each(|&number| allow(number)),
                Some(names) => names
                    .iter()
                    .filter_map(|name| numbers.get(name))
                    .for_each(|&number| allow(number)),
            }
        }
        let mut narrow_slots = Vec::new();
        if classes.len() <= 1 << 8 && !numbers.is_empty() {
            columns::reserve(&mut narrow_slots, slots.len())?;
            narrow_slots.extend(slots.iter().map(|&slot| slot as u8));
        }
        Ok(Self {
            classes: types,
            bits,
            narrow_slots,
        })
    }

    /// The types of the references in the objects of each class slot.
    pub(super) fn take_classes(&mut self) -> Vec<ClassTypes> {
        std::mem::take(&mut self.classes)
    }

    /// Asks for what [`allows`](Self::allows) reads about an object.
    #[inline]
    pub(super) fn prefetch(&self, target: ObjectIndex, objects: &ObjectTable) {
        if target.at() < self.narrow_slots.len() {
            prefetch(&self.narrow_slots, target.0);
        } else {
            prefetch(&objects.class_slots, target.0);
        }
    }

    /// Whether this object can be behind a reference of this type, which is not [`ANY`].
    #[inline]
    pub(super) fn allows(
        &self,
        number: TypeNumber,
        target: ObjectIndex,
        objects: &ObjectTable,
    ) -> bool {
        let slot = match self.narrow_slots.get(target.at()) {
            Some(&slot) => u32::from(slot),
            None => objects.class_slots[target.at()],
        };
        let word = self.bits[number as usize + slot as usize / 64];
        word >> (slot % 64) & 1 != 0
    }
}
