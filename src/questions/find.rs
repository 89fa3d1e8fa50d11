//! Objects by class, size and contents.

use memchr::memmem::Finder;

use super::LoadedHeap;
use super::answer::{FoundObject, FoundObjects};
use super::memory::{LONG_WINDOW, Reader};
use super::question::Page;
use super::text_search::TextSearch;
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::runtime::shapes::Kind;
use crate::units::ObjectIndex;

/// The number of objects between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 14;

/// The number of bytes of a string that are read at once.
const PIECE: u32 = LONG_WINDOW;

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
        let is_wanted_class = self.class_slots(wanted.class, control)?;
        let step = control.begin(Phase::View, heap.objects.len() as u64);
        let index = self.dominator_index(control)?;
        let text = wanted.contains.map(TextSearch::new).transpose()?;
        let finder = wanted.contains.map(Finder::new);
        let mut reader = Reader::sequential(self, control);
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
            if let (Some(snapshot), Some(text)) = (&self.snapshot, &finder) {
                if !snapshot.contains(&heap.edges, object, text) {
                    continue;
                }
            } else if let Some(text) = &text
                && (self.names.shapes[slot].kind != Kind::Text
                    || !reader.string_contains(object, text, control)?)
            {
                continue;
            }
            columns::push(&mut found, object)?;
        }
        let total = found.len() as u64;
        self.sort_by_retained_size(&mut found, page);
        let mut reader = Reader::new(self, control);
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
    /// Whether a string contains a text.
    fn string_contains(
        &mut self,
        object: ObjectIndex,
        text: &TextSearch,
        control: &Control,
    ) -> Result<bool> {
        let payload = self.payload(self.heap().heap.address(object).0)?;
        if text.is_empty() {
            return Ok(true);
        }
        let mut found = 0;
        for at in (0..payload.size).step_by(PIECE as usize) {
            if at > 0 {
                control.check()?;
            }
            let piece = self.part(payload, at, PIECE)?;
            if text.continues(&mut found, piece) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
