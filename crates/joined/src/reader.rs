//! Reads objects of either heap.

use crate::joined_source::{JoinedSource, Own};
use base::control::Control;
use base::error::Result;
use base::units::{ObjectAddress, ObjectIndex};
use base::warning::Warning;
use heap::{
    Cell, ContainerPage, EdgeLabel, FieldReader, FieldValue, HeldValue, Member, MemberSink,
    Membership, ObjectReader, ReadOrder, Source, TextFilter, WantedEntries,
};

/// Reads single objects.
pub(crate) struct JoinedReader<'h> {
    source: &'h JoinedSource,
    wasm: Box<dyn ObjectReader + 'h>,
    js: Box<dyn ObjectReader + 'h>,
}

impl<'h> JoinedReader<'h> {
    pub(crate) fn new(source: &'h JoinedSource, order: ReadOrder, control: &Control) -> Self {
        Self {
            source,
            wasm: source.wasm.source.reader(order, control),
            js: source.js.source.reader(order, control),
        }
    }

    /// The reader of an object, and its number there.
    fn of(&mut self, object: ObjectIndex) -> (&mut (dyn ObjectReader + 'h), ObjectIndex) {
        match self.source.own(object) {
            Own::Wasm(object) => (&mut *self.wasm, object),
            Own::Js(object) => (&mut *self.js, object),
        }
    }

    /// Puts the address in the joined heap in the place of the id of an object of the snapshot.
    fn join_address(&self, id: &mut Option<u64>) {
        let joined = self.source;
        let object = id.and_then(|id| joined.js.heap.objects.at(ObjectAddress(id)));
        *id = object.map(|object| joined.heap.address(joined.of_js(object)).0);
    }

    fn join_value(&self, value: &mut HeldValue) {
        self.join_address(&mut value.address);
    }

    fn is_js(&self, object: ObjectIndex) -> bool {
        matches!(self.source.own(object), Own::Js(_))
    }
}

impl ObjectReader for JoinedReader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String> {
        let joined = self.source;
        match (joined.own(source), joined.own(target)) {
            (Own::Wasm(source), Own::Wasm(target)) => {
                self.wasm.label(source, target, label, skipped)
            }
            (Own::Js(source), Own::Js(target)) => self.js.label(source, target, label, skipped),
            _ => {
                let mut between = joined.extras.between(source, target);
                Ok(match between.nth(skipped) {
                    Some(extra) => joined.label_of_extra(extra),
                    None => {
                        let slot = joined.heap.objects.class_slots[source.at()];
                        joined.class_label(slot, label)
                    }
                })
            }
        }
    }

    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let (reader, object) = self.of(object);
        reader.preview(object)
    }

    fn fields(&mut self, object: ObjectIndex, notes: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        let is_js = self.is_js(object);
        let (reader, object) = self.of(object);
        let mut fields = reader.fields(object, notes)?;
        if is_js {
            for field in &mut fields {
                self.join_address(&mut field.address);
            }
        }
        Ok(fields)
    }

    fn entries(
        &mut self,
        object: ObjectIndex,
        wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        let is_js = self.is_js(object);
        let (reader, object) = self.of(object);
        let mut page = reader.entries(object, wanted)?;
        if is_js {
            for entry in page.iter_mut().flat_map(|page| &mut page.entries) {
                if let Some(key) = &mut entry.key {
                    self.join_value(key);
                }
                self.join_value(&mut entry.value);
            }
        }
        Ok(page)
    }

    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let (reader, object) = self.of(object);
        reader.literal(object)
    }

    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String> {
        let (reader, object) = self.of(object);
        reader.shared_contents(object)
    }

    fn function_name(&mut self, object: ObjectIndex) -> Result<Option<String>> {
        let (reader, object) = self.of(object);
        reader.function_name(object)
    }

    fn label_at(&mut self, source: ObjectIndex, position: u32, skipped: usize) -> Result<String> {
        if let Some(extra) = self.source.extras.at(position) {
            return Ok(self.source.label_of_extra(extra));
        }
        let position = self.source.own_position(source, position);
        let (reader, source) = self.of(source);
        reader.label_at(source, position, skipped)
    }
}

