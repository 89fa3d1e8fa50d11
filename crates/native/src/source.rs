//! What a heap of C, C++ or Rust says of itself: addresses, sizes, and the names of references and fields.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use base::columns;
use base::control::{Control, Step};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use base::warning::Warning;
use heap::{
    Blocks, DominatorIndex, EdgeLabel, FieldReader, FieldType, Found, Heap, LabelKind, Need,
    ObjectReader, PathTree, ReadOrder, Source, Survey, TextFilter,
};

use crate::allocator::Allocator;
use crate::dump_memory::{DumpMemory, MemoryReader};
use crate::error::NativeError;
use crate::fields::NativeFields;
use crate::object_reader::NativeReader;
use crate::types::{BlockClasses, ClassLayout, ContainerUse};
use crate::values::until_zero;

/// What the source of a heap needs beside the heap.
#[derive(Default)]
pub(crate) struct NativeShapes {
    /// What is known of the types of blocks. Its classes are the first of the heap.
    pub(crate) types: BlockClasses,
    /// By reference: the number of its word in its block.
    pub(crate) words: Vec<u32>,
}

/// The heap of one dump, and a hash of its module.
pub(crate) struct NativeSource {
    heap: Arc<Heap>,
    program: u64,
    allocator: Allocator,
    shapes: NativeShapes,
    memory: DumpMemory,
    /// The used bytes of buffers of containers.
    used: HashMap<ObjectIndex, u32>,
}

impl NativeSource {
    pub(crate) fn new(
        heap: Arc<Heap>,
        program: u64,
        allocator: Allocator,
        shapes: NativeShapes,
        memory: DumpMemory,
    ) -> Self {
        let uses = shapes.types.uses.iter();
        Self {
            used: uses.map(|found| (found.buffer, found.used)).collect(),
            heap,
            program,
            allocator,
            shapes,
            memory,
        }
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    pub(crate) fn memory(&self) -> &DumpMemory {
        &self.memory
    }

    /// By class slot, as far as types are known.
    pub(crate) fn classes(&self) -> &[ClassLayout] {
        &self.shapes.types.classes
    }

    /// What is known of the type of an object.
    pub(crate) fn class(&self, object: ObjectIndex) -> Option<&ClassLayout> {
        let slot = self.heap.objects.class_slots[object.at()];
        self.classes().get(slot as usize)
    }

    /// The buffers of containers.
    pub(crate) fn uses(&self) -> &[ContainerUse] {
        &self.shapes.types.uses
    }

    /// The offset in its block of the reference at this position.
    pub(crate) fn offset_of(&self, position: u32) -> Option<u32> {
        self.shapes.words.get(position as usize)?.checked_mul(4)
    }

    /// The bytes before the first element of a block.
    pub(crate) fn base_of(&self, object: ObjectIndex) -> u32 {
        let bases = &self.shapes.types.bases;
        bases.get(&object.0).copied().unwrap_or(0)
    }

    /// The block that contains an address.
    pub(crate) fn block_around(&self, address: u32) -> Option<ObjectIndex> {
        let addresses = &self.heap.objects.addresses;
        let after = addresses.partition_point(|&start| start <= address);
        let nth = after.checked_sub(1)?;
        let object = ObjectIndex(nth as u32);
        let end = u64::from(addresses[nth]) + u64::from(self.usable(object));
        (u64::from(address) < end).then_some(object)
    }

    /// The bytes of a block that the program may use.
    pub(crate) fn usable(&self, object: ObjectIndex) -> u32 {
        let size = self.heap.block_size(object);
        size.saturating_sub(self.allocator.overhead())
    }

    pub(crate) fn is_text(&self, object: ObjectIndex) -> bool {
        self.class(object).is_some_and(|class| class.is_text)
    }

    /// The bytes of a text: those that its container uses, or all of its block.
    pub(crate) fn text_of<'r>(
        &self,
        object: ObjectIndex,
        memory: &'r mut MemoryReader<'_>,
    ) -> Result<&'r [u8]> {
        let usable = self.usable(object);
        let used = self.used.get(&object).copied().unwrap_or(usable);
        memory.read(self.heap.address(object).0, used.min(usable))
    }
}

/// Keeps texts that contain a text.
struct NativeTexts<'h> {
    source: &'h NativeSource,
    memory: MemoryReader<'h>,
    text: String,
}

impl TextFilter for NativeTexts<'_> {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        let mut kept = 0;
        for nth in 0..objects.len() {
            let object = objects[nth];
            if !self.source.is_text(object) {
                continue;
            }
            let bytes = self.source.text_of(object, &mut self.memory)?;
            let text = String::from_utf8_lossy(until_zero(bytes));
            if text.contains(&self.text) {
                objects[kept] = object;
                kept += 1;
            }
        }
        objects.truncate(kept);
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
            Need::Contents if self.classes().is_empty() => (
                "waste",
                "the module has no debug information, which says what blocks are strings or containers",
            ),
            // It has no garbage: what nothing refers to has a root of its own.
            Need::Garbage | Need::Contents | Need::Blocks | Need::HeapSnapshot => return Ok(()),
        };
        Err(NativeError::NotInNativeHeap { question, reason }.into())
    }

    fn has_module(&self) -> bool {
        true
    }

    fn memory_size(&self) -> u64 {
        (self.shapes.words.capacity() * size_of::<u32>()) as u64
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

    fn class_label(&self, class_slot: u32, label: EdgeLabel) -> String {
        let class = self.classes().get(class_slot as usize);
        match (label.kind(), class) {
            (LabelKind::Field(field), Some(class)) => class.label(field as usize, None),
            (LabelKind::Word(offset), _) => format!("+{offset:#x}"),
            _ => "far word".to_owned(),
        }
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        let label = self.heap.edges.label(position).unwrap_or_default();
        let class = self.classes().get(class_slot as usize);
        match (label.kind(), class, self.offset_of(position)) {
            (LabelKind::Field(field), Some(class), Some(offset)) if class.size > 0 => {
                class.label(field as usize, Some(offset / class.size))
            }
            _ => self.class_label(class_slot, label),
        }
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
        let Some(object) = self.block_around(address) else {
            return Ok(None);
        };
        notes.push(Warning::AddressInside {
            address: Address(address),
            what: "block",
            start: self.heap.address(object),
        });
        Ok(Some(Found::Object(object)))
    }

    fn reader(&self, _: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(NativeReader::new(self, control))
    }

    fn field_type(
        &self,
        name: &str,
        slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        self.type_of_field(name, slots, control)
    }

    fn field_names(&self, class_slots: &[bool]) -> Vec<String> {
        self.names_of_fields(class_slots)
    }

    fn field_reader(
        &self,
        names: &[String],
        control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(NativeFields::new(self, names, control)?))
    }

    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(NativeTexts {
            source: self,
            memory: MemoryReader::new(&self.memory, control),
            text: text.to_owned(),
        }))
    }

    fn content_sizes(&self, _: &PathTree, _: &Step<'_>) -> Result<Vec<u32>> {
        let sizes = self.heap.objects.shallow_sizes.iter();
        let overhead = self.allocator.overhead();
        columns::collected(sizes.map(|&size| size - overhead))
    }

    fn survey(&self, _: &DominatorIndex, step: &Step<'_>) -> Result<Survey> {
        self.survey_memory(step)
    }
}
