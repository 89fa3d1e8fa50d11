//! Suspects of growth: path groups that retain more than in an earlier heap. Groups with the same text
//! are compared, so addresses and builds do not matter; where objects keep their numbers, the same objects as well.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::answer::{AccumulatedClass, Accumulation, Suspect, SuspectKind, Suspects, Together};
use super::earlier::{EarlierGroups, MOST_TEXT};
use super::group_sizes::{EngineBytes, GroupSize, group_sizes};
use super::parts::{finish_suspects, owner_of, share_of_live};
use crate::loaded_heap::LoadedHeap;
use crate::parts::cut::path_and_cut;
use crate::parts::host::is_root_part;
use crate::parts::path_text::group_text;
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use heap::{GroupStart, PathGroup, PathGroups};

/// The least growth of a suspect, as a part of the live bytes of the earlier heap.
const THRESHOLD: f64 = 0.02;

/// Growth below the live bytes divided by this counts as noise of the runtime.
const LEAST_PART: u64 = 100;

/// The same in bytes, if the earlier heap has no live bytes.
const LEAST: u64 = 1024;

/// The least growth of a group, in percent of the group that it continues, at which the search continues
/// there.
const DESCENT: u64 = 70;

/// The least growth below a suspect, in percent of its own, with which it only passes its growth on.
const PASSED_ON: u64 = 90;

/// The largest number of groups in the accumulation of a suspect.
const ACCUMULATED: usize = 10;

/// By group that has grown: the groups that continue it.
type Continuations = HashMap<u32, Vec<u32>>;

/// A group in both heaps.
#[derive(Clone, Copy, Debug)]
struct GroupGrowth {
    group: u32,
    before: u64,
    before_of_program: u64,
    count_before: u64,
    after: GroupSize,
}

impl GroupGrowth {
    fn bytes(self) -> u64 {
        self.after.of_program.saturating_sub(self.before_of_program)
    }
}

pub(crate) fn grown_suspects(
    loaded: &LoadedHeap,
    threshold: Option<f64>,
    before: &LoadedHeap,
    control: &Control,
) -> Result<Suspects> {
    let part = before.heap.total_live_size() as f64 * threshold.unwrap_or(THRESHOLD);
    let least = match before.heap.total_live_size() {
        0 => LEAST,
        _ => (part.ceil() as u64).max(1),
    };
    let earlier = EarlierGroups::of(before, loaded, control)?;
    let sizes = group_sizes(loaded, control)?;
    let found = suspects_above(loaded, least, &earlier, &sizes, control)?;
    if !found.suspects.is_empty() || threshold.is_some() {
        return Ok(found);
    }
    match smaller_threshold(loaded, before, control)? {
        Some(smaller) if smaller < least => {
            suspects_above(loaded, smaller, &earlier, &sizes, control)
        }
        _ => Ok(found),
    }
}

/// Where nothing has grown by a part of the heap that matters, and the heap of the program has: a quarter of its growth.
/// In a heap of V8 that has only just started, most is of the engine, and a leak of the program is a small part.
fn smaller_threshold(
    loaded: &LoadedHeap,
    before: &LoadedHeap,
    control: &Control,
) -> Result<Option<u64>> {
    if !loaded.path_tree(control)?.has_storage() {
        return Ok(None);
    }
    let of_program = |heap: &LoadedHeap| {
        let of_engine = EngineBytes::new(heap, control)?.total();
        Ok::<u64, Error>(heap.heap.total_live_size().saturating_sub(of_engine))
    };
    let earlier = of_program(before)?;
    let grown = of_program(loaded)?.saturating_sub(earlier);
    Ok((grown > earlier / LEAST_PART).then_some(grown / 4))
}

/// The suspects that grew by this number of bytes or more.
fn suspects_above(
    loaded: &LoadedHeap,
    threshold: u64,
    earlier: &EarlierGroups,
    sizes: &[GroupSize],
    control: &Control,
) -> Result<Suspects> {
    let groups = loaded.path_tree(control)?.groups();
    let grown = grown_groups(loaded, threshold, earlier, sizes, control)?;
    let (continuations, mut pending) = continuations(loaded, &grown, sizes, control)?;
    let mut ends = Vec::new();
    while let Some(group) = pending.pop() {
        let end = descend(loaded, group, &grown, &continuations, groups, &mut pending);
        ends.push((group, end));
    }
    if loaded.path_tree(control)?.has_storage() {
        ends = without_passing(loaded, &ends, &grown, sizes, control)?;
    }
    let mut suspects = Vec::new();
    for (group, end) in ends {
        let next = continuations.get(&end).map_or(&[][..], Vec::as_slice);
        let accumulated = grown_classes(loaded, next, sizes, earlier, control)?;
        suspects.push(growth_suspect(
            loaded,
            grown[&group],
            sizes[end as usize],
            accumulated,
            control,
        )?);
    }
    finish_suspects(loaded, threshold, suspects)
}

