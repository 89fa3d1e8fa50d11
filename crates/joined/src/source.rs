//! Two heaps as the source of one. What one of them knows of its objects, it is asked.

use std::any::Any;

use crate::JoinError;
use crate::joined_source::{JoinedSource, Own};
use crate::judged::Possible;
use crate::reader::{JoinedFields, JoinedReader, JoinedTexts};
use base::bits::Bits;
use base::columns;
use base::control::{Control, Step};
use base::error::Result;
use base::units::{FIRST_ID, ObjectIndex};
use base::warning::Warning;
use heap::{
    Blocks, Category, ClassUse, DominatorIndex, EdgeLabel, FieldReader, FieldType, Found,
    JoinedHeaps, LabelKind, Need, ObjectReader, OtherEdge, PathTree, ReadOrder, Source,
    SourceLocation, Survey, TextFilter,
};

/// Tells a joined heap from that of its dump alone, for comparisons.
const JOINED: u64 = 0x6a6f_696e;

impl Source for JoinedSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn program(&self) -> u64 {
        self.wasm.source.program().wrapping_add(JOINED)
    }

    fn check(&self, need: Need) -> Result<()> {
        let (question, reason) = match need {
            Need::Garbage => ("unreachable", "the snapshot contains only what is alive"),
            Need::Contents => ("waste", "the snapshot has no contents but strings"),
            Need::Blocks => ("sites", "a profile is of the WebAssembly program alone"),
            Need::HeapSnapshot | Need::Sums => ("export", "no format has sizes of two heaps"),
            Need::Comparison => (
                "a comparison with an earlier heap",
                "it would add up the bytes of both heaps",
            ),
        };
        Err(JoinError::NotInJoined { question, reason }.into())
    }

    fn has_module(&self) -> bool {
        self.wasm.source.has_module()
    }

    fn memory_size(&self) -> u64 {
        let halves = [&self.wasm, &self.js];
        let halves = halves.map(|half| half.heap.memory_size() + half.source.memory_size());
        halves.iter().sum::<u64>()
            + self.extras.memory_size()
            + self.labels.memory_size()
            + self.left_out.memory_size()
            + (self.possible.capacity() * size_of::<Possible>()) as u64
            + self.wasm_retained.capacity() as u64 * 4
            + u64::from(self.first_js())
    }

    fn content_size(&self) -> u64 {
        self.wasm.source.content_size()
    }

    fn blocks(&self) -> Option<Blocks> {
        None
    }

    fn joined(&self) -> Option<&dyn JoinedHeaps> {
        Some(self)
    }

    fn class_label(&self, class_slot: u32, label: EdgeLabel) -> String {
        if let Some(text) = self.labels.text(label) {
            return text.to_owned();
        }
        // A slot may stand for all classes of its name, those of the other heap included: the label says more.
        let is_js = matches!(
            label.kind(),
            LabelKind::Named(..) | LabelKind::Hidden | LabelKind::Element | LabelKind::Folded
        );
        match class_slot.checked_sub(self.first_js_class()) {
            Some(class_slot) => self.js.source.class_label(class_slot, label),
            None if is_js => self.js.source.class_label(0, label),
            None => self.wasm.source.class_label(class_slot, label),
        }
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        if let Some(extra) = self.extras.at(position) {
            return self.label_of_extra(extra);
        }
        let source = self.heap.edges.source(position);
        let own = self.own_position(source, position);
        match self.own(source) {
            Own::Js(_) => {
                let class_slot = class_slot.saturating_sub(self.first_js_class());
                self.js.source.label_at(class_slot, own)
            }
            Own::Wasm(_) => self.wasm.source.label_at(class_slot, own),
        }
    }

    fn without_key<'l>(&self, label: &'l str) -> &'l str {
        let without = self.js.source.without_key(label);
        if without != label || label.starts_with("[[") {
            return without;
        }
        self.wasm.source.without_key(label)
    }

    fn is_label_stable(&self, label: EdgeLabel, text: &str) -> bool {
        self.labels.text(label).is_some()
            || (self.js.source.is_label_stable(label, text)
                && self.wasm.source.is_label_stable(label, text))
    }

    fn is_class_stable(&self, name: &str) -> bool {
        self.js.source.is_class_stable(name) && self.wasm.source.is_class_stable(name)
    }

    fn text_classes(&self) -> &[(&str, u64)] {
        self.wasm.source.text_classes()
    }

    fn engine_classes(&self) -> &[&str] {
        self.js.source.engine_classes()
    }

    fn plain_classes(&self) -> &[&str] {
        self.js.source.plain_classes()
    }

    fn class_use(&self, name: &str) -> ClassUse {
        // No class of the language's own library has the name of one that V8 has.
        match self.js.source.class_use(name) {
            ClassUse::Program => self.wasm.source.class_use(name),
            class_use => class_use,
        }
    }

    fn class_location(&self, class_slot: u32) -> Option<SourceLocation> {
        match class_slot.checked_sub(self.first_js_class()) {
            Some(class_slot) => self.js.source.class_location(class_slot),
            None => self.wasm.source.class_location(class_slot),
        }
    }

    fn is_own_storage(&self, class_slot: u32, label: EdgeLabel) -> bool {
        if self.labels.text(label).is_some() {
            return false;
        }
        match class_slot.checked_sub(self.first_js_class()) {
            Some(class_slot) => self.js.source.is_own_storage(class_slot, label),
            None => self.wasm.source.is_own_storage(class_slot, label),
        }
    }

    fn storage_references(&self) -> usize {
        let sources = [&self.wasm, &self.js].map(|half| half.source.storage_references());
        sources[0].max(sources[1])
    }

    fn is_root_part(&self, object: ObjectIndex) -> bool {
        let object = self.js_object(object);
        object.is_some_and(|object| self.js.source.is_root_part(object))
    }

    fn root_holders(&self) -> Result<Option<Bits>> {
        let Some(own) = self.js.source.root_holders()? else {
            return Ok(None);
        };
        let mut holders = Bits::new(self.heap.objects.len())?;
        let objects = 0..self.js.heap.objects.len() as u32;
        for object in objects.filter(|&object| own.contains(object)) {
            holders.insert(self.first_js() + object);
        }
        Ok(Some(holders))
    }

    fn program_name(
        &self,
        holder: ObjectIndex,
        target: ObjectIndex,
        label: &str,
    ) -> Option<String> {
        match (self.own(holder), self.own(target)) {
            (Own::Js(holder), Own::Js(target)) => {
                self.js.source.program_name(holder, target, label)
            }
            (Own::Wasm(holder), Own::Wasm(target)) => {
                self.wasm.source.program_name(holder, target, label)
            }
            _ => Some(label.to_owned()),
        }
    }

    fn category(&self, category: Category, control: &Control) -> Result<Option<Bits>> {
        let Some(members) = self.js.source.category(category, control)? else {
            return Ok(None);
        };
        let first = self.first_js();
        let is_member = |object: u32| {
            let own = object.checked_sub(first);
            own.is_some_and(|own| members.contains(own))
        };
        Bits::of(self.heap.objects.len() as u32, is_member, control).map(Some)
    }

    fn distance(&self, object: ObjectIndex) -> Option<u32> {
        self.js.source.distance(self.js_object(object)?)
    }

    fn other_edges_to(&self, target: ObjectIndex) -> Vec<OtherEdge> {
        let Some(target) = self.js_object(target) else {
            return Vec::new();
        };
        let edges = self.js.source.other_edges_to(target).into_iter();
        edges
            .map(|edge| OtherEdge {
                source: self.of_js(edge.source),
                ..edge
            })
            .collect()
    }

    fn other_label(&self, edge: OtherEdge) -> Option<String> {
        let source = self.js_object(edge.source)?;
        self.js.source.other_label(OtherEdge { source, ..edge })
    }

    fn around(
        &self,
        address: u32,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Option<Found>> {
        if address >= FIRST_ID {
            return Ok(None);
        }
        self.wasm.source.around(address, notes, control)
    }

    fn reader(&self, order: ReadOrder, control: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(JoinedReader::new(self, order, control))
    }

    fn text_filter(&self, text: &str, control: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(JoinedTexts::new(self, text, control)?))
    }

    fn field_type(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        let (wasm, js) = self.split(class_slots);
        let wasm = self.wasm.source.field_type(name, wasm, control)?;
        let js = self.js.source.field_type(name, js, control)?;
        Ok(match (wasm, js) {
            (Some(wasm), Some(js)) => Some(wasm.or(js)),
            (wasm, js) => wasm.or(js),
        })
    }

    fn field_names(&self, class_slots: &[bool]) -> Vec<String> {
        let (wasm, js) = self.split(class_slots);
        let mut names = self.wasm.source.field_names(wasm);
        names.extend(self.js.source.field_names(js));
        names.sort_unstable();
        names.dedup();
        names
    }

    fn global(&self, name: &str) -> Option<ObjectIndex> {
        let js = self.js.source.global(name);
        js.map(|object| self.of_js(object))
            .or_else(|| self.wasm.source.global(name))
    }

    fn field_reader(
        &self,
        names: &[String],
        control: &Control,
    ) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(JoinedFields::new(self, names, control)?))
    }

    /// A snapshot does not say how much of a size is in use.
    fn content_sizes(&self, _: &PathTree, _: &Step<'_>) -> Result<Vec<u32>> {
        let objects = (0..self.heap.objects.len() as u32).map(ObjectIndex);
        let size = |object| u32::try_from(self.heap.shallow_size(object)).unwrap_or(u32::MAX);
        columns::collected(objects.map(size))
    }

    fn survey(&self, _: &DominatorIndex, _: &Step<'_>) -> Result<Survey> {
        Ok(Survey::default())
    }
}
