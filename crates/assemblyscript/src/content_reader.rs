//! Reads the contents of all objects for exports.

use std::ops::Range;

use super::dump_source::DumpSource;
use super::edge_names::{EdgeNames, add_label};
use super::memory::MemoryInPlace;
use super::paged_memory::{PagedMemory, with_ahead};
use crate::runtime::objects::HEADER_SIZE;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{
    ContentReader, Cursor, DumpBytes, EntryLabel, NamedBy, OpenedContents, ReferenceName,
    ShownText, TextSink,
};

/// A dump that is open for reading.
pub(super) struct OpenedDump<'h> {
    dump: &'h DumpSource,
    opened: Option<Box<dyn DumpBytes + 'h>>,
    may_map: bool,
}

impl<'h> OpenedDump<'h> {
    pub(super) fn new(dump: &'h DumpSource, may_map: bool) -> Result<Self> {
        Ok(Self {
            dump,
            opened: dump.open()?,
            may_map,
        })
    }

    /// The memory where it lies; `None` if it has to be copied.
    fn in_place(&self) -> Result<Option<MemoryInPlace<'_>>> {
        MemoryInPlace::new(self.dump, self.opened.as_deref(), self.may_map)
    }
}

impl OpenedContents for OpenedDump<'_> {
    fn reader(&self, readers: usize) -> Result<Box<dyn ContentReader + '_>> {
        let memory = PagedMemory::new(self.dump, self.in_place()?, readers)?;
        Ok(Box::new(DumpReader {
            dump: self.dump,
            memory,
        }))
    }

    fn check(&self) -> Result<()> {
        match self.in_place()? {
            Some(memory) => memory.check(),
            None => Ok(()),
        }
    }
}

/// Reads the contents of a dump.
struct DumpReader<'h> {
    dump: &'h DumpSource,
    memory: PagedMemory<'h>,
}

impl DumpReader<'_> {
    /// Where objects that follow each other lie.
    fn addresses(&self, objects: Range<u32>) -> Range<u64> {
        let heap = self.dump.heap();
        let address = |nth| u64::from(heap.memory_address(ObjectIndex(nth)).0);
        if objects.is_empty() {
            return 0..0;
        }
        let last = objects.end - 1;
        let size = u64::from(heap.block_size(ObjectIndex(last)));
        address(objects.start).saturating_sub(HEADER_SIZE.into())..address(last) + size
    }
}

impl ContentReader for DumpReader<'_> {
    fn begin(&mut self, objects: Range<u32>) {
        self.memory.begin(self.addresses(objects));
    }

    fn prefetch(&mut self, object: ObjectIndex) {
        self.memory.prefetch(Some(object));
    }

    fn texts(&mut self, strings: &[ObjectIndex], most: u32, sink: &mut TextSink<'_>) -> Result<()> {
        for (object, ahead) in with_ahead(strings.iter().copied()) {
            self.memory.prefetch(ahead);
            let payload = self.memory.payload_of(object)?;
            let size = payload.size & !1;
            let mut units = self.memory.read(payload.address, size.min(most))?;
            let is_truncated = size > units.len() as u32;
            // Not between the two halves of a character.
            if is_truncated && let [whole @ .., _, 0xd8..=0xdb] = units {
                units = whole;
            }
            sink(object, ShownText { units, size })?;
        }
        Ok(())
    }

    fn names(
        &mut self,
        source: ObjectIndex,
        positions: Range<u32>,
        cursor: &mut Cursor,
        into: &mut Vec<ReferenceName>,
    ) -> Result<()> {
        columns::reserve(into, positions.len())?;
        let has_keys = self.dump.naming(self.dump.shape(source)).by == NamedBy::Key;
        let mut names = EdgeNames::new(self.dump, source, *cursor);
        let end = positions.end;
        for position in positions {
            if has_keys {
                names.prefetch_keys(position, end, &self.memory);
            }
            into.push(names.next(position, &mut self.memory)?);
        }
        *cursor = names.cursor();
        Ok(())
    }

    fn skip(
        &mut self,
        source: ObjectIndex,
        positions: Range<u32>,
        cursor: &mut Cursor,
    ) -> Result<()> {
        let mut names = EdgeNames::new(self.dump, source, *cursor);
        for position in positions {
            names.skip(position, &mut self.memory)?;
        }
        *cursor = names.cursor();
        Ok(())
    }

    fn add_label(
        &mut self,
        source: ObjectIndex,
        label: EntryLabel,
        text: &mut String,
    ) -> Result<()> {
        add_label(text, self.dump, source, label, &mut self.memory)
    }
}
