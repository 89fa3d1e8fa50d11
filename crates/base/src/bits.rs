//! Sets of numbers, such as objects, of one bit each.

use std::ops::Range;

use rayon::prelude::*;

use crate::columns;
use crate::control::Control;
use crate::error::Result;

/// The number of words that are filled between two checks for cancellation.
const CHUNK: usize = 1 << 10;

/// A set of numbers, of one bit each.
#[derive(Debug, Default)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// An empty set, for numbers below this one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(end: usize) -> Result<Self> {
        Ok(Self {
            words: columns::zeros(end.div_ceil(64))?,
        })
    }

    /// The numbers below this one that fulfil a condition.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Aborted`](crate::Error::Aborted).
    pub fn of(end: u32, is_member: impl Fn(u32) -> bool + Sync, control: &Control) -> Result<Self> {
        let mut words = columns::zeros::<u64>(end.div_ceil(64) as usize)?;
        let chunks = words.par_chunks_mut(CHUNK).enumerate();
        chunks.try_for_each(|(nth, chunk)| {
            for (word, first) in chunk
                .iter_mut()
                .zip((nth as u32 * CHUNK as u32 * 64..).step_by(64))
            {
                let numbers = first..end.min(first + 64);
                *word = numbers.fold(0, |word, number| {
                    word | u64::from(is_member(number)) << (number - first)
                });
            }
            control.check()
        })?;
        Ok(Self { words })
    }

    /// The members, 64 numbers to a word.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether a number is a member.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 != 0
    }

    /// Adds a number; returns whether it is new.
    #[inline]
    pub fn insert(&mut self, number: u32) -> bool {
        let word = &mut self.words[number as usize / 64];
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// The members in a range, in their order.
    pub fn iter_in(&self, range: Range<u32>) -> impl Iterator<Item = u32> + Clone {
        let first_word = range.start as usize / 64;
        let words = first_word..(range.end as usize).div_ceil(64).max(first_word);
        let numbered = self.words[words].iter().zip((0..).skip(first_word));
        numbered.flat_map(move |(&word, nth)| {
            let first = nth * 64;
            let after = !0u64 << range.start.saturating_sub(first).min(63);
            let before = !0u64 >> 64u32.saturating_sub(range.end - first).min(63);
            let word = word & after & before;
            let bits = std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            });
            bits.map(move |rest| first + rest.trailing_zeros())
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn the_members_in_a_range_are_found() {
        let members = [0, 1, 63, 64, 65, 130, 191];
        let mut bits = Bits::new(192).unwrap();
        for member in members {
            bits.insert(member);
        }
        for start in 0..=192 {
            for end in start..=192 {
                let expected = members.into_iter().filter(|nth| (start..end).contains(nth));
                assert!(bits.iter_in(start..end).eq(expected), "{start}..{end}");
            }
        }
    }
}
