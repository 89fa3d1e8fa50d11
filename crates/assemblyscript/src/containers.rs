//! What arrays, views, maps, sets and tuples say of their contents. Where their words come from, the caller says: memory that is
//! read piece by piece, the bytes of one object, or memory in pages.

use base::error::Result;
use base::units::Address;
use dumps::Memory;
use runtime_code::std_library::{
    BUCKETS, BUFFER, DATA_START, ENTRIES, ENTRIES_CAPACITY, ENTRIES_COUNT, ENTRIES_OFFSET, LENGTH,
    VIEW_LENGTH,
};

/// Where the elements of an array or a view lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    /// The address of the buffer, which need not be an object.
    pub(crate) buffer: u32,
    /// Bytes from the start of the buffer to the first element; `None` if this lies before the buffer.
    pub(crate) start: Option<u32>,
    /// The number of elements of an array, of bytes of a view.
    pub(crate) length: u32,
}

impl Elements {
    /// Those of an array, given its words by offset; `None` if one is missing.
    #[inline]
    pub(crate) fn of_array(word: impl FnMut(u32) -> Result<Option<u32>>) -> Result<Option<Self>> {
        Self::read(LENGTH, word)
    }

    /// Those of a view.
    pub(crate) fn of_view(word: impl FnMut(u32) -> Result<Option<u32>>) -> Result<Option<Self>> {
        Self::read(VIEW_LENGTH, word)
    }

    #[inline]
    fn read(length: u32, mut word: impl FnMut(u32) -> Result<Option<u32>>) -> Result<Option<Self>> {
        let (Some(buffer), Some(start), Some(length)) =
            (word(BUFFER)?, word(DATA_START)?, word(length)?)
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            buffer,
            start: start.checked_sub(buffer),
            length,
        }))
    }
}

/// The entries of a map or a set. No number is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryTable {
    /// The address of the buffer of the buckets.
    pub(crate) buckets: u32,
    /// The address of the buffer of the entries.
    pub(crate) entries: u32,
    /// The number of entries for which the buffer has room.
    pub(crate) capacity: u32,
    /// The number of used entries, deleted ones included.
    pub(crate) used: u32,
    /// The number of entries that are not deleted.
    pub(crate) count: u32,
}

impl EntryTable {
    /// That of a map or a set, given its words by offset; `None` if one is missing.
    #[inline]
    pub(crate) fn read(mut word: impl FnMut(u32) -> Result<Option<u32>>) -> Result<Option<Self>> {
        let (Some(buckets), Some(entries)) = (word(BUCKETS)?, word(ENTRIES)?) else {
            return Ok(None);
        };
        let (Some(capacity), Some(used), Some(count)) = (
            word(ENTRIES_CAPACITY)?,
            word(ENTRIES_OFFSET)?,
            word(ENTRIES_COUNT)?,
        ) else {
            return Ok(None);
        };
        Ok(Some(Self {
            buckets,
            entries,
            capacity,
            used,
            count,
        }))
    }
}

/// Whether an entry is deleted, by its word `taggedNext`. One without this word counts as deleted.
#[inline]
pub(crate) fn is_deleted(tagged_next: Option<u32>) -> bool {
    tagged_next.is_none_or(|tagged_next| tagged_next & 1 != 0)
}

/// Calls `follow` with each reference of a tuple and its number, by the bitmap at its end. Whether all of them lie before
/// the bitmap.
#[inline]
pub(crate) fn tuple_elements(tuple: Memory<'_>, mut follow: impl FnMut(u32, u32)) -> bool {
    let size = tuple.size() as u32;
    let Some(bitmap_at) = size.checked_sub(8) else {
        return false;
    };
    let half = |offset| tuple.word(Address(bitmap_at + offset)).unwrap_or_default();
    let mut bitmap = u64::from(half(0)) | u64::from(half(4)) << 32;
    let mut fits = true;
    while bitmap != 0 {
        let nth = bitmap.trailing_zeros();
        bitmap &= bitmap - 1;
        match tuple.word(Address(nth * 4)) {
            Some(word) if nth * 4 < bitmap_at => follow(word, nth),
            _ => fits = false,
        }
    }
    fits
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    /// Words at offsets 0, 4, 8 and so on; none after these.
    fn words(words: &[u32]) -> impl FnMut(u32) -> Result<Option<u32>> + '_ {
        |offset| Ok(words.get(offset as usize / 4).copied())
    }

    #[test]
    fn arrays_and_views_have_their_lengths_at_different_offsets() {
        let object = [1000, 1016, 32, 8];
        let array = Elements::of_array(words(&object)).unwrap().unwrap();
        let view = Elements::of_view(words(&object)).unwrap().unwrap();
        assert_eq!((array.start, array.length), (Some(16), 8));
        assert_eq!((view.buffer, view.length), (1000, 32));
    }

    #[test]
    fn elements_before_their_buffer_have_no_start() {
        let array = Elements::of_array(words(&[1000, 996, 0, 0])).unwrap();
        assert_eq!(array.unwrap().start, None);
    }

    #[test]
    fn an_object_that_is_too_short_is_no_container() {
        assert_eq!(Elements::of_array(words(&[1000, 1000, 4])).unwrap(), None);
        assert_eq!(EntryTable::read(words(&[1, 2, 3, 4, 5])).unwrap(), None);
    }
}
