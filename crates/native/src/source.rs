//! What a heap of C, C++ or Rust says of itself: addresses, sizes, and the offsets of references. It has no texts.

use std::any::Any;
use std::sync::Arc;

use base::columns;
use base::control::{Control, Step};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use base::warning::Warning;
use heap::{
    Blocks, DominatorIndex, EdgeLabel, FieldReader, FieldType, FieldValue, Found, Heap, LabelKind,
    Need, ObjectReader, PathTree, ReadOrder, Source, Survey, TextFilter,
};

use crate::error::NativeError;
use crate::fields::{NativeFields, type_of_field};
use crate::used_blocks::Allocator;

/// The heap of one dump, and a hash of its module.
pub(crate) struct NativeSource {
    heap: Arc<Heap>,
    program: u64,
    allocator: Allocator,
}

impl NativeSource {
    pub(crate) fn new(heap: Arc<Heap>, program: u64, allocator: Allocator) -> Self {
        Self {
            heap,
            program,
            allocator,
        }
    }
}

struct NativeReader<'h>(&'h NativeSource);

struct NoTexts;

impl TextFilter for NoTexts {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        objects.clear();
        Ok(())
    }
}

impl Source for NativeSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn program(&self) -> u64 {
        self.program
    }

    fn check(&self, need: Need) -> Result<()> {
        let (question, reason) = match need {
            Need::Contents => (
                "waste",
                "the dump does not say which blocks are strings or containers",
            ),
            // It has none: what nothing refers to has a root of its own.
            Need::Garbage | Need::Blocks | Need::HeapSnapshot => return Ok(()),
        };
        Err(NativeError::NotInNativeHeap { question, reason }.into())
    }

    fn has_module(&self) -> bool {
        true
    }

    fn memory_size(&self) -> u64 {
        0
    }

    fn content_size(&self) -> u64 {
        0
    }

    fn blocks(&self) -> Option<Blocks> {
        Some(Blocks {
            header: 0,
            granule: 8,
            overhead: Some(self.allocator.overhead()),
        })
    }

    fn class_label(&self, _: u32, label: EdgeLabel) -> String {
        match label.kind() {
            LabelKind::Word(offset) => format!("+{offset:#x}"),
            _ => "far word".to_owned(),
        }
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        let label = self.heap.edges.label(position).unwrap_or_default();
        self.class_label(class_slot, label)
    }

    fn without_key<'l>(&self, label: &'l str) -> &'l str {
        label
    }

    fn is_label_stable(&self, _: EdgeLabel, _: &str) -> bool {
        true
    }

    fn is_class_stable(&self, _: &str) -> bool {
        true
    }

    fn is_own_storage(&self, _: u32, _: EdgeLabel) -> bool {
        false
    }

    fn storage_references(&self) -> usize {
        1
    }

    fn around(&self, address: u32, notes: &mut Vec<Warning>, _: &Control) -> Result<Option<Found>> {
        let addresses = &self.heap.objects.addresses;
        let Some(nth) = addresses
            .partition_point(|&start| start <= address)
            .checked_sub(1)
        else {
            return Ok(None);
        };
        let object = ObjectIndex(nth as u32);
        let usable = self.heap.shallow_size(object) - u64::from(self.allocator.overhead());
        let end = u64::from(addresses[nth]) + usable;
        if u64::from(address) >= end {
            return Ok(None);
        }
        notes.push(Warning::AddressInside {
            address: Address(address),
            what: "block",
            start: Address(addresses[nth]),
        });
        Ok(Some(Found::Object(object)))
    }

    fn reader(&self, _: ReadOrder, _: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(NativeReader(self))
    }

    fn field_type(&self, name: &str, _: &[bool], _: &Control) -> Result<Option<FieldType>> {
        Ok(type_of_field(name))
    }

    fn field_reader(
        &self,
        names: &[String],
        control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(NativeFields::new(&self.heap, names, control)))
    }

    fn text_filter(&self, _: &str, _: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(NoTexts))
    }

    fn content_sizes(&self, _: &PathTree, _: &Step<'_>) -> Result<Vec<u32>> {
        let sizes = self.heap.objects.shallow_sizes.iter();
        let overhead = self.allocator.overhead();
        columns::collected(sizes.map(|&size| size - overhead))
    }

    fn survey(&self, _: &DominatorIndex, _: &Step<'_>) -> Result<Survey> {
        Ok(Survey::default())
    }
}

impl ObjectReader for NativeReader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        _: ObjectIndex,
        label: EdgeLabel,
        _: usize,
    ) -> Result<String> {
        let slot = self.0.heap.objects.class_slots[source.at()];
        Ok(self.0.class_label(slot, label))
    }

    fn label_at(&mut self, source: ObjectIndex, position: u32, _: usize) -> Result<String> {
        let slot = self.0.heap.objects.class_slots[source.at()];
        Ok(self.0.label_at(slot, position))
    }

    fn preview(&mut self, _: ObjectIndex) -> Result<Option<String>> {
        Ok(None)
    }

    fn fields(&mut self, _: ObjectIndex, _: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        Ok(Vec::new())
    }

    fn literal(&mut self, _: ObjectIndex) -> Result<Option<String>> {
        Ok(None)
    }

    fn shared_contents(&mut self, _: ObjectIndex) -> Result<String> {
        Ok(String::new())
    }
}
