//! The listed copies: the largest groups, each with its contents and its holders.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::answer::{WasteGroup, WasteKind, WasteKindName};
use super::context::Context;
use super::copies::{Copies, CopyGroup};
use super::holders::named_holders;
use super::sum::WasteSum;
use crate::parts::page::Page;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::PathGroup;

impl Context<'_> {
    /// The groups by size, number of copies, and address of the original.
    pub(super) fn shown_copies(
        &self,
        copies: &Copies,
        kind: WasteKindName,
        page: Page,
    ) -> Result<WasteKind> {
        let rank = |group: &CopyGroup| (Reverse((group.savings, group.count())), group.original);
        let mut groups = columns::collected(copies.groups.iter())?;
        let end = page.end().min(groups.len());
        if end < groups.len() {
            groups.select_nth_unstable_by_key(end, |group| rank(group));
            groups.truncate(end);
        }
        groups.sort_unstable_by_key(|group| rank(group));
        let mut reader = self.heap.reader(self.control);
        let mut shown = Vec::new();
        for group in page.of(groups) {
            shown.push(WasteGroup {
                what: reader.shared_contents(group.original)?,
                count: group.count(),
                savings: group.savings,
                holders: named_holders(self, self.holders_of(copies.of(group)), page),
            });
        }
        let of = |number: fn(&CopyGroup) -> u64| copies.groups.iter().map(number).sum();
        Ok(WasteKind {
            kind,
            count: of(CopyGroup::count),
            savings: of(|group| group.savings),
            total: copies.groups.len() as u64,
            groups: shown,
        })
    }

    pub(super) fn holders_of(&self, objects: &[ObjectIndex]) -> Vec<(PathGroup, WasteSum)> {
        let mut holders: HashMap<PathGroup, WasteSum> = HashMap::new();
        let group = |&object: &ObjectIndex| self.tree.group(object);
        // Neighbours often have the same holder.
        for objects in objects.chunk_by(|one, next| group(one) == group(next)) {
            let sum = holders.entry(group(&objects[0])).or_default();
            for &object in objects {
                sum.add(WasteSum {
                    savings: self.heap.heap.shallow_size(object),
                    count: 1,
                });
            }
        }
        holders.into_iter().collect()
    }
}