/// Leaves out what only passes its growth on: another suspect below it has most of its growth. Each is a group, and the
/// group where its growth spreads.
fn without_passing(
    loaded: &LoadedHeap,
    ends: &[(u32, u32)],
    grown: &HashMap<u32, GroupGrowth>,
    sizes: &[GroupSize],
    control: &Control,
) -> Result<Vec<(u32, u32)>> {
    let index = loaded.dominator_index(control)?;
    let position = |end: u32| index.position(sizes[end as usize].largest()?);
    let bytes = |group: u32| grown.get(&group).map_or(0, |growth| growth.bytes());
    let passes_to = |&(group, end): &(u32, u32), &(other, other_end): &(u32, u32)| {
        let (Some(outer), Some(inner)) = (position(end), position(other_end)) else {
            return false;
        };
        let is_below = outer < inner && inner < index.end(outer);
        is_below && bytes(other) * 100 >= bytes(group) * PASSED_ON
    };
    let mut kept = Vec::new();
    for one in ends {
        control.count(ends.len() as u64)?;
        if !ends.iter().any(|other| passes_to(one, other)) {
            kept.push(*one);
        }
    }
    Ok(kept)
}

/// The groups that have grown by the threshold.
fn grown_groups(
    loaded: &LoadedHeap,
    threshold: u64,
    earlier: &EarlierGroups,
    sizes: &[GroupSize],
    control: &Control,
) -> Result<HashMap<u32, GroupGrowth>> {
    // A group that retains less than the threshold has not grown by it.
    let mut grown: HashMap<u32, GroupGrowth> = HashMap::new();
    let mut bytes = 0;
    for (group, &after) in (0u32..).zip(sizes) {
        if (group as usize).is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        if after.retained < threshold || group == PathGroup::REST.0 || bytes > MOST_TEXT {
            continue;
        }
        let is_root_part = |object| is_root_part(loaded, object);
        if after.largest().is_some_and(is_root_part) {
            continue;
        }
        control.check()?;
        let text = group_text(loaded, PathGroup(group), control)?.text;
        bytes += text.len();
        let before = earlier.size(group, &text);
        let growth = GroupGrowth {
            group,
            before: before.retained,
            before_of_program: before.of_program,
            count_before: before.count,
            after,
        };
        if growth.bytes() >= threshold {
            grown.insert(group, growth);
        }
    }
    Ok(grown)
}

/// By group that has grown, the groups that continue it; and the groups with which the search begins: those that
/// have grown and continue no other one that has.
fn continuations(
    loaded: &LoadedHeap,
    grown: &HashMap<u32, GroupGrowth>,
    sizes: &[GroupSize],
    control: &Control,
) -> Result<(Continuations, Vec<u32>)> {
    let groups = loaded.path_tree(control)?.groups();
    let count = sizes.len();
    let before_group = |group: u32| match groups.info(PathGroup(group)).start {
        GroupStart::Step(before, _) => Some(before.0),
        GroupStart::Root(_) | GroupStart::Rest => None,
    };
    let mut continuations = Continuations::new();
    for group in 0..count as u32 {
        if (group as usize).is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        if let Some(before) = before_group(group)
            && grown.contains_key(&before)
        {
            continuations.entry(before).or_default().push(group);
        }
    }
    let mut pending: Vec<u32> = Vec::new();
    // Groups that continue a suspect belong to it. A group has a greater number than the group that it
    // continues.
    let mut is_at_or_below = columns::repeated(false, count)?;
    for group in 0..count as u32 {
        if (group as usize).is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let before = before_group(group);
        let has_grown = grown.contains_key(&group);
        let mut is_below = before.is_some_and(|before| is_at_or_below[before as usize]);
        // What has grown in an object that has not grown may be another suspect: then no object of a group that has
        // grown dominates it.
        if has_grown && is_below && !before.is_some_and(|before| grown.contains_key(&before)) {
            let largest = sizes[group as usize].largest();
            is_below = match largest {
                Some(object) => is_dominated_by(loaded, object, grown, control)?,
                None => is_below,
            };
        }
        is_at_or_below[group as usize] = is_below || has_grown;
        if has_grown && !is_below {
            pending.push(group);
        }
    }
    Ok((continuations, pending))
}

