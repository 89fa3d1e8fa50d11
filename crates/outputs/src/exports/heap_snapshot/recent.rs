//! Texts that were numbered lately: tables of fixed size that find most repetitions. A text that was forgotten
//! gets another number.

use base::columns;
use base::error::Result;

/// Texts that may share a place; a new one displaces the one that was used least lately.
const WAYS: usize = 4;

/// Numbered texts.
pub(super) struct RecentTexts {
    /// [`WAYS`] for each group of hashes, the one that was used last first.
    entries: Vec<Option<RecentText>>,
    groups: usize,
    /// What the texts consist of: the last ones, in a ring.
    bytes: Vec<u8>,
    room: usize,
    /// Bytes that were ever added.
    end: u64,
}

#[derive(Clone, Copy)]
struct RecentText {
    hash: u32,
    number: u32,
    length: u32,
    /// Bytes that were added before it.
    start: u64,
}

impl RecentTexts {
    /// A table for this number of texts with this many bytes together, both powers of two. It takes memory
    /// when it is first used.
    pub(super) fn new(texts: usize, bytes: usize) -> Self {
        Self {
            entries: Vec::new(),
            groups: texts / WAYS,
            bytes: Vec::new(),
            room: bytes,
            end: 0,
        }
    }

    /// The number of an equal text; otherwise this text gets `number`. `hash` is the [`hash`] of the text.
    pub(super) fn find_or_add(
        &mut self,
        hash: u64,
        text: &[u8],
        number: u32,
    ) -> Result<Option<u32>> {
        if self.entries.is_empty() {
            self.entries = columns::repeated(None, self.groups * WAYS)?;
            self.bytes = columns::repeated(0, self.room)?;
        }
        let first = hash as usize % self.groups * WAYS;
        let hash = (hash >> 32) as u32;
        for nth in 0..WAYS {
            let Some(entry) = self.entries[first + nth] else {
                break;
            };
            if entry.hash == hash && self.text(entry) == Some(text) {
                self.entries[first..=first + nth].rotate_right(1);
                return Ok(Some(entry.number));
            }
        }
        if let Some(start) = self.add(text) {
            let group = &mut self.entries[first..first + WAYS];
            group.rotate_right(1);
            group[0] = Some(RecentText {
                hash,
                number,
                length: text.len() as u32,
                start,
            });
        }
        Ok(None)
    }

    /// The text of an entry, unless later ones took its room.
    fn text(&self, entry: RecentText) -> Option<&[u8]> {
        let is_there = self.end - entry.start <= self.room as u64;
        let at = entry.start as usize % self.room;
        is_there.then(|| &self.bytes[at..at + entry.length as usize])
    }

    /// Adds a text in one piece; not one that would take half of the room.
    fn add(&mut self, text: &[u8]) -> Option<u64> {
        if text.len() > self.room / 2 {
            return None;
        }
        let rest = self.room - self.end as usize % self.room;
        if rest < text.len() {
            self.end += rest as u64;
        }
        let (start, at) = (self.end, self.end as usize % self.room);
        self.bytes[at..at + text.len()].copy_from_slice(text);
        self.end += text.len() as u64;
        Some(start)
    }
}

/// Texts that are to be numbered, with their hashes.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    /// Of each text, its hash and where it ends.
    ends: Vec<(u64, u32)>,
}

impl Texts {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a text of two parts; returns its number.
    pub(super) fn add(&mut self, parts: [&[u8]; 2]) -> Result<u32> {
        let start = self.bytes.len();
        for part in parts {
            columns::extend(&mut self.bytes, part)?;
        }
        let hash = hash(&self.bytes[start..]);
        columns::push(&mut self.ends, (hash, self.bytes.len() as u32))?;
        Ok(self.ends.len() as u32 - 1)
    }

    /// The hash of a text, and the text.
    pub(super) fn get(&self, nth: u32) -> (u64, &[u8]) {
        let nth = nth as usize;
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let (hash, end) = self.ends[nth];
        (hash, &self.bytes[start as usize..end as usize])
    }

    /// All texts, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        (0..self.ends.len() as u32).map(|nth| self.get(nth))
    }
}

/// A hash that spreads texts over a table. Equality is always checked.
pub(super) fn hash(text: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = text.as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, |hash, word| {
        mix(hash, u64::from_le_bytes(*word))
    });
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hash = mix(hash, u64::from_le_bytes(last));
    // The upper bits are the good ones.
    hash ^ hash >> 29
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    fn number(table: &mut RecentTexts, text: u64, number: u32) -> Option<u32> {
        find_or_add(table, &text.to_le_bytes(), number)
    }

    fn find_or_add(table: &mut RecentTexts, text: &[u8], number: u32) -> Option<u32> {
        table.find_or_add(hash(text), text, number).unwrap()
    }

    #[test]
    fn a_repeated_text_has_its_first_number() {
        let mut table = RecentTexts::new(1 << 10, 1 << 10);
        for text in 0..100u32 {
            assert_eq!(number(&mut table, text.into(), text), None);
        }
        for text in 0..100u32 {
            assert_eq!(number(&mut table, text.into(), 1000), Some(text));
        }
    }

    #[test]
    fn texts_of_any_length_are_found_while_there_is_room_for_them() {
        let mut table = RecentTexts::new(1 << 6, 1 << 6);
        for (length, number) in [(0, 1), (7, 2), (8, 3), (20, 4)] {
            let text = vec![b'x'; length];
            assert_eq!(find_or_add(&mut table, &text, number), None);
            assert_eq!(find_or_add(&mut table, &text, 0), Some(number));
        }
        let too_long = vec![b'x'; 33];
        for _ in 0..2 {
            assert_eq!(find_or_add(&mut table, &too_long, 5), None);
        }
    }

    #[test]
    fn a_full_table_forgets_what_was_used_least_lately() {
        let mut table = RecentTexts::new(WAYS, 1 << 10);
        for text in 0..WAYS as u32 {
            number(&mut table, text.into(), text);
        }
        assert_eq!(number(&mut table, 0, 90), Some(0));
        assert_eq!(number(&mut table, 80, 80), None);
        assert_eq!(number(&mut table, 0, 91), Some(0));
        assert_eq!(number(&mut table, 1, 92), None);
    }

    #[test]
    fn a_text_whose_room_was_taken_is_forgotten() {
        let mut table = RecentTexts::new(1 << 10, 32);
        for text in 0..5u32 {
            assert_eq!(number(&mut table, text.into(), text), None);
        }
        assert_eq!(number(&mut table, 1, 90), Some(1));
        assert_eq!(number(&mut table, 0, 91), None);
    }
}
