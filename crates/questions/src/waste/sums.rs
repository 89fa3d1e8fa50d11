//! Sums of waste by class, and within a class by holder.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::answer::{WasteGroup, WasteKind, WasteKindName};
use super::context::Context;
use super::holders::named_holders;
use super::sum::WasteSum;
use crate::parts::page::Page;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::PathGroup;

/// Sums by path group, which has objects of one class only.
pub(super) struct GroupSums {
    by_group: Vec<WasteSum>,
    /// For the group of all other paths: by class slot.
    rest: HashMap<u32, WasteSum>,
}

/// The waste of the objects of a class.
#[derive(Default)]
struct ClassSums {
    sum: WasteSum,
    groups: Vec<(PathGroup, WasteSum)>,
}

/// The largest number of sums of all tasks together.
const MOST_SUMS: usize = 1 << 22;

impl GroupSums {
    pub(super) fn new(context: &Context<'_>) -> Result<Self> {
        Ok(Self {
            by_group: columns::repeated(WasteSum::default(), context.tree.groups().len())?,
            rest: HashMap::new(),
        })
    }

    /// Adds the bytes that an object wastes, if there are any.
    #[inline]
    pub(super) fn add(
        &mut self,
        context: &Context<'_>,
        object: ObjectIndex,
        savings: u64,
    ) -> Result<()> {
        if savings == 0 {
            return Ok(());
        }
        let sum = match context.tree.group(object) {
            PathGroup::REST => {
                let slot = context.heap.heap.objects.class_slots[object.at()];
                self.rest.entry(slot).or_default()
            }
            PathGroup(group) => &mut self.by_group[group as usize],
        };
        sum.add(WasteSum { savings, count: 1 });
        Ok(())
    }

    fn merge(&mut self, other: &Self) {
        for (sum, other) in self.by_group.iter_mut().zip(&other.by_group) {
            sum.add(*other);
        }
        for (&slot, &sum) in &other.rest {
            self.rest.entry(slot).or_default().add(sum);
        }
    }

    /// Divides a list among the threads. Each part adds to sums of its own, given the position of its first
    /// entry, and may return something, which is returned in order.
    pub(super) fn in_parallel<T: Sync, R: Send>(
        context: &Context<'_>,
        list: &[T],
        add: impl Fn(usize, &[T], &mut Self) -> Result<R> + Sync,
    ) -> Result<(Self, Vec<R>)> {
        let groups = context.tree.groups().len().max(1);
        let tasks = rayon::current_num_threads().min((MOST_SUMS / groups).max(1));
        let length = list.len().div_ceil(tasks).max(1);
        let parts: Vec<(Self, R)> = list
            .par_chunks(length)
            .enumerate()
            .map(|(nth, part)| {
                let mut sums = Self::new(context)?;
                let result = add(nth * length, part, &mut sums)?;
                Ok((sums, result))
            })
            .collect::<Result<_>>()?;
        let mut all = Self::new(context)?;
        let mut results = Vec::with_capacity(parts.len());
        for (sums, result) in parts {
            all.merge(&sums);
            results.push(result);
        }
        Ok((all, results))
    }

    /// The classes with the most, each with its holders.
    pub(super) fn into_kind(
        self,
        context: &Context<'_>,
        kind: WasteKindName,
        page: Page,
    ) -> WasteKind {
        let groups = context.tree.groups();
        let numbered = (0..)
            .map(PathGroup)
            .zip(self.by_group)
            .filter(|(_, sum)| sum.count > 0);
        let named = numbered.map(|(group, sum)| (groups.info(group).class_slot, group, sum));
        let rest = self
            .rest
            .into_iter()
            .map(|(slot, sum)| (slot, PathGroup::REST, sum));
        let mut classes: BTreeMap<&str, ClassSums> = BTreeMap::new();
        let mut total = WasteSum::default();
        for (slot, group, sum) in named.chain(rest) {
            let class = classes.entry(context.heap.slot_name(slot)).or_default();
            class.sum.add(sum);
            class.groups.push((group, sum));
            total.add(sum);
        }
        let mut classes: Vec<_> = classes.into_iter().collect();
        classes.sort_by_key(|(name, class)| (Reverse(class.sum), *name));
        let total_groups = classes.len() as u64;
        let shown = page.of(classes).map(|(name, class)| WasteGroup {
            what: name.to_owned(),
            count: class.sum.count,
            savings: class.sum.savings,
            holders: named_holders(context, class.groups, page),
        });
        WasteKind {
            kind,
            count: total.count,
            savings: total.savings,
            total: total_groups,
            groups: shown.collect(),
        }
    }
}