/// Finds strings of both heaps.
pub(crate) struct JoinedTexts<'h> {
    source: &'h JoinedSource,
    wasm: Box<dyn TextFilter + 'h>,
    js: Box<dyn TextFilter + 'h>,
}

impl<'h> JoinedTexts<'h> {
    pub(crate) fn new(source: &'h JoinedSource, text: &str, control: &Control) -> Result<Self> {
        Ok(Self {
            source,
            wasm: source.wasm.source.text_filter(text, control)?,
            js: source.js.source.text_filter(text, control)?,
        })
    }
}

impl TextFilter for JoinedTexts<'_> {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        let first = self.source.first_js();
        let border = objects.partition_point(|object| object.0 < first);
        let mut js = objects.split_off(border);
        for object in &mut js {
            object.0 -= first;
        }
        self.wasm.keep(objects)?;
        self.js.keep(&mut js)?;
        objects.extend(js.into_iter().map(|object| self.source.of_js(object)));
        Ok(())
    }
}

/// Reads fields of objects of both heaps.
pub(crate) struct JoinedFields<'h> {
    source: &'h JoinedSource,
    wasm: Box<dyn FieldReader + 'h>,
    js: Box<dyn FieldReader + 'h>,
}

impl<'h> JoinedFields<'h> {
    pub(crate) fn new(
        source: &'h JoinedSource,
        names: &[String],
        control: &Control,
    ) -> Result<Self> {
        Ok(Self {
            source,
            wasm: source.wasm.source.fields().reader(names, control)?,
            js: source.js.source.fields().reader(names, control)?,
        })
    }
}

/// A value of the snapshot, with the number of its object in the joined heap.
fn joined_cell(source: &JoinedSource, cell: Cell) -> Cell {
    match cell {
        Cell::Object(object) => Cell::Object(source.of_js(object)),
        other => other,
    }
}

impl FieldReader for JoinedFields<'_> {
    fn fields(
        &mut self,
        field: usize,
        objects: &[ObjectIndex],
        into: &mut Vec<Cell>,
    ) -> Result<()> {
        let first = self.source.first_js();
        let border = objects.partition_point(|object| object.0 < first);
        let (wasm, js) = objects.split_at(border);
        self.wasm.fields(field, wasm, into)?;
        let js: Vec<_> = js
            .iter()
            .map(|object| ObjectIndex(object.0 - first))
            .collect();
        let start = into.len();
        self.js.fields(field, &js, into)?;
        for cell in &mut into[start..] {
            *cell = joined_cell(self.source, *cell);
        }
        Ok(())
    }

    fn is_text(&self, object: ObjectIndex) -> bool {
        match self.source.own(object) {
            Own::Wasm(object) => self.wasm.is_text(object),
            Own::Js(object) => self.js.is_text(object),
        }
    }

    fn text(
        &mut self,
        object: ObjectIndex,
        most: usize,
        into: &mut Vec<u16>,
    ) -> Result<Option<usize>> {
        match self.source.own(object) {
            Own::Wasm(object) => self.wasm.text(object, most, into),
            Own::Js(object) => self.js.text(object, most, into),
        }
    }

    fn size(&mut self, object: ObjectIndex) -> Result<Option<u64>> {
        match self.source.own(object) {
            Own::Wasm(object) => self.wasm.size(object),
            Own::Js(object) => self.js.size(object),
        }
    }

    fn members(&mut self, object: ObjectIndex, sink: &mut MemberSink<'_>) -> Result<Membership> {
        let joined = self.source;
        match joined.own(object) {
            Own::Wasm(object) => self.wasm.members(object, sink),
            Own::Js(object) => self.js.members(object, &mut |member| match member {
                Member::Cell(cell) => sink(Member::Cell(joined_cell(joined, cell))),
                text @ Member::Text(_) => sink(text),
            }),
        }
    }
}
