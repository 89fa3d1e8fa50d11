//! The place where the bytes of a suspect accumulate.

use std::cmp::Reverse;

use super::answer::AccumulatedClass;
use crate::dominators::group_by_class;
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::DominatorIndex;

/// The least retained size of the largest child, in percent of its parent, at which the search continues
/// there.
const DESCENT: u64 = 70;

/// The largest number of classes in the accumulation of a suspect.
const ACCUMULATED_CLASSES: usize = 10;

/// Descends from a suspect to the object below which the bytes are spread over many objects.
pub(super) fn descend(
    loaded: &LoadedHeap,
    index: &DominatorIndex,
    start: u32,
    threshold: u64,
    step: &Step<'_>,
) -> Result<Descent> {
    let size = |position: u32| loaded.heap.retained_size(index.object(position));
    let slot = |position: u32| loaded.heap.objects.class_slots[index.object(position).at()];
    let first = |position: u32| Head {
        position,
        classes: vec![slot(position)],
        siblings: Vec::new(),
    };
    let all_siblings = |heads: &[Head]| heads.iter().flat_map(|of| of.siblings.clone()).collect();
    let mut heads = vec![first(start)];
    while let Some(last) = heads.last_mut() {
        let head = last.position;
        let region = region_of(loaded, index, head, &last.classes, step)?;
        let children = region.children.iter().copied();
        // A buffer is not a place in the source, but its array is.
        let largest = children
            .filter(|&child| !is_storage_of(loaded, index, head, child))
            .max_by_key(|&child| (size(child), Reverse(child)));
        let next = largest
            .filter(|&child| size(child) >= threshold && size(child) * 100 >= size(head) * DESCENT);
        let Some(next) = next else {
            let is_suspect = |child: &u32| {
                size(*child) >= threshold && !is_storage_of(loaded, index, head, *child)
            };
            let children = region.children.iter().copied();
            let (siblings, rest): (Vec<u32>, Vec<u32>) = children.partition(is_suspect);
            last.siblings = siblings;
            return Ok(Descent {
                end: index.object(head),
                accumulated: accumulated_in(loaded, index, &region, &rest),
                siblings: all_siblings(&heads),
            });
        };
        // If a class occurs again, the objects since its first occurrence are one structure: a recursion
        // of several classes. It has other siblings than these objects.
        let same = heads
            .iter()
            .position(|head| head.classes.contains(&slot(next)));
        match same {
            Some(nth) => {
                let later = heads.split_off(nth + 1);
                let classes: Vec<u32> = later
                    .into_iter()
                    .flat_map(|head| head.classes)
                    .chain([slot(next)])
                    .collect();
                heads[nth].siblings.clear();
                let known = &mut heads[nth].classes;
                let before = known.len();
                known.extend(classes);
                known.sort_unstable();
                known.dedup();
                if known.len() == before {
                    break;
                }
            }
            None => {
                let children = region.children.iter().copied();
                let others = children.filter(|&child| {
                    child != next
                        && size(child) >= threshold
                        && !is_storage_of(loaded, index, head, child)
                });
                let siblings = others.collect();
                if let Some(last) = heads.last_mut() {
                    last.siblings = siblings;
                }
                heads.push(first(next));
            }
        }
    }
    Ok(Descent {
        end: index.object(start),
        accumulated: Vec::new(),
        siblings: all_siblings(&heads),
    })
}

/// The connected objects below an object that are of these classes: a list or a tree.
fn region_of(
    loaded: &LoadedHeap,
    index: &DominatorIndex,
    head: u32,
    classes: &[u32],
    step: &Step<'_>,
) -> Result<DominatedRegion> {
    let slots = &loaded.heap.objects.class_slots;
    let mut region = DominatedRegion {
        members: vec![head],
        children: Vec::new(),
    };
    let end = index.end(head);
    let mut position = head + 1;
    // Objects that are dominated by another object than a member are skipped, so every object here is
    // dominated by a member.
    while position < end {
        let slot = slots[index.object(position).at()];
        let (list, next) = if classes.contains(&slot) {
            (&mut region.members, position + 1)
        } else {
            (&mut region.children, index.end(position))
        };
        columns::push(list, position)?;
        if list.len().is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
        position = next;
    }
    Ok(region)
}

/// Whether a container keeps its own contents in an object that it dominates.
fn is_storage_of(loaded: &LoadedHeap, index: &DominatorIndex, holder: u32, child: u32) -> bool {
    let (holder, child) = (index.object(holder), index.object(child));
    let slot = loaded.heap.objects.class_slots[holder.at()];
    loaded
        .heap
        .edges
        .range(holder)
        .rev()
        .take(loaded.source.facts().storage_references)
        .any(|edge| {
            let label = loaded.heap.edges.label(edge).unwrap_or_default();
            loaded.heap.edges.target(edge) == child && loaded.source.is_own_storage(slot, label)
        })
}

/// The objects that accumulate in a region, by class: its members, if there are many, and the objects
/// that they own.
fn accumulated_in(
    loaded: &LoadedHeap,
    index: &DominatorIndex,
    region: &DominatedRegion,
    children: &[u32],
) -> Vec<AccumulatedClass> {
    let objects = |positions: &[u32]| -> Vec<ObjectIndex> {
        positions
            .iter()
            .map(|&position| index.object(position))
            .collect()
    };
    let mut classes: Vec<AccumulatedClass> = group_by_class(loaded, &objects(children))
        .into_iter()
        .map(|group| AccumulatedClass {
            class_name: group.class_name,
            count: group.count,
            retained_size: group.retained_size,
            retained_parts: group.retained_parts,
        })
        .collect();
    if region.members.len() > 1 {
        let members = group_by_class(loaded, &objects(&region.members));
        // The retained sizes of members overlap.
        classes.extend(members.into_iter().map(|group| AccumulatedClass {
            class_name: group.class_name,
            count: group.count,
            retained_size: group.shallow_size,
            retained_parts: group.shallow_parts,
        }));
    }
    classes.sort_by(|left, right| {
        let key = |class: &AccumulatedClass| Reverse((class.retained_size, class.count));
        key(left)
            .cmp(&key(right))
            .then_with(|| left.class_name.cmp(&right.class_name))
    });
    classes.truncate(ACCUMULATED_CLASSES);
    classes
}

/// A structure on the way from a suspect to the place where its bytes accumulate.
struct Head {
    position: u32,
    /// The classes of the structure.
    classes: Vec<u32>,
    /// What the structure dominates beside the next one, and is a suspect of its own.
    siblings: Vec<u32>,
}

/// The result of a descent: the place where a suspect accumulates.
pub(super) struct Descent {
    pub(super) end: ObjectIndex,
    pub(super) accumulated: Vec<AccumulatedClass>,
    /// Positions of other children on the path that are separate suspects.
    pub(super) siblings: Vec<u32>,
}

/// Connected objects in the dominator tree, and the other objects that they immediately dominate; by
/// position.
struct DominatedRegion {
    members: Vec<u32>,
    children: Vec<u32>,
}
