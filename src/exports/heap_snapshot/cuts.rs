//! Where the heap is cut into pieces. A piece is never large, even if one object is.

use std::ops::Range;

use super::Chosen;
use super::contents::MOST_BYTES;
use super::edge_names::{Cursor, EdgeNames};
use crate::error::Result;
use crate::exports::memory::{PagedMemory, with_ahead};
use crate::heap::Heap;
use crate::runtime::objects::HEADER_SIZE;
use crate::units::ObjectIndex;

/// Bytes of objects in a piece, at most; the last object may exceed it.
const PIECE: u32 = 1 << 18;

/// What an object adds to [`PIECE`] besides its size.
const LINE: u32 = 32;

/// Objects in a piece of references, and references in it, at most.
const MOST: u32 = 1 << 12;

/// Where objects that follow each other lie.
pub(super) fn addresses(heap: &Heap, objects: &Range<u32>) -> Range<u64> {
    let of = |nth| u64::from(heap.address(ObjectIndex(nth)).0);
    match objects.is_empty() {
        true => 0..0,
        false => {
            let last = objects.end - 1;
            let size = u64::from(heap.block_size(ObjectIndex(last)));
            of(objects.start).saturating_sub(HEADER_SIZE.into())..of(last) + size
        }
    }
}

/// Cuts the objects into ranges.
pub(super) struct ObjectCuts<'h> {
    heap: &'h Heap,
    next: u32,
}

impl<'h> ObjectCuts<'h> {
    pub(super) fn new(heap: &'h Heap) -> Self {
        Self { heap, next: 0 }
    }

    /// The next objects; none at the end.
    pub(super) fn next(&mut self) -> Range<u32> {
        let (start, count) = (self.next, self.heap.objects.len() as u32);
        let mut bytes = 0;
        while bytes < PIECE && self.next < count {
            let size = self.heap.block_size(ObjectIndex(self.next));
            bytes += LINE + size.min(MOST_BYTES);
            self.next += 1;
        }
        start..self.next
    }
}

/// The references of some objects, or some references of one object.
#[derive(Clone, Default)]
pub(super) struct Part {
    objects: Range<u32>,
    /// The references, and how far the object was read before them.
    within: Option<(Range<u32>, Cursor)>,
}

impl Part {
    /// Prepares `names` and `memory` for each object, and calls `each` with its references.
    pub(super) fn each<'h>(
        &self,
        chosen: &Chosen,
        mut names: EdgeNames<'h>,
        memory: &mut PagedMemory<'_>,
        mut each: impl FnMut(
            ObjectIndex,
            Range<u32>,
            &mut EdgeNames<'h>,
            &mut PagedMemory<'_>,
        ) -> Result<()>,
    ) -> Result<()> {
        memory.begin(addresses(names.heap(), &self.objects));
        if let Some((places, cursor)) = &self.within {
            let source = ObjectIndex(self.objects.start);
            names.resume(source, *cursor);
            return each(source, places.clone(), &mut names, memory);
        }
        for (source, ahead) in with_ahead(chosen.objects.iter_in(self.objects.clone())) {
            memory.prefetch(ahead.filter(|&object| names.may_read(object)));
            names.begin(source);
            let places = names.heap().edges.range(source);
            each(source, places, &mut names, memory)?;
        }
        Ok(())
    }
}

/// Cuts the references into parts.
pub(super) struct EdgeCuts<'h> {
    heap: &'h Heap,
    chosen: &'h Chosen,
    names: EdgeNames<'h>,
    next: u32,
    /// The next reference of the next object, if not its first.
    place: Option<u32>,
}

impl<'h> EdgeCuts<'h> {
    pub(super) fn new(heap: &'h Heap, chosen: &'h Chosen, names: EdgeNames<'h>) -> Self {
        Self {
            heap,
            chosen,
            names,
            next: 0,
            place: None,
        }
    }

    /// The next part, if there is one.
    pub(super) fn next(&mut self, memory: &mut PagedMemory<'_>) -> Result<Option<Part>> {
        let edges = &self.heap.edges;
        let count = self.heap.objects.len() as u32;
        let start = self.next;
        if start == count {
            return Ok(None);
        }
        let places = edges.range(ObjectIndex(start));
        let is_chosen = self.chosen.objects.contains(ObjectIndex(start));
        if places.len() as u32 > MOST && is_chosen {
            return self.within(ObjectIndex(start), places, memory).map(Some);
        }
        // The objects after it whose references end early enough.
        let limit = places.start.saturating_add(MOST);
        let (mut end, mut most) = (start + 1, count.min(start + MOST));
        while end < most {
            let middle = end + (most - end) / 2;
            match edges.range(ObjectIndex(middle)).end <= limit {
                true => end = middle + 1,
                false => most = middle,
            }
        }
        self.next = end;
        Ok(Some(Part {
            objects: start..end,
            within: None,
        }))
    }

    /// The next part of an object with many references.
    fn within(
        &mut self,
        object: ObjectIndex,
        places: Range<u32>,
        memory: &mut PagedMemory<'_>,
    ) -> Result<Part> {
        let start = self.place.unwrap_or_else(|| {
            self.names.begin(object);
            places.start
        });
        let part = start..places.end.min(start + MOST);
        let cursor = self.names.cursor();
        if part.end < places.end {
            for place in part.clone() {
                self.names.skip(place, memory)?;
            }
            self.place = Some(part.end);
        } else {
            self.place = None;
            self.next += 1;
        }
        Ok(Part {
            objects: object.0..object.0 + 1,
            within: Some((part, cursor)),
        })
    }
}
