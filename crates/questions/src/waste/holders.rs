//! The holders of waste: the field of the last step of the paths that lead there.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::answer::WasteHolder;
use super::context::Context;
use super::sum::WasteSum;
use crate::loaded_heap::LoadedHeap;
use crate::parts::labels::after_class;
use crate::parts::page::Page;
use crate::parts::path_text::LEFT_OUT;
use crate::parts::roots::{origin_root, root_kind_name};
use heap::{EdgeLabel, GroupStart, LabelKind, PathGroup, RootOrigin};

/// The largest number of nested containers that are named.
const DEEPEST: usize = 8;

/// The name of the entry for all entries that a list leaves out.
pub(super) fn more(count: usize) -> String {
    format!("({count} more)")
}

/// The parts of the name of a holder.
#[derive(PartialEq, Eq, Hash)]
struct Holder {
    start: Start,
    /// Classes and their labels, the outermost last.
    steps: Vec<(u32, EdgeLabel)>,
}

/// The part before the steps.
#[derive(PartialEq, Eq, Hash)]
enum Start {
    /// Nothing: the outermost step is a field.
    Field,
    /// A root.
    Root(RootOrigin),
    /// A class that holds containers within containers.
    Class(u32),
    /// All other paths.
    Many,
}

/// The holders of these groups of paths, the largest first. The last entry sums up what is left out.
pub(super) fn named_holders(
    context: &Context<'_>,
    groups: Vec<(PathGroup, WasteSum)>,
    page: Page,
) -> Vec<WasteHolder> {
    // Many groups have the same holder, and names can be long.
    let mut by_holder: HashMap<Holder, WasteSum> = HashMap::new();
    for (group, sum) in groups {
        by_holder
            .entry(Holder::of(context, group))
            .or_default()
            .add(sum);
    }
    let mut by_name: BTreeMap<String, WasteSum> = BTreeMap::new();
    for (holder, sum) in by_holder {
        by_name
            .entry(holder.name(context.heap))
            .or_default()
            .add(sum);
    }
    let mut holders: Vec<_> = by_name.into_iter().collect();
    // The sort is stable: equal ones remain in the order of their names.
    holders.sort_by_key(|&(_, sum)| Reverse(sum));
    let most = page.limit.min(holders.len() as u64) as usize;
    let rest = holders.split_off(most);
    let mut left_out = WasteSum::default();
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

impl Holder {
    /// The holder of the objects of a group of paths.
    fn of(context: &Context<'_>, mut group: PathGroup) -> Self {
        let heap = context.heap;
        let groups = context.tree.groups();
        let mut steps = Vec::new();
        for _ in 0..DEEPEST {
            match groups.info(group).start {
                GroupStart::Rest => {
                    return Self {
                        start: Start::Many,
                        steps: Vec::new(),
                    };
                }
                GroupStart::Root(origin) => {
                    let start = Start::Root(origin);
                    return Self { start, steps };
                }
                GroupStart::Step(before, label) => {
                    let slot = groups.info(before).class_slot;
                    if !heap.source().is_own_storage(slot, label) {
                        steps.push((slot, label));
                        if is_field(label) {
                            let start = Start::Field;
                            return Self { start, steps };
                        }
                    }
                    group = before;
                }
            }
        }
        Self {
            start: Start::Class(groups.info(group).class_slot),
            steps,
        }
    }

    /// `Class.field` of the last step of the paths; for elements and entries, the field that holds their
    /// container (`Class.field[*]`); for objects that no field holds, the root.
    fn name(&self, heap: &LoadedHeap) -> String {
        let mut name = match &self.start {
            Start::Many => LEFT_OUT.to_owned(),
            Start::Class(slot) => heap.slot_name(*slot).to_owned(),
            Start::Field => {
                let slot = self.steps.last().map(|&(slot, _)| slot);
                slot.map_or_else(String::new, |slot| heap.slot_name(slot).to_owned())
            }
            Start::Root(origin) => {
                let root = origin_root(heap, *origin);
                let kind = root_kind_name(root.kind);
                root.name
                    .map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"))
            }
        };
        for &(slot, label) in self.steps.iter().rev() {
            let label = heap.source().class_label(slot, label);
            name.push_str(&after_class(&label));
        }
        name
    }
}

fn is_field(label: EdgeLabel) -> bool {
    match label.kind() {
        LabelKind::Field(_) | LabelKind::Word(_) | LabelKind::FarField | LabelKind::Named(..) => {
            true
        }
        LabelKind::BufferWord
        | LabelKind::TupleElement(_)
        | LabelKind::Element
        | LabelKind::Key
        | LabelKind::Value
        | LabelKind::Member
        | LabelKind::Hidden
        | LabelKind::Folded => false,
    }
}
