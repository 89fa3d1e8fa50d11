//! Sums of objects by class.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::answer::DominatorGroup;
use crate::loaded_heap::LoadedHeap;
use crate::parts::joined::{retained_parts, shallow_parts};
use base::units::ObjectIndex;
use heap::SizeParts;

/// Sums by class name: retained size ↓, count ↓, name ↑.
pub(crate) fn group_by_class(loaded: &LoadedHeap, objects: &[ObjectIndex]) -> Vec<DominatorGroup> {
    let heap = &loaded.heap;
    let mut sums = vec![DominatorGroup::default(); heap.objects.classes.len()];
    for &object in objects {
        let sum = &mut sums[heap.objects.class_slots[object.at()] as usize];
        sum.count += 1;
        sum.shallow_size += heap.shallow_size(object);
        sum.retained_size += heap.retained_size(object);
        add(&mut sum.shallow_parts, shallow_parts(loaded, object));
        add(&mut sum.retained_parts, retained_parts(loaded, object));
    }
    // Classes may share a name.
    let mut by_name: HashMap<&str, DominatorGroup> = HashMap::new();
    for (class, sum) in heap.objects.classes.iter().zip(sums) {
        if sum.count > 0 {
            let group = by_name.entry(class.name.as_str()).or_default();
            group.count += sum.count;
            group.shallow_size += sum.shallow_size;
            group.retained_size += sum.retained_size;
            add(&mut group.shallow_parts, sum.shallow_parts);
            add(&mut group.retained_parts, sum.retained_parts);
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

fn add(sum: &mut Option<SizeParts>, more: Option<SizeParts>) {
    if let Some(more) = more {
        sum.get_or_insert_default().add(more);
    }
}
