//! Objects by class, size and contents.

use super::LoadedHeap;
use super::answer::{FoundObject, FoundObjects};
use super::memory::Reader;
use super::question::Page;
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::runtime::shapes::Kind;
use crate::units::ObjectIndex;

/// The number of objects between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 14;

/// The conditions of a search.
pub(super) struct Wanted<'q> {
    pub(super) class: Option<&'q str>,
    pub(super) min_size: u64,
    pub(super) contains: Option<&'q str>,
}

impl LoadedHeap {
    pub(super) fn find(
        &self,
        wanted: Wanted<'_>,
        page: Page,
        control: &Control,
    ) -> Result<FoundObjects> {
        let heap = &self.heap;
        let is_wanted_class = self.class_slots(wanted.class)?;
        let step = control.begin(Phase::View, heap.objects.len() as u64);
        let index = self.dominator_index(control)?;
        let text: Option<Vec<u8>> = wanted
            .contains
            .map(|text| text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        let mut reader = Reader::sequential(self);
        let mut found = Vec::new();
        for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
            if object.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            let slot = heap.objects.class_slots[object.at()] as usize;
            let is_wanted = is_wanted_class[slot]
                && heap.retained_size(object) >= wanted.min_size
                && index.position(object).is_some();
            if !is_wanted {
                continue;
            }
            if let (Some(snapshot), Some(text)) = (&self.snapshot, wanted.contains) {
                if !snapshot.contains(&heap.edges, object, text) {
                    continue;
                }
            } else if let Some(text) = &text
                && (self.names.shapes[slot].kind != Kind::Text
                    || !reader.string_contains(object, text)?)
            {
                continue;
            }
            columns::push(&mut found, object)?;
        }
        let total = found.len() as u64;
        self.sort_by_retained_size(&mut found, page);
        let mut reader = Reader::new(self);
        let mut objects = Vec::new();
        for object in page.of(found) {
            objects.push(FoundObject {
                address: heap.address(object).0,
                class_name: self.class_name(object).to_owned(),
                shallow_size: heap.shallow_size(object),
                retained_size: heap.retained_size(object),
                preview: reader.preview(object)?,
                distance: self.distance(object),
            });
        }
        Ok(FoundObjects {
            total,
            offset: page.offset,
            limit: page.limit,
            objects,
        })
    }

    /// Sorts the entries of a page: retained size ↓, shallow size ↓, address ↑.
    pub(super) fn sort_by_retained_size(&self, objects: &mut Vec<ObjectIndex>, page: Page) {
        let key = |object: &ObjectIndex| {
            let sizes = (
                self.heap.retained_size(*object),
                self.heap.shallow_size(*object),
            );
            (std::cmp::Reverse(sizes), *object)
        };
        let end = page.end();
        if end < objects.len() {
            objects.select_nth_unstable_by_key(end, key);
            objects.truncate(end);
        }
        objects.sort_unstable_by_key(key);
    }
}

impl Reader<'_> {
    /// Whether a string contains these code units.
    fn string_contains(&mut self, object: ObjectIndex, text: &[u8]) -> Result<bool> {
        let payload = self.payload(self.heap().heap.address(object).0)?;
        let contents = self.part(payload, 0, payload.size)?;
        if text.is_empty() {
            return Ok(true);
        }
        let places = contents.len().saturating_sub(text.len() - 1);
        Ok((0..places)
            .step_by(2)
            .any(|at| contents[at..].starts_with(text)))
    }
}
