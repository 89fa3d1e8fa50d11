//! Two heaps as the source of one. What one of them knows of its objects, it is asked.

use std::any::Any;
use std::sync::Arc;

use crate::JoinError;
use crate::extra::{Extra, Extras, OwnLabels};
use crate::graph::LeftOut;
use crate::judged::Possible;
use crate::pins::{PinState, Pins};
use crate::reader::{JoinedFields, JoinedReader, JoinedTexts};
use base::bits::Bits;
use base::columns;
use base::control::{Control, Step};
use base::error::Result;
use base::units::{FIRST_ID, ObjectIndex};
use base::warning::Warning;
use heap::{
    Blocks, Category, DominatorIndex, EdgeLabel, FieldReader, FieldType, Found, Heap,
    HolderEvidence, JoinedHeaps, JoinedSums, Need, ObjectReader, OtherEdge, PathTree,
    PossibleHolder, PossibleHolders, ReadOrder, SizeParts, Source, SourceLocation, Survey,
    TextFilter,
};

/// Tells a joined heap from that of its dump alone, for comparisons.
const JOINED: u64 = 0x6a6f_696e;

/// One of the two heaps, with its source.
pub(crate) struct Half {
    pub(crate) heap: Arc<Heap>,
    pub(crate) source: Box<dyn Source>,
}

/// Two heaps that were joined. The objects, and the classes, of the memory come first.
pub(crate) struct JoinedSource {
    pub(crate) heap: Arc<Heap>,
    pub(crate) wasm: Half,
    pub(crate) js: Half,
    pub(crate) labels: OwnLabels,
    pub(crate) extras: Extras,
    pub(crate) left_out: LeftOut,
    pub(crate) pins: Pins,
    pub(crate) possible: Vec<Possible>,
    /// By object: the bytes of the memory among its retained size.
    pub(crate) wasm_retained: Vec<u32>,
    pub(crate) sums: JoinedSums,
}

/// An object of one of the heaps, by its number there.
#[derive(Clone, Copy)]
pub(crate) enum Own {
    /// Of the memory.
    Wasm(ObjectIndex),
    /// Of the snapshot.
    Js(ObjectIndex),
}

impl JoinedSource {
    /// The number of the first object of the snapshot.
    pub(crate) fn first_js(&self) -> u32 {
        self.wasm.heap.objects.len() as u32
    }

    fn first_js_class(&self) -> u32 {
        self.wasm.heap.objects.classes.len() as u32
    }

    /// The heap that an object is of.
    pub(crate) fn own(&self, object: ObjectIndex) -> Own {
        match object.0.checked_sub(self.first_js()) {
            Some(object) => Own::Js(ObjectIndex(object)),
            None => Own::Wasm(object),
        }
    }

    /// The number in the joined heap of an object of the snapshot.
    pub(crate) fn of_js(&self, object: ObjectIndex) -> ObjectIndex {
        ObjectIndex(self.first_js() + object.0)
    }

    fn js_object(&self, object: ObjectIndex) -> Option<ObjectIndex> {
        object.0.checked_sub(self.first_js()).map(ObjectIndex)
    }

    /// The position in its own heap of a reference of the joined graph that is none between the heaps.
    pub(crate) fn own_position(&self, source: ObjectIndex, position: u32) -> u32 {
        let nth = position - self.heap.edges.range(source).start;
        match self.own(source) {
            Own::Wasm(object) => self.wasm.heap.edges.range(object).start + nth,
            Own::Js(object) => {
                let start = self.js.heap.edges.range(object).start;
                self.left_out.nth(object, start, nth)
            }
        }
    }

    /// The label of a reference between the heaps, with its key.
    pub(crate) fn label_of_extra(&self, extra: &Extra) -> String {
        match &extra.exact {
            Some(exact) => exact.clone(),
            None => {
                let slot = self.heap.objects.class_slots[extra.source.at()];
                self.class_label(slot, extra.label.label())
            }
        }
    }