/// Follows the largest growth from a group to the one where it spreads. Other growth on the way is pending.
fn descend(
    loaded: &LoadedHeap,
    group: u32,
    grown: &HashMap<u32, GroupGrowth>,
    continuations: &Continuations,
    groups: &PathGroups,
    pending: &mut Vec<u32>,
) -> u32 {
    let mut end = group;
    loop {
        let next: Vec<GroupGrowth> = continuations
            .get(&end)
            .into_iter()
            .flatten()
            .filter_map(|group| grown.get(group).copied())
            .collect();
        // Where objects are new, the growth ends. Few objects may refer to many that were there before: a map to the
        // arrays that it has as values.
        // The parts of new objects are where these are.
        let is_new = |growth: &GroupGrowth| growth.after.count > growth.count_before;
        let keeps_numbers = loaded.source.facts().keeps_numbers;
        let is_part = |next: &GroupGrowth| keeps_numbers && is_new(&grown[&end]) && is_new(next);
        let is_place = |next: &GroupGrowth| {
            !is_storage_group(loaded, next.group, groups)
                && !is_part(next)
                && (next.after.count <= grown[&end].after.count
                    || next.after.count <= next.count_before)
        };
        let largest = next
            .iter()
            .max_by_key(|next| (next.bytes(), Reverse(next.group)));
        let step = largest
            .filter(|next| is_place(next) && next.bytes() * 100 >= grown[&end].bytes() * DESCENT);
        // Another continuation that has grown is a separate suspect, unless it is a part of the
        // accumulation: a container's own contents, or many objects to which few refer.
        let own = next
            .iter()
            .filter(|next| step.is_none_or(|step| step.group != next.group) && is_place(next));
        pending.extend(own.map(|next| next.group));
        match step {
            Some(step) => end = step.group,
            None => return end,
        }
    }
}

/// Whether an object of a group that has grown dominates this one.
fn is_dominated_by(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    grown: &HashMap<u32, GroupGrowth>,
    control: &Control,
) -> Result<bool> {
    let tree = loaded.path_tree(control)?;
    let index = loaded.dominator_index(control)?;
    let position = index.position(object);
    let dominators = std::iter::successors(position, |&position| index.dominator(position));
    for position in dominators.skip(1) {
        control.count(1)?;
        if grown.contains_key(&tree.group(index.object(position)).0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a group is that of a container's own contents.
fn is_storage_group(loaded: &LoadedHeap, group: u32, groups: &PathGroups) -> bool {
    match groups.info(PathGroup(group)).start {
        GroupStart::Step(before, label) => {
            let holder = groups.info(before).class_slot;
            loaded.source.is_own_storage(holder, label)
        }
        GroupStart::Root(_) | GroupStart::Rest => false,
    }
}

/// The growth of the groups that continue another one, by class.
fn grown_classes(
    loaded: &LoadedHeap,
    groups: &[u32],
    sizes: &[GroupSize],
    earlier: &EarlierGroups,
    control: &Control,
) -> Result<Vec<AccumulatedClass>> {
    let mut largest = groups.to_vec();
    largest.sort_unstable_by_key(|&group| (Reverse(sizes[group as usize].retained), group));
    largest.truncate(ACCUMULATED * 10);
    let mut classes = Vec::new();
    for group in largest {
        let text = group_text(loaded, PathGroup(group), control)?.text;
        let before = earlier.size(group, &text);
        let after = sizes[group as usize];
        let info = loaded.path_tree(control)?.groups().info(PathGroup(group));
        if after.retained > before.retained {
            classes.push(AccumulatedClass {
                class_name: loaded.slot_name(info.class_slot).to_owned(),
                count: after.count.saturating_sub(before.count),
                retained_size: after.retained - before.retained,
                // Heaps that were joined are not compared.
                retained_parts: None,
            });
        }
    }
    classes.sort_by(|left, right| {
        let key = |class: &AccumulatedClass| Reverse((class.retained_size, class.count));
        key(left)
            .cmp(&key(right))
            .then_with(|| left.class_name.cmp(&right.class_name))
    });
    classes.truncate(ACCUMULATED);
    Ok(classes)
}

fn growth_suspect(
    loaded: &LoadedHeap,
    growth: GroupGrowth,
    end: GroupSize,
    children: Vec<AccumulatedClass>,
    control: &Control,
) -> Result<Suspect> {
    let info = loaded
        .path_tree(control)?
        .groups()
        .info(PathGroup(growth.group));
    let only = growth.after.largest().filter(|_| growth.after.count == 1);
    let together = (end.count > 1).then_some(Together {
        count: end.count,
        retained_size: end.retained,
    });
    let wanted = growth.after.retained.max(end.retained);
    let (path, cut) = match end.largest() {
        Some(object) => path_and_cut(loaded, object, wanted, control)?,
        None => (None, None),
    };
    // What frees one of several objects does not end the growth.
    let cut = cut.filter(|cut| together.is_none_or(|all| cut.freed >= all.retained_size));
    let accumulation = match end.largest() {
        Some(object) => Some(Accumulation {
            address: loaded.heap.address(object).0,
            address_text: loaded.shown(object).to_string(),
            class_name: loaded.place_name(object).to_owned(),
            owner: owner_of(loaded, object, control)?,
            together,
            children,
        }),
        None => None,
    };
    Ok(Suspect {
        kind: SuspectKind::Growth,
        class_name: loaded.slot_name(info.class_slot).to_owned(),
        address: only.map(|object| loaded.heap.address(object).0),
        address_text: only.map(|object| loaded.shown(object).to_string()),
        count: growth.after.count,
        retained_size: growth.after.retained,
        retained_parts: None,
        retained_size_before: Some(growth.before),
        share: share_of_live(loaded, growth.after.retained),
        accumulation,
        path,
        cut,
        text: String::new(),
    })
}
