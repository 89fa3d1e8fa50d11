//! A set of objects that knows how many of its members come before each: one bit an object, and a number
//! for every 64 of them.

use crate::columns;
use crate::error::Result;
use crate::units::ObjectIndex;

/// A set of objects.
#[derive(Debug, Default)]
pub(super) struct ObjectSet {
    bits: Vec<u64>,
    /// Members before each word of `bits`; made by [`number`](Self::number).
    before: Vec<u32>,
}

impl ObjectSet {
    /// An empty set, for objects below this number.
    pub(super) fn new(objects: usize) -> Result<Self> {
        Ok(Self {
            bits: columns::repeated(0, objects.div_ceil(64))?,
            before: Vec::new(),
        })
    }

    #[inline]
    pub(super) fn contains(&self, object: ObjectIndex) -> bool {
        self.bits[object.at() / 64] >> (object.at() % 64) & 1 != 0
    }

    /// Adds an object; returns whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, object: ObjectIndex) -> bool {
        let word = &mut self.bits[object.at() / 64];
        let bit = 1 << (object.at() % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Numbers the members in their order. Returns how many there are.
    pub(super) fn number(&mut self) -> Result<u32> {
        self.before = columns::with_capacity(self.bits.len())?;
        let mut count = 0;
        for word in &self.bits {
            self.before.push(count);
            count += word.count_ones();
        }
        Ok(count)
    }

    /// How many members come before this one.
    #[inline]
    pub(super) fn rank(&self, object: ObjectIndex) -> u32 {
        let (word, bit) = (object.at() / 64, object.at() % 64);
        let lower = self.bits[word] & ((1 << bit) - 1);
        self.before[word] + lower.count_ones()
    }

    /// All members, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ObjectIndex> {
        let words = self.bits.iter().zip((0u32..).step_by(64));
        words.flat_map(|(&word, first)| {
            let bits = std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            });
            bits.map(move |rest| ObjectIndex(first + rest.trailing_zeros()))
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order_and_their_rank_is_their_place() {
        let members = [0, 1, 63, 64, 130, 199].map(ObjectIndex);
        let mut set = ObjectSet::new(200).unwrap();
        for member in members {
            assert!(set.insert(member));
            assert!(!set.insert(member));
        }
        assert_eq!(set.number().unwrap(), 6);
        assert!(set.iter().eq(members));
        for (member, rank) in members.into_iter().zip(0..) {
            assert_eq!(set.rank(member), rank);
        }
        assert!(set.contains(ObjectIndex(130)) && !set.contains(ObjectIndex(131)));
    }
}
