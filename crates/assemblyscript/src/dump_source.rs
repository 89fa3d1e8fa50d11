//! A dump with what is known of its objects' classes, of which the contents are read again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::class_slots::DescribedClass;
use super::graph::DumpNames;
use super::memory_map::MemoryMap;
use crate::runtime::shapes::{ClassShape, ShapeKind};
use base::error::Result;
use base::units::{ClassId, ObjectIndex};
use heap::{ClassNaming, DumpBytes, Facts, Heap, NamedBy};

/// A dump, which is read again when a question needs contents.
pub(crate) struct DumpSource {
    pub(super) heap: Arc<Heap>,
    /// By class slot.
    pub(super) classes: Arc<Vec<DescribedClass>>,
    /// By class slot.
    pub(super) shapes: Vec<ClassShape>,
    pub(super) memory_map: MemoryMap,
    pub(super) contents: Box<dyn DumpBytes>,
    /// The offset of the memory in the dump, and its size in bytes.
    pub(super) memory_start: u64,
    pub(super) memory_size: u64,
    pub(super) facts: Facts,
    pub(super) functions: FunctionNames,
}

/// The names of functions by the index that function objects have.
pub(crate) type FunctionNames = Arc<HashMap<u32, Arc<str>>>;

impl DumpSource {
    /// Takes a heap, its names, a hash of its module and the names of its functions, and the dump, from which it is
    /// read again: `memory` is the range of its memory there.
    pub(crate) fn new(
        heap: Arc<Heap>,
        names: DumpNames,
        (module_hash, functions): (u64, FunctionNames),
        contents: Box<dyn DumpBytes>,
        memory: Range<u64>,
    ) -> Self {
        Self {
            heap,
            classes: names.classes,
            shapes: names.shapes,
            memory_map: names.memory_map,
            contents,
            memory_start: memory.start,
            memory_size: memory.end - memory.start,
            facts: super::facts::facts(module_hash),
            functions,
        }
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The size of the memory in the dump, in bytes.
    pub(crate) fn dump_memory_size(&self) -> u64 {
        self.memory_size
    }

    pub(crate) fn shape(&self, object: ObjectIndex) -> &ClassShape {
        &self.shapes[self.heap.objects.class_slots[object.at()] as usize]
    }

    pub(crate) fn class_name(&self, object: ObjectIndex) -> &str {
        &self.heap.objects.class_of(object).name
    }

    /// The runtime id of an object's class.
    pub(super) fn class_id(&self, object: ObjectIndex) -> ClassId {
        self.classes[self.heap.objects.class_slots[object.at()] as usize].id
    }

    /// How references from the objects of a class are named.
    pub(super) fn naming(&self, shape: &ClassShape) -> ClassNaming {
        ClassNaming {
            is_text: shape.kind == ShapeKind::Text,
            fields: shape.references.len() as u32,
            by: match shape.kind {
                ShapeKind::Array(_) | ShapeKind::StaticArray(_) => NamedBy::Index,
                ShapeKind::Map(_) | ShapeKind::Set(_) => NamedBy::Key,
                _ => NamedBy::Label,
            },
        }
    }

    /// The dump, for many reads in a row, as [`DumpBytes::open`] returns it.
    ///
    /// # Errors
    /// Those of [`DumpBytes::open`].
    pub(super) fn open(&self) -> Result<Option<Box<dyn DumpBytes + '_>>> {
        self.contents.open()
    }
}
