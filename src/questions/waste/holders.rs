//! What holds waste: the field of the last step of the paths that lead there.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Context;
use super::sums::Sum;
use crate::heap::{EdgeLabel, GroupStart, LabelKind, PathGroup};
use crate::questions::LoadedHeap;
use crate::questions::answer::{WasteHolder, root_kind_name};
use crate::questions::labels::{after_class, class_label, is_own_storage};
use crate::questions::path_text::LEFT_OUT;
use crate::questions::question::Page;

/// Containers within containers that are named.
const DEEPEST: usize = 8;

/// An entry for what a list of `shown` entries leaves out.
pub(super) fn more(count: usize) -> String {
    format!("({count} more)")
}

/// The holders of these groups of paths, the largest first. The last entry sums up what is left out.
pub(super) fn named_holders(
    context: &Context<'_>,
    groups: Vec<(PathGroup, Sum)>,
    page: Page,
) -> Vec<WasteHolder> {
    let mut by_name: BTreeMap<String, Sum> = BTreeMap::new();
    for (group, sum) in groups {
        by_name.entry(holder(context, group)).or_default().add(sum);
    }
    let mut holders: Vec<_> = by_name.into_iter().collect();
    // Equal ones stay in the order of their names.
    holders.sort_by_key(|&(_, sum)| Reverse(sum));
    let most = page.limit.min(holders.len() as u64) as usize;
    let rest = holders.split_off(most);
    let mut left_out = Sum::default();
    rest.iter().for_each(|&(_, sum)| left_out.add(sum));
    if !rest.is_empty() {
        holders.push((more(rest.len()), left_out));
    }
    let holders = holders.into_iter().map(|(holder, sum)| WasteHolder {
        holder,
        count: sum.count,
        savings: sum.savings,
    });
    holders.collect()
}

/// `Class.field` of the last step of paths of a group; for elements and entries the field that holds their
/// container (`Class.field[*]`), for what no field holds the root.
fn holder(context: &Context<'_>, group: PathGroup) -> String {
    let heap = context.heap;
    let groups = context.tree.groups();
    let mut inside = String::new();
    let mut group = group;
    for _ in 0..DEEPEST {
        match groups.info(group).start {
            GroupStart::Rest => return LEFT_OUT.to_owned(),
            GroupStart::Root(origin) => {
                let root = heap.origin_root(origin);
                let kind = root_kind_name(root.kind);
                let name = root.name.map(|name| format!(" {name}"));
                return format!("{kind}{}{inside}", name.unwrap_or_default());
            }
            GroupStart::Step(before, label) => {
                let slot = groups.info(before).class_slot;
                if !is_storage_of(heap, slot, label) {
                    let shape = &heap.names.shapes[slot as usize];
                    let name = after_class(&class_label(shape, label));
                    inside.insert_str(0, &name);
                    if is_field(label) {
                        return format!("{}{inside}", heap.slot_name(slot));
                    }
                }
                group = before;
            }
        }
    }
    format!("{}{inside}", heap.slot_name(groups.info(group).class_slot))
}

fn is_storage_of(heap: &LoadedHeap, slot: u32, label: EdgeLabel) -> bool {
    is_own_storage(&heap.names.shapes[slot as usize], label)
}

fn is_field(label: EdgeLabel) -> bool {
    match label.kind() {
        LabelKind::Place(_) | LabelKind::Word(_) | LabelKind::FarPlace => true,
        LabelKind::BufferWord
        | LabelKind::TupleElement(_)
        | LabelKind::Element
        | LabelKind::Key
        | LabelKind::Value
        | LabelKind::Member => false,
    }
}
