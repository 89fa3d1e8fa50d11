//! What was numbered lately: a table of fixed size that finds most repetitions. One that it has forgotten
//! gets another number.

use crate::columns;
use crate::error::Result;

/// Values that may share a place; a new one displaces the one that was used least lately.
const WAYS: usize = 4;

/// Numbered values by their hash.
pub(super) struct Recent<T> {
    /// [`WAYS`] for each group of hashes, the one that was used last first.
    entries: Vec<Option<Entry<T>>>,
    groups: usize,
}

#[derive(Clone, Copy)]
struct Entry<T> {
    hash: u32,
    number: u32,
    value: T,
}

impl<T: Copy> Recent<T> {
    /// A table for this number of values, a power of two. It takes memory when it is first used.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            entries: Vec::new(),
            groups: capacity / WAYS,
        }
    }

    /// The number of a value that is equal to the one with this hash; otherwise this value gets `number`.
    pub(super) fn find_or_add(
        &mut self,
        hash: u64,
        value: T,
        number: u32,
        mut is_equal: impl FnMut(T) -> Result<bool>,
    ) -> Result<Option<u32>> {
        if self.entries.is_empty() {
            self.entries = columns::repeated(None, self.groups * WAYS)?;
        }
        let start = hash as usize % self.groups * WAYS;
        let hash = (hash >> 32) as u32;
        let group = &mut self.entries[start..start + WAYS];
        for nth in 0..WAYS {
            let Some(entry) = group[nth] else {
                break;
            };
            if entry.hash == hash && is_equal(entry.value)? {
                group[..=nth].rotate_right(1);
                return Ok(Some(entry.number));
            }
        }
        group.rotate_right(1);
        group[0] = Some(Entry {
            hash,
            number,
            value,
        });
        Ok(None)
    }
}

/// A hash that spreads values over a table. Equality is always checked.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| {
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

    fn number(table: &mut Recent<u64>, value: u64, number: u32) -> Option<u32> {
        let hash = hash(&value.to_le_bytes());
        let found = table.find_or_add(hash, value, number, |other| Ok(other == value));
        found.unwrap()
    }

    #[test]
    fn a_repeated_value_has_its_first_number() {
        let mut table = Recent::new(1 << 10);
        for value in 0..100u32 {
            assert_eq!(number(&mut table, value.into(), value), None);
        }
        for value in 0..100u32 {
            assert_eq!(number(&mut table, value.into(), 1000), Some(value));
        }
    }

    #[test]
    fn a_full_table_forgets_what_was_used_least_lately() {
        let mut table = Recent::new(WAYS);
        for value in 0..WAYS as u32 {
            number(&mut table, value.into(), value);
        }
        assert_eq!(number(&mut table, 0, 90), Some(0));
        assert_eq!(number(&mut table, 80, 80), None);
        assert_eq!(number(&mut table, 0, 91), Some(0));
        assert_eq!(number(&mut table, 1, 92), None);
    }
}
