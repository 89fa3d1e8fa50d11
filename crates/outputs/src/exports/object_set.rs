//! A set of objects that knows how many of its members come before each: one bit an object, and a number
//! for every 64 of them.

use std::ops::Range;

use base::bits::Bits;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;

/// A set of objects.
#[derive(Debug, Default)]
pub(super) struct ObjectSet {
    bits: Bits,
    /// Members before each word of `bits`; made by [`number`](Self::number).
    before: Vec<u32>,
    /// All members are below this object.
    end: u32,
}

impl ObjectSet {
    /// An empty set, for objects below this number.
    pub(super) fn new(objects: usize) -> Result<Self> {
        Ok(Self {
            bits: Bits::new(objects)?,
            before: Vec::new(),
            end: objects as u32,
        })
    }

    /// The objects below this number that fulfil a condition.
    pub(super) fn of(
        objects: usize,
        is_member: impl Fn(ObjectIndex) -> bool + Sync,
        control: &Control,
    ) -> Result<Self> {
        let end = objects as u32;
        Ok(Self {
            bits: Bits::of(end, |number| is_member(ObjectIndex(number)), control)?,
            before: Vec::new(),
            end,
        })
    }

    #[inline]
    pub(super) fn contains(&self, object: ObjectIndex) -> bool {
        self.bits.contains(object.0)
    }

    /// Adds an object; returns whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, object: ObjectIndex) -> bool {
        self.bits.insert(object.0)
    }

    /// Numbers the members in their order. Returns how many there are.
    pub(super) fn number(&mut self) -> Result<u32> {
        self.before = columns::with_capacity(self.bits.words().len())?;
        let mut count = 0;
        for word in self.bits.words() {
            self.before.push(count);
            count += word.count_ones();
        }
        Ok(count)
    }

    /// How many members come before this one.
    #[inline]
    pub(super) fn rank(&self, object: ObjectIndex) -> u32 {
        let (word, bit) = (object.at() / 64, object.at() % 64);
        let lower = self.bits.words()[word] & ((1 << bit) - 1);
        self.before[word] + lower.count_ones()
    }

    /// All members, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = ObjectIndex> {
        self.iter_in(0..self.end)
    }

    /// The members in a range, in their order.
    pub(super) fn iter_in(&self, range: Range<u32>) -> impl Iterator<Item = ObjectIndex> + Clone {
        self.bits.iter_in(range).map(ObjectIndex)
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