    /// These class slots of the memory, and of the snapshot.
    fn split<'s>(&self, class_slots: &'s [bool]) -> (&'s [bool], &'s [bool]) {
        class_slots.split_at((self.first_js_class() as usize).min(class_slots.len()))
    }
}

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
            Need::HeapSnapshot => ("export", "no format has sizes of two heaps"),
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
        match class_slot.checked_sub(self.first_js_class()) {
            Some(class_slot) => self.js.source.class_label(class_slot, label),
            None => self.wasm.source.class_label(class_slot, label),
        }
    }

    fn label_at(&self, class_slot: u32, position: u32) -> String {
        if let Some(extra) = self.extras.at(position) {
            return self.label_of_extra(extra);
        }
        let source = self.heap.edges.source(position);
        let own = self.own_position(source, position);
        match class_slot.checked_sub(self.first_js_class()) {
            Some(class_slot) => self.js.source.label_at(class_slot, own),
            None => self.wasm.source.label_at(class_slot, own),
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

    fn holds_roots(&self, object: ObjectIndex) -> bool {
        let object = self.js_object(object);
        object.is_some_and(|object| self.js.source.holds_roots(object))
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

impl JoinedHeaps for JoinedSource {
    fn sums(&self) -> &JoinedSums {
        &self.sums
    }

    fn retained_parts(&self, object: ObjectIndex) -> SizeParts {
        let wasm = u64::from(self.wasm_retained[object.at()]);
        SizeParts {
            javascript: self.heap.retained_size(object).saturating_sub(wasm),
            wasm,
        }
    }

    fn evidence(&self, holder: ObjectIndex, target: ObjectIndex) -> Option<HolderEvidence> {
        let mut between = self.extras.between(holder, target);
        between.next().and_then(|extra| extra.evidence)
    }

    fn pin_note(&self, object: ObjectIndex) -> Option<String> {
        let Own::Wasm(object) = self.own(object) else {
            return None;
        };
        match self.pins.state(object) {
            PinState::Possible => {
                let count = self.possible_of(object).len();
                let noun = if count == 1 { "slot" } else { "slots" };
                Some(format!("(possible: {count} {noun})"))
            }
            PinState::AwaitingRelease => {
                Some("(its wrapper was collected, and the release has not run)".to_owned())
            }
            PinState::Unseen if self.sums.numbers_read && self.sums.closures_read => {
                Some("(no JavaScript number seen)".to_owned())
            }
            _ => None,
        }
    }

    fn pinned_by(&self, object: ObjectIndex) -> Option<&[String]> {
        match self.own(object) {
            Own::Wasm(object) => self.pins.stack(object),
            Own::Js(_) => None,
        }
    }

    fn possible_holders(&self, object: ObjectIndex, most: usize) -> PossibleHolders {
        let Own::Wasm(object) = self.own(object) else {
            return PossibleHolders::default();
        };
        let slots = self.possible_of(object);
        let holders = slots.iter().take(most).map(|slot| PossibleHolder {
            holder: self.of_js(slot.holder),
            label: self.label_of_possible(slot),
            hits: slot.hits,
            values: slot.values,
        });
        PossibleHolders {
            total: slots.len() as u64,
            holders: holders.collect(),
        }
    }
}

impl JoinedSource {
    fn possible_of(&self, object: ObjectIndex) -> &[Possible] {
        let slots = &self.possible;
        let first = slots.partition_point(|slot| slot.target < object);
        let end = slots.partition_point(|slot| slot.target <= object);
        &slots[first..end]
    }

    fn label_of_possible(&self, slot: &Possible) -> String {
        let mut labels = OwnLabels::default();
        match labels.of_slot(&slot.name) {
            Ok((_, Some(exact))) => exact,
            Ok((label, None)) => match labels.text(label.label()) {
                Some(text) => text.to_owned(),
                None => {
                    let class_slot = self.js.heap.objects.class_slots[slot.holder.at()];
                    self.js.source.class_label(class_slot, label.label())
                }
            },
            Err(_) => String::new(),
        }
    }
}
