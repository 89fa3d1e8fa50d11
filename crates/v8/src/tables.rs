//! The tables of maps and sets of JavaScript: which of their references are keys, and which are values.
//!
//! A table is an array of words: the numbers of its entries, of deleted ones and of buckets, a word for each bucket, and the
//! entries. An entry of a map has its key, its value and the number of the next one; an entry of a set its value and the number
//! of the next one. There are twice as many entries as buckets, whose number is a power of two
//! (`src/objects/ordered-hash-table.h` of V8). A snapshot has the size of the array, and the index of the word of each
//! reference. It has no reference to a number, a boolean, null or undefined.

use super::source::SnapshotSource;
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, LabelKind, NameKind, WideLabel};

/// The class of sets.
pub(super) const SET: &str = "Set";
/// The class of maps.
pub(super) const MAP: &str = "Map";
/// The reference from a map or a set to its table.
const TABLE: &[u8] = b"table";
/// What stands in the place of a deleted key and its value, in the versions of V8 that write it.
const DELETED: &[u8] = b"system / Hole";
/// The words before the buckets.
const COUNTS: u64 = 3;
/// The words of an array before its elements.
const HEADER: u64 = 2;
/// The words of a map or a set without its table.
const COLLECTION: u64 = 4;
/// The sizes of a word: without and with compressed pointers.
const WORD_SIZES: [u64; 2] = [8, 4];

/// What a reference of a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The key of a map, or the value of a set.
    Key,
    /// The value of a map.
    Value,
}

/// A reference of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TableReference {
    /// The number of its entry.
    pub(super) entry: u32,
    pub(super) part: Part,
    pub(super) target: ObjectIndex,
}

/// The table of a map or a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderedHashTable {
    pub(super) is_map: bool,
    array: ObjectIndex,
    /// The index of the first word of the entries.
    first: u32,
}

impl OrderedHashTable {
    /// The words of an entry.
    fn width(self) -> u32 {
        if self.is_map { 3 } else { 2 }
    }

    /// The entry and the part that the word with this index is; `None` for another word.
    fn part(self, index: u32) -> Option<(u32, Part)> {
        let index = index.checked_sub(self.first)?;
        let part = match index % self.width() {
            0 => Part::Key,
            1 if self.is_map => Part::Value,
            _ => return None,
        };
        Some((index / self.width(), part))
    }
}

/// The number of buckets of a table of this size in bytes, with words of this size.
fn buckets(size: u64, word: u64, is_map: bool) -> Option<u32> {
    let words_of_bucket = if is_map { 7 } else { 5 };
    let words = size
        .is_multiple_of(word)
        .then_some(size / word)?
        .checked_sub(HEADER + COUNTS)?;
    let buckets = words / words_of_bucket;
    let is_table = words.is_multiple_of(words_of_bucket) && buckets.is_power_of_two();
    u32::try_from(buckets).ok().filter(|_| is_table)
}

impl SnapshotSource {
    /// The table of a map or a set; `None` for another object, and for a table of another form.
    pub(super) fn entry_table(&self, object: ObjectIndex) -> Option<OrderedHashTable> {
        let is_map = match self.class_name(object) {
            MAP => true,
            SET => false,
            _ => return None,
        };
        let array = self.names().child(&self.heap().edges, object, TABLE)?;
        let buckets = WORD_SIZES.into_iter().find_map(|word| {
            let size = match self.heap().shallow_size(array) {
                // The map or the set has the size of its table.
                0 if self.has_no_properties(object) => {
                    let whole = self.heap().shallow_size(object);
                    whole.checked_sub(COLLECTION * word)?
                }
                0 => return None,
                size => size,
            };
            buckets(size, word, is_map)
        })?;
        Some(OrderedHashTable {
            is_map,
            array,
            first: buckets.checked_add(COUNTS as u32)?,
        })
    }

    /// Whether the program gave an object no properties, whose array would count for the size of the object.
    fn has_no_properties(&self, object: ObjectIndex) -> bool {
        let edges = &self.heap().edges;
        let mut labels = edges
            .range(object)
            .filter_map(|position| edges.label(position));
        labels.all(|label| match label.kind() {
            LabelKind::Named(NameKind::Property, name) => {
                self.names().strings.bytes(name) == b"__proto__"
            }
            _ => true,
        })
    }

    /// The references of a table, in the order of its entries, without deleted ones.
    pub(super) fn table_references(
        &self,
        table: OrderedHashTable,
        control: &Control,
    ) -> Result<Vec<TableReference>> {
        let edges = &self.heap().edges;
        let mut references = Vec::new();
        for (nth, place) in edges.range(table.array).enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                control.count(CHECK_INTERVAL as u64)?;
            }
            let is_word = edges.label(place).map(EdgeLabel::kind) == Some(LabelKind::Hidden);
            let index = edges.wide_label(place).and_then(WideLabel::index);
            let part = index
                .filter(|_| is_word)
                .and_then(|index| table.part(index));
            let target = edges.target(place);
            if let Some((entry, part)) = part
                && self.names().raw_name(target) != DELETED
            {
                let reference = TableReference {
                    entry,
                    part,
                    target,
                };
                columns::push(&mut references, reference)?;
            }
        }
        references.sort_unstable();
        Ok(references)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_table_says_how_many_buckets_it_has() {
        for count in (1..20).map(|power| 1u64 << power) {
            for word in WORD_SIZES {
                for (is_map, words) in [(true, 7), (false, 5)] {
                    let size = (HEADER + COUNTS + count * words) * word;
                    assert_eq!(buckets(size, word, is_map).map(u64::from), Some(count));
                    assert_eq!(buckets(size + word, word, is_map), None);
                }
            }
        }
        assert_eq!(buckets(0, 8, true), None);
        assert_eq!(buckets(u64::MAX, 4, false), None);
    }

    #[test]
    fn words_of_entries_are_keys_values_and_numbers_of_the_next() {
        let table = |is_map| OrderedHashTable {
            is_map,
            array: ObjectIndex(0),
            first: 5,
        };
        let parts = |is_map| [4, 5, 6, 7, 8].map(|index| table(is_map).part(index));
        let key = |entry| Some((entry, Part::Key));
        assert_eq!(
            parts(true),
            [None, key(0), Some((0, Part::Value)), None, key(1)]
        );
        assert_eq!(parts(false), [None, key(0), None, key(1), None]);
    }
}
