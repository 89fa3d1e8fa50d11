//! Sets of groups of objects as small numbers: which groups occur among the dominators of an object.
//!
//! A heap has millions of objects, but few different sets, because objects of one class are mostly kept by
//! objects of the same few classes.

use std::collections::HashMap;

/// The number of a set. The empty set is 0.
pub(super) type SetNumber = u16;

/// Stands for a set that was not asked for yet.
const UNKNOWN: SetNumber = SetNumber::MAX;

/// How many numbers the table may have (8 MiB).
const LIMIT: usize = 1 << 22;

/// Numbers the sets of groups in the order in which they are asked for.
pub(super) struct GroupSets {
    groups: usize,
    /// For each set and each group, the number of the set with that group added: of the same set if the group
    /// belongs to it.
    added: Vec<SetNumber>,
    /// The groups of each set, ascending, and its number.
    numbers: HashMap<Box<[u16]>, SetNumber>,
    members: Vec<Box<[u16]>>,
}

impl GroupSets {
    /// Sets of groups below this number; nothing if there are too many groups.
    pub(super) fn new(groups: usize) -> Option<Self> {
        let mut sets = Self {
            groups,
            added: Vec::new(),
            numbers: HashMap::new(),
            members: Vec::new(),
        };
        sets.number(Box::default())?;
        Some(sets)
    }

    /// The set with this group added, which is the same set if the group belongs to it. Nothing if there are
    /// too many sets.
    #[inline]
    pub(super) fn with(&mut self, set: SetNumber, group: u32) -> Option<SetNumber> {
        match self.added[usize::from(set) * self.groups + group as usize] {
            UNKNOWN => self.add(set, group),
            number => Some(number),
        }
    }

    #[cold]
    fn add(&mut self, set: SetNumber, group: u32) -> Option<SetNumber> {
        let mut members = self.members[usize::from(set)].to_vec();
        members.push(group as u16);
        members.sort_unstable();
        let number = self.number(members.into())?;
        self.added[usize::from(set) * self.groups + group as usize] = number;
        Some(number)
    }

    fn number(&mut self, members: Box<[u16]>) -> Option<SetNumber> {
        if let Some(&number) = self.numbers.get(&members) {
            return Some(number);
        }
        let start = self.added.len();
        let number = SetNumber::try_from(self.members.len()).ok()?;
        if number == UNKNOWN || start + self.groups > LIMIT {
            return None;
        }
        self.added.resize(start + self.groups, UNKNOWN);
        for &member in &members {
            self.added[start + usize::from(member)] = number;
        }
        self.numbers.insert(members.clone(), number);
        self.members.push(members);
        Some(number)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_one_number_in_whatever_order_its_groups_are_added() {
        let mut sets = GroupSets::new(3).unwrap();
        let mut number = |groups: &[u32]| {
            let set = groups
                .iter()
                .try_fold(0, |set, &group| sets.with(set, group));
            set.unwrap()
        };
        assert_eq!(number(&[0, 2]), number(&[2, 0, 2]));
        assert_ne!(number(&[0, 2]), number(&[0, 1]));
        assert_eq!(number(&[]), 0);
    }

    #[test]
    fn more_sets_than_the_table_has_room_for_have_no_number() {
        let mut sets = GroupSets::new(40).unwrap();
        // Every set of 17 groups.
        let failed = (0..1u32 << 17).find(|bits| {
            let mut groups = (0..17).filter(|group| bits & 1 << group != 0);
            groups
                .try_fold(0, |set, group| sets.with(set, group))
                .is_none()
        });
        assert!(failed.is_some());
        assert!(sets.added.len() <= LIMIT);
        assert!(GroupSets::new(LIMIT + 1).is_none());
    }
}
