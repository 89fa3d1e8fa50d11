//! A heap with what questions read of its dump.

use std::collections::HashSet;
use std::sync::Arc;

use crate::container_layout::OWN_STORAGE;
use crate::contents::FileReader;
use crate::facts;
use crate::model::{JavaSlotKind, Model};
use crate::values::ValueReader;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{DumpBytes, Facts, Heap};

pub(crate) struct JvmSource {
    pub(crate) heap: Arc<Heap>,
    pub(crate) model: Model,
    contents: Box<dyn DumpBytes>,
    pub(crate) facts: Facts,
    /// Class slots and numbers of names of references to a collection's own memory.
    pub(crate) storage: HashSet<(u32, u32)>,
}

impl JvmSource {
    pub(crate) fn new(heap: Arc<Heap>, model: Model, contents: Box<dyn DumpBytes>) -> Self {
        let facts = facts::facts();
        let storage = storage(&model);
        Self {
            heap,
            model,
            contents,
            facts,
            storage,
        }
    }

    /// Reads values.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](heap::HeapError::DumpChanged), [`Error::Io`](base::Error::Io).
    pub(crate) fn values(&self) -> Result<ValueReader<'_>> {
        Ok(ValueReader {
            heap: &self.heap,
            model: &self.model,
            file: FileReader::of_dump(&*self.contents, self.model.length, self.model.ids)?,
        })
    }

    pub(crate) fn class_name(&self, object: ObjectIndex) -> &str {
        &self.heap.objects.class_of(object).name
    }
}

/// Of each class slot: the references of [`OWN_STORAGE`] that its instances have.
fn storage(model: &Model) -> HashSet<(u32, u32)> {
    let mut storage = HashSet::new();
    for (slot, kind) in (0..).zip(&model.slots) {
        let JavaSlotKind::Instances(class) = *kind else {
            continue;
        };
        for class in model.classes.hierarchy(class) {
            let name = model.classes.all[class as usize].name.as_str();
            let fields = OWN_STORAGE.iter().filter(|(owner, _)| *owner == name);
            let numbers = fields.filter_map(|(_, field)| model.classes.names.find(field));
            storage.extend(numbers.map(|number| (slot, number)));
        }
    }
    storage
}
