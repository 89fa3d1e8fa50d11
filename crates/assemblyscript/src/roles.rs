//! The role of a class in the report: a container with its layout, or an object whose contents can be the
//! same as those of another.

use super::DumpSource;
use super::class_slots::DescribedClass;
use crate::runtime::layout::ContentReferences;
use crate::runtime::shapes::{ClassShape, EntryShape, ShapeKind};

/// A `DataView` begins with the same fields as a typed array, but has another base class.
const DATA_VIEW_NAME: &str = "~lib/dataview/DataView";

/// The size of the fields of an `Array`. A larger object has additional fields.
pub(super) const ARRAY_SIZE: u32 = 16;
/// The same for a view.
pub(super) const VIEW_SIZE: u32 = 12;
/// The same for a map or a set.
pub(super) const TABLE_SIZE: u32 = 24;

/// The role of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A string.
    Text,
    /// An `ArrayBuffer`.
    Buffer,
    /// A `StaticArray`.
    StaticArray,
    /// An `Array` with elements of this many bytes.
    Array(u32),
    /// A typed array or a `DataView`.
    View,
    /// A map or a set.
    Table(EntryShape),
    /// None of these.
    Other,
    /// A class with a visitor of its own: it may be a container.
    OwnVisitor,
    /// The class is not known: it may be a container.
    Unknown,
}

impl Role {
    fn of(class: &DescribedClass, shape: &ClassShape) -> Self {
        match shape.kind {
            ShapeKind::Text => Self::Text,
            ShapeKind::Buffer => Self::Buffer,
            ShapeKind::StaticArray(_) => Self::StaticArray,
            ShapeKind::Array(element) => Self::Array(element.size()),
            ShapeKind::View(_) => Self::View,
            ShapeKind::Map(entries) | ShapeKind::Set(entries) => Self::Table(entries),
            ShapeKind::Plain if class.class.name == DATA_VIEW_NAME => Self::View,
            ShapeKind::Plain | ShapeKind::Tuple | ShapeKind::Function
                if class.class.layout.contents == ContentReferences::Unknown =>
            {
                Self::Unknown
            }
            ShapeKind::Plain | ShapeKind::Tuple | ShapeKind::Function
                if class.class.layout.contents == ContentReferences::Visited =>
            {
                Self::OwnVisitor
            }
            ShapeKind::Plain | ShapeKind::Tuple | ShapeKind::Function => Self::Other,
        }
    }
}

impl DumpSource {
    /// The role of each class slot.
    pub(super) fn roles(&self) -> Vec<Role> {
        let classes = self.classes.iter();
        classes
            .zip(&self.shapes)
            .map(|(class, shape)| Role::of(class, shape))
            .collect()
    }
}
