//! Two heaps as the source of one. What one of them knows of its objects, it is asked.

use crate::joined_source::{JoinedSource, Own};
use crate::judged::Possible;
use crate::reader::{JoinedFields, JoinedReader, JoinedTexts};
use base::control::Control;
use base::error::Result;
use base::units::FIRST_ID;
use base::warning::Warning;
use heap::{
    ClassFacts, ClassFields, EdgeLabel, Facts, FieldReader, FieldType, Found, HostNames,
    JoinedHeaps, LabelKind, Lacks, Name, ObjectReader, ReadOrder, Source, SourceLocation,
    SourceLocations, TextFilter,
};

/// Tells a joined heap from that of its dump alone, for comparisons.
const JOINED: u64 = 0x6a6f_696e;

/// What is the same for all objects of both heaps. No class of the language's own library has the name of one that V8 has.
pub(crate) fn facts(wasm: &Facts, js: &Facts) -> Facts {
    let uses = [&js.classes.uses, &wasm.classes.uses];
    Facts {
        program: wasm.program.wrapping_add(JOINED),
        has_module: wasm.has_module,
        keeps_numbers: false,
        is_numbered_anew: js.is_numbered_anew,
        storage_references: wasm.storage_references.max(js.storage_references),
        format: None,
        classes: ClassFacts {
            texts: wasm.classes.texts,
            engine: js.classes.engine,
            plain: js.classes.plain,
            uses: uses.into_iter().flatten().copied().collect(),
        },
        lacks: Lacks {
            code: "ERR_NOT_IN_JOINED",
            heap: "heaps that were joined",
            garbage: Some(
                "the snapshot contains only what is alive; ask it without the heap of the host",
            ),
            contents: Some(
                "the snapshot has no contents but strings; ask it without the heap of the host",
            ),
            blocks: Some(
                "a profile is of the WebAssembly program alone; ask it without the heap of the host",
            ),
        },
    }
}

impl Source for JoinedSource {
    fn facts(&self) -> &Facts {
        &self.facts
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

    fn is_stable(&self, name: Name<'_>) -> bool {
        let is_own = match name {
            Name::Label(label, _) => self.labels.text(label).is_some(),
            Name::Class(_) => false,
        };
        is_own || (self.js.source.is_stable(name) && self.wasm.source.is_stable(name))
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

    fn around(
        &self,
        address: u64,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Option<Found>> {
        if address >= u64::from(FIRST_ID) {
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

    fn fields(&self) -> &dyn ClassFields {
        self
    }

    fn host_names(&self) -> Option<&dyn HostNames> {
        Some(self)
    }

    fn joined(&self) -> Option<&dyn JoinedHeaps> {
        Some(self)
    }

    fn locations(&self) -> Option<&dyn SourceLocations> {
        Some(self)
    }
}

impl SourceLocations for JoinedSource {
    fn class_location(&self, class_slot: u32) -> Option<SourceLocation> {
        let own = class_slot.checked_sub(self.first_js_class());
        let (half, class_slot) = match own {
            Some(own) => (&self.js, own),
            None => (&self.wasm, class_slot),
        };
        half.source.locations()?.class_location(class_slot)
    }
}

impl ClassFields for JoinedSource {
    fn type_of(
        &self,
        name: &str,
        class_slots: &[bool],
        control: &Control,
    ) -> Result<Option<FieldType>> {
        let (wasm, js) = self.split(class_slots);
        let wasm = self.wasm.source.fields().type_of(name, wasm, control)?;
        let js = self.js.source.fields().type_of(name, js, control)?;
        Ok(match (wasm, js) {
            (Some(wasm), Some(js)) => Some(wasm.or(js)),
            (wasm, js) => wasm.or(js),
        })
    }

    fn names(&self, class_slots: &[bool]) -> Vec<String> {
        let (wasm, js) = self.split(class_slots);
        let mut names = self.wasm.source.fields().names(wasm);
        names.extend(self.js.source.fields().names(js));
        names.sort_unstable();
        names.dedup();
        names
    }

    fn reader(&self, names: &[String], control: &Control) -> Result<Box<dyn FieldReader + '_>> {
        Ok(Box::new(JoinedFields::new(self, names, control)?))
    }
}
