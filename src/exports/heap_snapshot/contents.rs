//! Strings by what they contain.

use super::super::memory::PagedMemory;
use super::super::object_set::ObjectSet;
use super::super::output::Output;
use super::REPORT;
use super::recent::RecentTexts;
use crate::columns;
use crate::control::Step;
use crate::error::Result;
use crate::questions::LoadedHeap;
use crate::units::ObjectIndex;

/// Bytes of a string beyond which it is cut.
const MOST_BYTES: u32 = 1 << 16;

/// Strings, and bytes of these, that are looked through for an equal one.
const REMEMBERED: (usize, usize) = (1 << 18, 1 << 23);

/// The numbers of strings by what they contain.
pub(super) struct ContentNames<'h> {
    heap: &'h LoadedHeap,
    next: u32,
    recent: RecentTexts,
    /// The strings that got a number of their own, in the order of these.
    firsts: ObjectSet,
    bytes: Vec<u8>,
}

impl<'h> ContentNames<'h> {
    /// Numbers from `first` on.
    pub(super) fn new(heap: &'h LoadedHeap, first: u32) -> Result<Self> {
        Ok(Self {
            heap,
            next: first,
            recent: RecentTexts::new(REMEMBERED.0, REMEMBERED.1),
            firsts: ObjectSet::new(heap.heap().objects.len())?,
            bytes: Vec::new(),
        })
    }

    /// The number after the last.
    pub(super) fn end(&self) -> u32 {
        self.next
    }

    /// The number of what a string contains. To be asked in the order of the objects.
    pub(super) fn number(
        &mut self,
        object: ObjectIndex,
        memory: &mut PagedMemory<'_>,
    ) -> Result<u32> {
        let size = shown(memory, object, &mut self.bytes)?;
        // What else distinguishes the written text: the end of a cut one, and quotes.
        let [a, b, c, d] = size.to_le_bytes();
        let quotes = u8::from(self.is_static(object));
        columns::extend(&mut self.bytes, &[a, b, c, d, quotes])?;
        if let Some(number) = self.recent.find_or_add(&self.bytes, self.next)? {
            return Ok(number);
        }
        self.firsts.insert(object);
        self.next += 1;
        Ok(self.next - 1)
    }

    fn is_static(&self, object: ObjectIndex) -> bool {
        !self.heap.heap().objects.is_on_heap(object)
    }

    /// Writes what the numbers stand for. Static strings have quotes, because their nodes are in one group
    /// with other static objects, which have the names of their classes.
    pub(super) fn write(
        &mut self,
        output: &mut Output<'_>,
        memory: &mut PagedMemory<'_>,
        step: &Step<'_>,
    ) -> Result<()> {
        for (object, nth) in self.firsts.iter().zip(1u64..) {
            let size = shown(memory, object, &mut self.bytes)?;
            let quote = match self.is_static(object) {
                true => "\\\"",
                false => "",
            };
            output.text("\n,\"");
            output.text(quote);
            output.json_bytes(&self.bytes)?;
            output.text(quote);
            if size > self.bytes.len() as u32 {
                let note = format!("… (cut; {} characters in all)", size / 2);
                output.json_units(note.encode_utf16())?;
            }
            output.text("\"");
            output.flush_if_full()?;
            if nth.is_multiple_of(REPORT) {
                step.advance(REPORT)?;
            }
        }
        Ok(())
    }
}

/// Reads what is shown of a string. Returns the size of all of it, in bytes.
fn shown(memory: &mut PagedMemory<'_>, object: ObjectIndex, into: &mut Vec<u8>) -> Result<u32> {
    let payload = memory.payload_of(object)?;
    let size = payload.size & !1;
    into.clear();
    into.extend_from_slice(memory.read(payload.address, size.min(MOST_BYTES))?);
    let is_cut = size > into.len() as u32;
    // Not between the two halves of a character.
    if is_cut && matches!(into.last_chunk::<2>(), Some([_, 0xd8..=0xdb])) {
        into.truncate(into.len() - 2);
    }
    Ok(size)
}
