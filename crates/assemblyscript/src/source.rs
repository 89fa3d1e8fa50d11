//! A dump as the source of a heap.

use super::content_reader::OpenedDump;
use super::dump_source::DumpSource;
use super::labels::{class_label, is_own_storage};
use super::memory::MemoryReader;
use super::text_search::TextSearch;
use crate::runtime::objects::HEADER_SIZE;
use crate::runtime::shapes::ShapeKind;
use base::control::{Control, Step};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{
    AllContents, BlockSizes, Blocks, ClassFields, ClassNaming, ContainerPage, DominatorIndex,
    EdgeLabel, Facts, FieldReader, FieldType, FieldValue, Found, MemoryContents, Name,
    ObjectReader, OpenedContents, PathTree, RawTable, ReadOrder, Source, Survey, TextFilter,
    WantedEntries,
};
use runtime_code::std_library::ALIGNMENT;

impl Source for DumpSource {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn memory_size(&self) -> u64 {
        0
    }

    fn class_label(&self, class_slot: u32, label: EdgeLabel) -> String {
        class_label(&self.shapes[class_slot as usize], label)
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        let label = self.heap.edges.label(position).unwrap_or_default();
        self.class_label(class_slot, label)
    }

    fn without_key<'l>(&self, label: &'l str) -> &'l str {
        super::labels::without_key(label)
    }

    fn is_stable(&self, name: Name<'_>) -> bool {
        match name {
            // Otherwise the name is made from a runtime id.
            Name::Class(name) => !name.contains("Class#"),
            Name::Label(_, text) => !text.starts_with('+'),
        }
    }

    fn is_own_storage(&self, class_slot: u32, label: EdgeLabel) -> bool {
        is_own_storage(&self.shapes[class_slot as usize], label)
    }

    fn around(
        &self,
        address: u64,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Option<Found>> {
        self.find_around(address, notes, control)
    }

    fn reader(&self, order: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(match order {
            ReadOrder::Any => MemoryReader::new(self, control),
            ReadOrder::Ascending => MemoryReader::sequential(self, control),
        })
    }

    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(DumpTexts {
            reader: MemoryReader::sequential(self, control),
            text: TextSearch::new(text)?,
            control: control.clone(),
        }))
    }

    fn fields(&self) -> &dyn ClassFields {
        self
    }

    fn survey(&self, live: &DominatorIndex, step: &Step<'_>) -> Result<Survey> {
        self.survey_memory(live, step)
    }

    fn memory(&self) -> Option<&dyn MemoryContents> {
        Some(self)
    }

    fn all_contents(&self) -> Option<&dyn AllContents> {
        Some(self)
    }
}

impl ClassFields for DumpSource {
    fn type_of(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        self.type_of_field(name, class_slots, control)
    }

    fn names(&self, class_slots: &[bool]) -> Vec<String> {
        self.names_of_fields(class_slots)
    }

    fn reader(&self, names: &[String], control: &Control) -> Result<Box<dyn FieldReader + '_>> {
        self.read_fields(names, control)
    }
}

impl MemoryContents for DumpSource {
    fn stack_size(&self) -> u64 {
        self.memory_map.stack_size
    }

    fn blocks(&self) -> Blocks {
        Blocks {
            header: HEADER_SIZE,
            overhead: None,
            sizes: BlockSizes::MultiplesOf(ALIGNMENT),
        }
    }

    fn content_sizes(&self, tree: &PathTree, step: &Step<'_>) -> Result<Vec<u32>> {
        self.measure_contents(tree, step)
    }

    fn raw_blocks(&self, control: &Control) -> Result<RawTable> {
        self.find_raw_blocks(control)
    }

    fn unreferenced_blocks(
        &self,
        raw: &RawTable,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Option<Vec<u32>>> {
        self.find_unreferenced(raw, notes, control)
    }
}

impl AllContents for DumpSource {
    fn size(&self) -> u64 {
        self.memory_size
    }

    fn class_naming(&self, class_slot: u32) -> ClassNaming {
        self.naming(&self.shapes[class_slot as usize])
    }

    fn open(&self, may_map: bool) -> Result<Box<dyn OpenedContents + '_>> {
        Ok(Box::new(OpenedDump::new(self, may_map)?))
    }
}

impl ObjectReader for MemoryReader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String> {
        self.exact_label(source, target, label, skipped)
    }

    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        self.preview_of(object)
    }

    fn fields(&mut self, object: ObjectIndex, _: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        self.fields_of(object)
    }

    fn entries(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        self.entries_of(object, wanted)
    }

    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        match self.heap().shape(object).kind {
            ShapeKind::Text => self.string(object).map(Some),
            _ => Ok(None),
        }
    }

    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String> {
        self.copied_contents(object)
    }

    fn function_name(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        self.function_of(object)
    }

    fn label_at(&mut self, source: ObjectIndex, position: u32, skipped: usize) -> Result<String> {
        let edges = &self.heap().heap.edges;
        let label = edges.label(position).unwrap_or_default();
        self.exact_label(source, edges.target(position), label, skipped)
    }
}

/// Finds the strings of a dump that contain a text.
struct DumpTexts<'h> {
    reader: MemoryReader<'h>,
    text: TextSearch,
    control: Control,
}

impl TextFilter for DumpTexts<'_> {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        let Self {
            reader,
            text,
            control,
        } = self;
        let mut result = Ok(());
        objects.retain(|&object| {
            let is_text = reader.heap().shape(object).kind == ShapeKind::Text;
            let contains = is_text && result.is_ok();
            contains
                && reader
                    .string_contains(object, text, control)
                    .unwrap_or_else(|error| {
                        result = Err(error);
                        false
                    })
        });
        result
    }
}
