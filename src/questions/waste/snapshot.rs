//! Waste in a snapshot: strings with the same contents. Everything else that `waste` finds in a dump is in its
//! memory, which a snapshot does not have.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Context, SnapshotNames};
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::questions::LoadedHeap;
use crate::questions::answer::{Waste, WasteGroup, WasteKind, WasteKindName};
use crate::questions::question::Page;
use crate::questions::values::literal;
use crate::units::ObjectIndex;
use crate::warning::Warning;

use super::holders::named_holders;

/// The number of strings between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 16;
/// V8 writes at most this many characters of a string, unless it is asked for more.
const CUT: usize = 1024;

impl LoadedHeap {
    /// The strings with the same contents as another one, whose id is smaller.
    pub(super) fn snapshot_waste(
        &self,
        snapshot: &SnapshotNames,
        page: Page,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Waste> {
        let context = Context::new(self, control)?;
        let heap = &self.heap;
        let step = control.begin(Phase::View, heap.objects.len() as u64);
        // Each string with the number of its contents. Most strings of equal contents share a name.
        let mut numbers: HashMap<Cow<'_, [u8]>, u32> = HashMap::new();
        let mut by_name: HashMap<u32, Option<u32>> = HashMap::new();
        let mut strings: Vec<(u32, ObjectIndex)> = Vec::new();
        let mut cut = 0u64;
        for (nth, object) in heap.live_heap_objects().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            if !snapshot.is_string(object) {
                continue;
            }
            let mut number_of = |contents: Cow<'_, [u8]>| {
                let next = numbers.len() as u32;
                match crate::snapshots::length(&contents) < CUT {
                    true => Some(*numbers.entry(contents.into_owned().into()).or_insert(next)),
                    false => None,
                }
            };
            let number = match snapshot.whole_name(object) {
                Some((name, contents)) => *by_name
                    .entry(name)
                    .or_insert_with(|| number_of(contents.into())),
                None => match snapshot.joined(&heap.edges, object) {
                    Some(joined) if joined.is_whole => number_of(joined.contents.into()),
                    Some(_) => None,
                    // V8 flattened it: its contents are in another string. Or it is a slice of one.
                    None => continue,
                },
            };
            match number {
                Some(number) => columns::push(&mut strings, (number, object))?,
                None => cut += 1,
            }
        }
        if cut > 0 {
            notes.push(Warning::StringsCut { count: cut });
        }
        drop(by_name);
        strings.sort_unstable();
        let mut groups: Vec<(u64, Vec<ObjectIndex>)> = Vec::new();
        let mut kind = WasteKind {
            kind: WasteKindName::DuplicateStrings,
            count: 0,
            savings: 0,
            total: 0,
            groups: Vec::new(),
        };
        for group in strings.chunk_by(|left, right| left.0 == right.0) {
            if let [_, copies @ ..] = group
                && !copies.is_empty()
            {
                let objects = group.iter().map(|&(_, object)| object);
                let sizes = objects.clone().skip(1);
                let savings: u64 = sizes.map(|object| heap.shallow_size(object)).sum();
                kind.count += copies.len() as u64;
                kind.savings += savings;
                columns::push(&mut groups, (savings, objects.collect()))?;
            }
        }
        kind.total = groups.len() as u64;
        groups.sort_by_key(|(savings, objects)| (Reverse((*savings, objects.len())), objects[0]));
        for (savings, objects) in page.of(groups) {
            let copies = &objects[1..];
            let units = snapshot.units(&heap.edges, objects[0]);
            kind.groups.push(WasteGroup {
                what: literal(units, true),
                count: copies.len() as u64,
                savings,
                holders: named_holders(&context, context.holders_of(copies), page),
            });
        }
        Ok(Waste {
            total_live_size: heap.live_size,
            total_savings: kind.savings,
            kinds: vec![kind],
            headers: None,
        })
    }
}
