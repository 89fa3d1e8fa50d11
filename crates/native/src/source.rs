//! What a heap of C, C++ or Rust says of itself: addresses, sizes, and the names of references and fields.

use base::columns;
use base::control::{Control, Step};
use base::error::Result;
use base::units::{ObjectAddress, ObjectIndex};
use base::warning::Warning;
use heap::{
    AllContents, Blocks, ClassFields, ClassNaming, DominatorIndex, EdgeLabel, Facts, FieldReader,
    FieldType, Found, LabelKind, MemoryContents, ObjectReader, PathTree, ReadOrder, Source, Survey,
    TextFilter,
};

use crate::dump_memory::WindowReader;
use crate::fields::NativeFields;
use crate::object_reader::NativeReader;
use crate::typed_heap::NativeSource;
use crate::values::until_zero;

/// Keeps texts that contain a text.
struct NativeTexts<'h> {
    source: &'h NativeSource,
    memory: WindowReader<'h>,
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
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn memory_size(&self) -> u64 {
        (self.shapes.words.capacity() * size_of::<u32>()) as u64
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

    fn around(&self, address: u64, notes: &mut Vec<Warning>, _: &Control) -> Result<Option<Found>> {
        let word = u32::try_from(address).ok();
        let Some(object) = word.and_then(|word| self.block_around(word)) else {
            return Ok(None);
        };
        notes.push(Warning::AddressInside {
            address: ObjectAddress(address),
            what: "block",
            start: self.heap.address(object),
        });
        Ok(Some(Found::Object(object)))
    }

    fn reader(&self, _: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(NativeReader::new(self, control))
    }

    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(NativeTexts {
            source: self,
            memory: WindowReader::new(&self.memory, control),
            text: text.to_owned(),
        }))
    }

    fn fields(&self) -> &dyn ClassFields {
        self
    }

    fn survey(&self, _: &DominatorIndex, step: &Step<'_>) -> Result<Survey> {
        self.survey_memory(step)
    }

    fn memory(&self) -> Option<&dyn MemoryContents> {
        Some(self)
    }

    fn all_contents(&self) -> Option<&dyn AllContents> {
        Some(self)
    }
}

impl ClassFields for NativeSource {
    fn type_of(&self, name: &str, slots: &[bool], control: &Control) -> Result<Option<FieldType>> {
        self.type_of_field(name, slots, control)
    }

    fn names(&self, class_slots: &[bool]) -> Vec<String> {
        self.names_of_fields(class_slots)
    }

    fn reader(&self, names: &[String], control: &Control) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(NativeFields::new(self, names, control)?))
    }
}

impl MemoryContents for NativeSource {
    fn stack_size(&self) -> u64 {
        self.shapes.stack_size.into()
    }

    fn blocks(&self) -> Blocks {
        Blocks {
            header: 0,
            sizes: self.allocator.sizes(self.shapes.alignment),
            overhead: Some(self.allocator.overhead()),
        }
    }

    fn content_sizes(&self, _: &PathTree, _: &Step<'_>) -> Result<Vec<u32>> {
        let sizes = self.heap.objects.shallow_sizes.iter();
        let overhead = self.allocator.overhead();
        columns::collected(sizes.map(|&size| size - overhead))
    }
}

impl AllContents for NativeSource {
    fn class_naming(&self, class_slot: u32) -> ClassNaming {
        let class = self.classes().get(class_slot as usize);
        ClassNaming {
            fields: class.map_or(0, |class| class.fields.len() as u32),
            ..ClassNaming::default()
        }
    }
}
