//! The objects that an object immediately dominates, or the top level of the whole heap: one by one, or by
//! class.

use crate::object_at::object_at;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::LoadedHeap;
use super::answer::{
    AnswerBody, DominatorChild, DominatorGroup, DominatorGroups, Dominators, ObjectName,
};
use super::question::Page;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;

pub(super) fn dominated(
    loaded: &LoadedHeap,
    address: Option<u32>,
    by_class: bool,
    page: Page,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<AnswerBody> {
    let object = match address {
        Some(address) => Some(object_at(loaded, address, notes, control)?),
        None => None,
    };
    let index = loaded.dominator_index(control)?;
    let children = match object.map(|object| index.position(object)) {
        // An object that is not alive dominates nothing.
        Some(None) => Arc::default(),
        Some(parent @ Some(_)) => loaded.children_by_size(parent, control)?,
        None => loaded.children_by_size(None, control)?,
    };
    let address = object.map(|object| loaded.heap.address(object).0);
    Ok(match by_class {
        true => AnswerBody::DominatorGroups(dominated_groups(loaded, address, &children, page)),
        false => AnswerBody::Dominators(dominated_objects(loaded, address, &children, page)),
    })
}

fn dominated_objects(
    loaded: &LoadedHeap,
    address: Option<u32>,
    children: &[ObjectIndex],
    page: Page,
) -> Dominators {
    let heap = &loaded.heap;
    let shown = page.of(children).map(|&object| DominatorChild {
        address: heap.address(object).0,
        class_name: loaded.class_name(object).to_owned(),
        shallow_size: heap.shallow_size(object),
        retained_size: heap.retained_size(object),
    });
    Dominators {
        address,
        total: children.len() as u64,
        offset: page.offset,
        limit: page.limit,
        children: shown.collect(),
    }
}

fn dominated_groups(
    loaded: &LoadedHeap,
    address: Option<u32>,
    children: &[ObjectIndex],
    page: Page,
) -> DominatorGroups {
    let groups = group_by_class(loaded, children);
    DominatorGroups {
        address,
        total: groups.len() as u64,
        offset: page.offset,
        limit: page.limit,
        groups: page.of(groups).collect(),
    }
}

/// Sums by class name: retained size ↓, count ↓, name ↑.
pub(super) fn group_by_class(loaded: &LoadedHeap, objects: &[ObjectIndex]) -> Vec<DominatorGroup> {
    let heap = &loaded.heap;
    let mut sums = vec![DominatorGroup::default(); heap.objects.classes.len()];
    for &object in objects {
        let sum = &mut sums[heap.objects.class_slots[object.at()] as usize];
        sum.count += 1;
        sum.shallow_size += heap.shallow_size(object);
        sum.retained_size += heap.retained_size(object);
    }
    // Classes may share a name.
    let mut by_name: HashMap<&str, DominatorGroup> = HashMap::new();
    for (class, sum) in heap.objects.classes.iter().zip(sums) {
        if sum.count > 0 {
            let group = by_name.entry(class.name.as_str()).or_default();
            group.count += sum.count;
            group.shallow_size += sum.shallow_size;
            group.retained_size += sum.retained_size;
        }
    }
    let named = by_name.into_iter().map(|(name, group)| DominatorGroup {
        class_name: name.to_owned(),
        ..group
    });
    let mut groups: Vec<DominatorGroup> = named.collect();
    groups.sort_unstable_by(|left, right| {
        let key = |group: &DominatorGroup| Reverse((group.retained_size, group.count));
        key(left)
            .cmp(&key(right))
            .then_with(|| left.class_name.cmp(&right.class_name))
    });
    groups
}

pub(super) fn dominator_of(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<ObjectName>> {
    let index = loaded.dominator_index(control)?;
    let dominator = index
        .position(object)
        .and_then(|position| index.dominator(position));
    Ok(dominator.map(|position| loaded.object_name(index.object(position))))
}
