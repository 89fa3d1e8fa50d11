//! From the class ids in object headers, which may be any number, to dense slots: positions in the
//! list of classes that occur.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::objects::HeapClass;
use crate::runtime::classes::Classes;
use crate::units::ClassId;

/// Objects that one task looks at.
const CHUNK: usize = 1 << 16;

/// Ids below this are counted in a table. Higher ones are not of any real program, but they may
/// occur: a table for them could be as large as the dump.
const TABLE: usize = 1 << 16;

/// How many objects there are of each class id.
pub(super) struct ClassIds(IdTable);

impl ClassIds {
    /// Counts the ids of all objects.
    pub(super) fn count(class_ids: &[u32]) -> Self {
        let counts = class_ids
            .par_chunks(CHUNK)
            .fold(IdTable::default, |mut counts, ids| {
                ids.iter().for_each(|&id| *counts.at(id) += 1);
                counts
            })
            .reduce(IdTable::default, IdTable::sum);
        Self(counts)
    }

    /// All ids that occur, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = ClassId> {
        self.0.entries().map(|(id, _)| ClassId(id))
    }

    /// Replaces the ids of all objects by slots, and returns the class of each slot, by ascending
    /// id.
    pub(super) fn into_slots(self, class_ids: &mut [u32], known: &Classes<'_>) -> Vec<HeapClass> {
        let mut slots = IdTable::default();
        let mut classes = Vec::new();
        for (id, count) in self.0.entries() {
            *slots.at(id) = classes.len() as u32;
            let id = ClassId(id);
            classes.push(HeapClass {
                id,
                class: known.describe(id),
                count: u64::from(count),
            });
        }
        class_ids.par_chunks_mut(CHUNK).for_each(|ids| {
            for id in ids {
                *id = slots.get(*id);
            }
        });
        classes
    }
}

/// A number for every class id; 0 where nothing else was set.
#[derive(Default)]
struct IdTable {
    low: Vec<u32>,
    high: BTreeMap<u32, u32>,
}

impl IdTable {
    #[inline]
    fn at(&mut self, id: u32) -> &mut u32 {
        let place = id as usize;
        if place >= TABLE {
            return self.high.entry(id).or_default();
        }
        if place >= self.low.len() {
            self.low.resize(place + 1, 0);
        }
        &mut self.low[place]
    }

    #[inline]
    fn get(&self, id: u32) -> u32 {
        let value = self.low.get(id as usize).or_else(|| self.high.get(&id));
        value.copied().unwrap_or_default()
    }

    /// What is not 0, by ascending id.
    fn entries(&self) -> impl Iterator<Item = (u32, u32)> {
        let low = (0..).zip(self.low.iter().copied());
        let high = self.high.iter().map(|(&id, &value)| (id, value));
        low.chain(high).filter(|&(_, value)| value != 0)
    }

    fn sum(self, other: Self) -> Self {
        let (mut more, less) = match self.low.len() >= other.low.len() {
            true => (self, other),
            false => (other, self),
        };
        for (id, count) in less.entries() {
            *more.at(id) += count;
        }
        more
    }
}
