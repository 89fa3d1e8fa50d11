//! Replaces the class ids in object headers, which may be any number, by dense slots: positions in the list
//! of classes that occur.

use rayon::prelude::*;

use crate::runtime::classes::{Classes, RuntimeClass};
use base::control::Control;
use base::error::Result;
use base::units::ClassId;

/// The number of objects of one task.
const CHUNK: usize = 1 << 16;

/// Ids below this are counted in a table, and each has a slot. No real program has higher ones: the collector
/// branches by class id, and engines limit the number of cases of a branch. A damaged heap can have higher
/// ids, even a different one for each object. They all share one slot, under the lowest of them.
const TABLE: usize = 1 << 16;

/// A class with objects, as the program describes it.
#[derive(Debug)]
pub struct DescribedClass {
    /// The runtime id.
    pub id: ClassId,
    /// Its name and layout.
    pub class: RuntimeClass,
    /// The number of its objects, alive or not.
    pub count: u64,
}

/// The number of objects of each class id.
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

    /// All ids that occur, ascending; of those from [`TABLE`] on only the lowest and the highest.
    pub(super) fn iter(&self) -> impl Iterator<Item = ClassId> {
        let ids = self.0.entries().map(|(id, _)| id);
        ids.chain(self.0.high_ids.map(|(_, highest)| highest))
            .map(ClassId)
    }

    /// Replaces the ids of all objects by slots, and returns the class of each slot, by ascending
    /// id.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn into_slots(
        self,
        class_ids: &mut [u32],
        known: &Classes<'_>,
        control: &Control,
    ) -> Result<Vec<DescribedClass>> {
        let mut slots = IdTable::default();
        let mut classes = Vec::new();
        for (id, count) in self.0.entries() {
            // Thousands of classes take a while to describe.
            control.check()?;
            *slots.at(id) = classes.len() as u32;
            let class = match self.0.high_ids {
                Some((lowest, highest)) if id == lowest && lowest < highest => RuntimeClass {
                    name: format!("Class#{lowest} to {highest}"),
                    ..RuntimeClass::unknown(ClassId(id))
                },
                _ => known.describe(ClassId(id)),
            };
            classes.push(DescribedClass {
                id: ClassId(id),
                class,
                count: u64::from(count),
            });
        }
        // The work may have been cancelled during the last description.
        control.check()?;
        class_ids.par_chunks_mut(CHUNK).for_each(|ids| {
            for id in ids {
                *id = slots.get(*id);
            }
        });
        Ok(classes)
    }
}

/// A number for every class id below [`TABLE`], and one for all other ids. The default is 0.
#[derive(Default)]
struct IdTable {
    low: Vec<u32>,
    high: u32,
    /// The lowest and the highest id that `high` stands for.
    high_ids: Option<(u32, u32)>,
}

impl IdTable {
    #[inline]
    fn at(&mut self, id: u32) -> &mut u32 {
        let position = id as usize;
        if position >= TABLE {
            let (lowest, highest) = self.high_ids.unwrap_or((id, id));
            self.high_ids = Some((lowest.min(id), highest.max(id)));
            return &mut self.high;
        }
        if position >= self.low.len() {
            self.low.resize(position + 1, 0);
        }
        &mut self.low[position]
    }

    #[inline]
    fn get(&self, id: u32) -> u32 {
        match id as usize {
            TABLE.. => self.high,
            position => self.low.get(position).copied().unwrap_or_default(),
        }
    }

    /// The entries that are not 0, by ascending id.
    fn entries(&self) -> impl Iterator<Item = (u32, u32)> {
        let low = (0..).zip(self.low.iter().copied());
        let high = self.high_ids.map(|(id, _)| (id, self.high));
        low.chain(high).filter(|&(_, value)| value != 0)
    }

    fn sum(self, other: Self) -> Self {
        let (mut more, less) = if self.low.len() >= other.low.len() {
            (self, other)
        } else {
            (other, self)
        };
        for (id, count) in less.entries() {
            *more.at(id) += count;
        }
        if let Some((_, highest)) = less.high_ids {
            more.at(highest);
        }
        more
    }
}
