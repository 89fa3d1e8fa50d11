//! Suspects of one heap: objects and classes that retain a large part of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::answer::{Accumulation, Suspect, SuspectKind, Suspects};
use super::descent::{Descent, descend};
use super::parts::{finish_suspects, owner_of, share_of_live};
use crate::dominators::{DominatorGroup, group_by_class};
use crate::loaded_heap::LoadedHeap;
use crate::parts::cut::path_and_cut;
use crate::parts::host::is_root_part;
use crate::parts::joined::retained_parts;
use crate::parts::path::path_to;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::DominatorIndex;

/// The least part of the live bytes that a suspect retains.
pub(super) const THRESHOLD: f64 = 0.1;

pub(super) fn largest_suspects(
    loaded: &LoadedHeap,
    threshold: f64,
    limit: usize,
    control: &Control,
) -> Result<Suspects> {
    let live_size = loaded.heap.total_live_size();
    let threshold = ((live_size as f64 * threshold).ceil() as u64).max(1);
    let index = loaded.dominator_index(control)?;
    let step = control.begin(Phase::View, index.len() as u64);
    let size = |position: u32| loaded.heap.retained_size(index.object(position));
    // The largest comes first.
    let mut pending = BinaryHeap::new();
    let mut others = Vec::new();
    for position in owned_by_roots(loaded, index, &step)? {
        if size(position) >= threshold {
            pending.push((size(position), Reverse(position)))
        } else {
            columns::push(&mut others, index.object(position))?
        }
        if others.len().is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
    }
    let mut suspects = Vec::new();
    while let Some((_, Reverse(position))) = pending.pop() {
        if suspects.len() == limit {
            break;
        }
        let descent = descend(loaded, index, position, threshold, &step)?;
        let siblings = descent.siblings.iter();
        pending.extend(siblings.map(|&sibling| (size(sibling), Reverse(sibling))));
        suspects.push(object_suspect(
            loaded,
            index.object(position),
            &descent,
            control,
        )?);
    }
    let groups = group_by_class(loaded, &others);
    let rank = |object: ObjectIndex| (loaded.heap.retained_size(object), Reverse(object));
    let mut largest = vec![None; loaded.heap.objects.classes.len()];
    for &object in &others {
        let known = &mut largest[loaded.heap.objects.class_slots[object.at()] as usize];
        if known.is_none_or(|known| rank(known) < rank(object)) {
            *known = Some(object);
        }
    }
    for group in groups
        .iter()
        .filter(|group| group.retained_size >= threshold)
    {
        let largest = largest.iter().copied().flatten();
        let members = largest.filter(|&object| loaded.class_name(object) == group.class_name);
        let largest = members.max_by_key(|&object| rank(object));
        suspects.push(class_suspect(loaded, group, largest, control)?);
    }
    finish_suspects(loaded, threshold, suspects)
}

/// The objects of the program that no other one dominates, by position: what the roots and their parts dominate.
fn owned_by_roots(
    loaded: &LoadedHeap,
    index: &DominatorIndex,
    step: &Step<'_>,
) -> Result<Vec<u32>> {
    let mut owned = Vec::new();
    let mut parts = Vec::new();
    let mut next = None;
    loop {
        for position in index.children(next) {
            let list = if is_root_part(loaded, index.object(position)) {
                &mut parts
            } else {
                &mut owned
            };
            columns::push(list, position)?;
            if list.len().is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
        }
        next = parts.pop();
        if next.is_none() {
            return Ok(owned);
        }
    }
}

fn object_suspect(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    descent: &Descent,
    control: &Control,
) -> Result<Suspect> {
    let retained_size = loaded.heap.retained_size(object);
    let (path, cut) = path_and_cut(loaded, descent.end, retained_size, control)?;
    Ok(Suspect {
        kind: SuspectKind::Object,
        class_name: loaded.place_name(object).to_owned(),
        address: Some(loaded.heap.address(object).0),
        address_text: Some(loaded.shown(object).to_string()),
        count: 1,
        retained_size,
        retained_parts: retained_parts(loaded, object),
        retained_size_before: None,
        share: share_of_live(loaded, retained_size),
        accumulation: Some(Accumulation {
            address: loaded.heap.address(descent.end).0,
            address_text: loaded.shown(descent.end).to_string(),
            class_name: loaded.place_name(descent.end).to_owned(),
            owner: owner_of(loaded, descent.end, control)?,
            together: None,
            children: descent.accumulated.clone(),
        }),
        path,
        cut,
        text: String::new(),
    })
}

fn class_suspect(
    loaded: &LoadedHeap,
    group: &DominatorGroup,
    largest: Option<ObjectIndex>,
    control: &Control,
) -> Result<Suspect> {
    let path = match largest {
        Some(largest) => path_to(loaded, &mut loaded.reader(control), largest, control)?,
        None => None,
    };
    Ok(Suspect {
        kind: SuspectKind::Class,
        class_name: group.class_name.clone(),
        address: None,
        address_text: None,
        count: group.count,
        retained_size: group.retained_size,
        retained_parts: group.retained_parts,
        retained_size_before: None,
        share: share_of_live(loaded, group.retained_size),
        accumulation: None,
        path,
        cut: None,
        text: String::new(),
    })
}
