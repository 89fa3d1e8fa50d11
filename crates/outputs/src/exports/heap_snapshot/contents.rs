//! Strings by what they contain.

use std::ops::Range;

use super::super::object_set::ObjectSet;
use super::super::output::{json_text, json_units};
use super::passes::{Sequence, WorkPiece};
use super::pieces::{MOST_TEXT_BYTES, ObjectPieces};
use super::recent::{RecentTexts, Texts};
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{ContentReader, Heap};

/// Strings, and bytes of these, that are looked through for an equal one.
const REMEMBERED: (usize, usize) = (1 << 18, 1 << 23);

/// The numbers of strings by what they contain.
pub(super) struct ContentNames {
    next: u32,
    recent: RecentTexts,
    /// The strings that got a number of their own, in the order of these.
    firsts: ObjectSet,
}

impl ContentNames {
    /// Numbers from `first` on.
    pub(super) fn new(heap: &Heap, first: u32) -> Result<Self> {
        Ok(Self {
            next: first,
            recent: RecentTexts::new(REMEMBERED.0, REMEMBERED.1),
            firsts: ObjectSet::new(heap.objects.len())?,
        })
    }

    /// Ends the numbering: the memory for finding equal strings is freed. Returns the number after the last.
    pub(super) fn end(&mut self) -> u32 {
        self.recent = RecentTexts::new(0, 0);
        self.next
    }

    /// The number of what a string contains, by its [`text`]. To be asked in the order of the objects.
    pub(super) fn number(&mut self, object: ObjectIndex, hash: u64, text: &[u8]) -> Result<u32> {
        if let Some(number) = self.recent.find_or_add(hash, text, self.next)? {
            return Ok(number);
        }
        self.firsts.insert(object);
        self.next += 1;
        Ok(self.next - 1)
    }
}

/// Adds what strings contain to the texts that are to be numbered.
pub(super) fn add_texts(
    texts: &mut Texts,
    heap: &Heap,
    strings: &[ObjectIndex],
    memory: &mut dyn ContentReader,
) -> Result<()> {
    memory.texts(strings, MOST_TEXT_BYTES, &mut |object, text| {
        // What else distinguishes the written text: the end of a truncated one, and quotes.
        let [a, b, c, d] = text.size.to_le_bytes();
        let quotes = u8::from(is_static(heap, object));
        texts.add([text.units, &[a, b, c, d, quotes]])?;
        Ok(())
    })
}

fn is_static(heap: &Heap, object: ObjectIndex) -> bool {
    !heap.objects.is_on_heap(object)
}

/// Writes what the numbers stand for.
pub(super) struct ContentPass<'p> {
    pub(super) heap: &'p Heap,
    pub(super) names: &'p ContentNames,
}

/// Some of the strings.
#[derive(Default)]
pub(super) struct ContentPiece {
    objects: Range<u32>,
    strings: Vec<ObjectIndex>,
}

impl WorkPiece for ContentPiece {
    type Pass<'p> = ContentPass<'p>;

    /// Static strings have quotes, because their nodes are in one group with other static objects, which have
    /// the names of their classes.
    fn write(
        &mut self,
        pass: &Self::Pass<'_>,
        memory: &mut dyn ContentReader,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        memory.begin(self.objects.clone());
        self.strings.clear();
        for string in pass.names.firsts.iter_in(self.objects.clone()) {
            columns::push(&mut self.strings, string)?;
        }
        memory.texts(&self.strings, MOST_TEXT_BYTES, &mut |object, shown| {
            let quote: &[u8] = if is_static(pass.heap, object) {
                b"\\\""
            } else {
                b""
            };
            text.extend_from_slice(b"\n,\"");
            text.extend_from_slice(quote);
            json_units(text, shown.units)?;
            text.extend_from_slice(quote);
            if shown.size > shown.units.len() as u32 {
                json_text(
                    text,
                    &format!("… (cut; {} characters in all)", shown.size / 2),
                );
            }
            text.push(b'"');
            Ok(())
        })
    }

    fn units(&self) -> u64 {
        self.strings.len() as u64
    }
}

impl Sequence<ContentPiece> for ObjectPieces<'_> {
    fn next_part(&mut self, piece: &mut ContentPiece, _: &mut dyn ContentReader) -> Result<bool> {
        piece.objects = self.next();
        Ok(!piece.objects.is_empty())
    }

    fn number(&mut self, _: &mut ContentPiece) -> Result<()> {
        Ok(())
    }
}
