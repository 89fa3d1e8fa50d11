//! What the scan for references needs to know about each class.

use super::class_slots::DescribedClass;
use super::reference_types::{ClassTypes, TypeNumber};
use crate::runtime::layout::ContentReferences;
use crate::runtime::shapes::ClassShape;
use base::units::ClassId;

/// A class whose objects are scanned.
pub(super) struct ScannedClass<'a> {
    pub(super) id: ClassId,
    pub(super) is_pointer_free: bool,
    /// Whether the objects have no references but the fields.
    pub(super) is_fixed: bool,
    /// The size that all objects have, if it is known.
    pub(super) declared_size: Option<u32>,
    /// Whether a word that refers to nothing proves damage.
    pub(super) is_certain: bool,
    pub(super) fields: Vec<ReferenceWord>,
    pub(super) contents: &'a ContentReferences,
    /// The type of the elements, or of the keys.
    pub(super) first: TypeNumber,
    /// The type of the values of a map.
    pub(super) second: TypeNumber,
    /// With labels only.
    pub(super) shape: Option<&'a ClassShape>,
}

/// A word of the objects of a class that is a reference.
#[derive(Clone, Copy)]
pub(super) struct ReferenceWord {
    pub(super) offset: u32,
    pub(super) declared: TypeNumber,
}

impl<'a> ScannedClass<'a> {
    /// All classes, by class slot, with their types and, if labels are wanted, their shapes.
    pub(super) fn all(
        classes: &'a [DescribedClass],
        types: Vec<ClassTypes>,
        shapes: &'a [ClassShape],
    ) -> Vec<Self> {
        let mut shapes = shapes.iter();
        let classes =
            classes
                .iter()
                .zip(types)
                .map(|(&DescribedClass { id, ref class, .. }, types)| {
                    let fields = class.layout.offsets.iter().zip(types.fields);
                    ScannedClass {
                        id,
                        is_pointer_free: class.layout.is_pointer_free(),
                        is_fixed: class.layout.contents == ContentReferences::Fixed,
                        declared_size: class.declared_size,
                        is_certain: class.is_certain,
                        fields: fields
                            .map(|(&offset, declared)| ReferenceWord { offset, declared })
                            .collect(),
                        contents: &class.layout.contents,
                        first: types.first,
                        second: types.second,
                        shape: shapes.next(),
                    }
                });
        classes.collect()
    }
}
