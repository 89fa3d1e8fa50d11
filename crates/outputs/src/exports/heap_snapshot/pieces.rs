//! Where the heap is divided into pieces. A piece is never large, even if one object is.

use std::ops::Range;

use super::chosen::Chosen;
use super::writer::Writer;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{ContentReader, Cursor, Heap, NamedBy};

/// Bytes of objects in a piece, at most; the last object may exceed it.
const PIECE: u32 = 1 << 18;

/// What an object adds to [`PIECE`] besides its size.
const LINE: u32 = 32;

/// Objects in advance for which memory is prefetched.
const AHEAD: usize = 8;

/// Objects in a piece of references, and references in it, at most.
const MOST: u32 = 1 << 12;

/// Bytes of a string beyond which it is truncated.
pub(super) const MOST_TEXT_BYTES: u32 = 1 << 16;

/// Divides the objects into ranges.
pub(super) struct ObjectPieces<'h> {
    heap: &'h Heap,
    next: u32,
}

impl<'h> ObjectPieces<'h> {
    pub(super) fn new(heap: &'h Heap) -> Self {
        Self { heap, next: 0 }
    }

    /// The next objects; none at the end.
    pub(super) fn next(&mut self) -> Range<u32> {
        let (start, count) = (self.next, self.heap.objects.len() as u32);
        let mut bytes = 0;
        while bytes < PIECE && self.next < count {
            let size = self.heap.block_size(ObjectIndex(self.next));
            bytes += LINE + size.min(MOST_TEXT_BYTES);
            self.next += 1;
        }
        start..self.next
    }
}

/// The references of some objects, or some references of one object.
#[derive(Clone, Default)]
pub(super) struct PiecePart {
    objects: Range<u32>,
    /// The references, and how far the object was read before them.
    within: Option<(Range<u32>, Cursor)>,
}

impl PiecePart {
    /// Calls `each` with the references of each object, and how far it was read before them.
    pub(super) fn each(
        &self,
        writer: &Writer<'_>,
        memory: &mut dyn ContentReader,
        mut each: impl FnMut(ObjectIndex, Range<u32>, Cursor, &mut dyn ContentReader) -> Result<()>,
    ) -> Result<()> {
        memory.begin(self.objects.clone());
        if let Some((positions, cursor)) = &self.within {
            let source = ObjectIndex(self.objects.start);
            return each(source, positions.clone(), *cursor, memory);
        }
        let objects = writer.chosen.objects.iter_in(self.objects.clone());
        let ahead = objects.clone().skip(AHEAD).map(Some);
        for (source, ahead) in objects.zip(ahead.chain(std::iter::repeat(None))) {
            if let Some(ahead) = ahead
                && writer.naming(ahead).by != NamedBy::Label
            {
                memory.prefetch(ahead);
            }
            let positions = writer.heap.heap().edges.range(source);
            each(source, positions, Cursor::default(), memory)?;
        }
        Ok(())
    }
}

/// Divides the references into parts.
pub(super) struct EdgePieces<'h> {
    heap: &'h Heap,
    chosen: &'h Chosen,
    next: u32,
    /// The next reference of the next object, if not its first, and how far the object is read.
    within_object: Option<(u32, Cursor)>,
}

impl<'h> EdgePieces<'h> {
    pub(super) fn new(heap: &'h Heap, chosen: &'h Chosen) -> Self {
        Self {
            heap,
            chosen,
            next: 0,
            within_object: None,
        }
    }

    /// The next part, if there is one.
    pub(super) fn next(&mut self, memory: &mut dyn ContentReader) -> Result<Option<PiecePart>> {
        let edges = &self.heap.edges;
        let count = self.heap.objects.len() as u32;
        let start = self.next;
        if start == count {
            return Ok(None);
        }
        let positions = edges.range(ObjectIndex(start));
        let is_chosen = self.chosen.objects.contains(ObjectIndex(start));
        if positions.len() as u32 > MOST && is_chosen {
            return self.within(ObjectIndex(start), positions, memory).map(Some);
        }
        // The objects after it whose references end early enough.
        let limit = positions.start.saturating_add(MOST);
        let (mut end, mut most) = (start + 1, count.min(start + MOST));
        while end < most {
            let middle = end + (most - end) / 2;
            if edges.range(ObjectIndex(middle)).end <= limit {
                end = middle + 1
            } else {
                most = middle
            }
        }
        self.next = end;
        Ok(Some(PiecePart {
            objects: start..end,
            within: None,
        }))
    }

    /// The next part of an object with many references.
    fn within(
        &mut self,
        object: ObjectIndex,
        positions: Range<u32>,
        memory: &mut dyn ContentReader,
    ) -> Result<PiecePart> {
        let (start, cursor) = self
            .within_object
            .unwrap_or((positions.start, Cursor::default()));
        let part = start..positions.end.min(start + MOST);
        if part.end < positions.end {
            let mut end = cursor;
            memory.skip(object, part.clone(), &mut end)?;
            self.within_object = Some((part.end, end));
        } else {
            self.within_object = None;
            self.next += 1;
        }
        Ok(PiecePart {
            objects: object.0..object.0 + 1,
            within: Some((part, cursor)),
        })
    }
}
