//! The listed copies: the largest groups, each with its contents and its holders.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use super::Context;
use super::copies::{Copies, CopyGroup};
use super::holders::named_holders;
use super::sums::Sum;
use crate::columns;
use crate::error::Result;
use crate::heap::PathGroup;
use crate::questions::answer::{WasteGroup, WasteKind, WasteKindName};
use crate::questions::memory::Reader;
use crate::questions::question::Page;
use crate::questions::roles::Role;
use crate::questions::values::SHOWN;
use crate::units::ObjectIndex;

/// The number of bytes of a buffer that are shown.
const BYTES: u32 = 8;

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
        let mut reader = Reader::new(self.heap, self.control);
        let mut shown = Vec::new();
        for group in page.of(groups) {
            shown.push(WasteGroup {
                what: self.contents(&mut reader, group.original)?,
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

    pub(super) fn holders_of(&self, objects: &[ObjectIndex]) -> Vec<(PathGroup, Sum)> {
        let mut holders: HashMap<PathGroup, Sum> = HashMap::new();
        let group = |&object: &ObjectIndex| self.tree.group(object);
        // Neighbours often have the same holder.
        for objects in objects.chunk_by(|one, next| group(one) == group(next)) {
            let sum = holders.entry(group(&objects[0])).or_default();
            for &object in objects {
                sum.add(Sum {
                    savings: self.heap.heap.shallow_size(object),
                    count: 1,
                });
            }
        }
        holders.into_iter().collect()
    }

    /// The contents of an object: the literal of a string, otherwise the class and the first elements.
    fn contents(&self, reader: &mut Reader<'_>, object: ObjectIndex) -> Result<String> {
        let class_name = self.heap.class_name(object);
        let payload = reader.payload(self.heap.heap.address(object).0)?;
        Ok(match self.role(object) {
            Role::Text => {
                let text = reader.string(object)?;
                match payload.size as usize / 2 > SHOWN {
                    true => format!("{text} (length {})", payload.size / 2),
                    false => text,
                }
            }
            Role::Buffer => {
                let mut text = format!("{class_name}, {} bytes:", payload.size);
                for byte in reader.part(payload, 0, BYTES)? {
                    // Writing to a string cannot fail.
                    _ = write!(text, " {byte:02x}");
                }
                if payload.size > BYTES {
                    text.push_str(" …");
                }
                text
            }
            _ => {
                let preview = reader.preview(object)?;
                format!("{class_name}, {}", preview.unwrap_or_default())
            }
        })
    }
}
