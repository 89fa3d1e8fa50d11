//! What the path groups of a heap retained in an earlier one.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::group_sizes::{EngineBytes, GroupSize, group_sizes, is_storage};
use crate::loaded_heap::LoadedHeap;
use crate::parts::path_text::group_text;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use heap::PathGroup;

/// The number of groups of a heap that are compared. The others retain too little to matter.
const COMPARED: usize = 100_000;

/// The largest size of the compared texts of paths, in bytes. Real programs have a thousandth of this.
pub(super) const MOST_TEXT: usize = 1 << 27;

/// The retained size and the number of the objects of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EarlierSize {
    pub(super) retained: u64,
    /// The same without what the engine makes for itself.
    pub(super) of_program: u64,
    pub(super) count: u64,
}

/// The groups of an earlier heap.
pub(super) struct EarlierGroups {
    by_text: HashMap<String, EarlierSize>,
    /// By group of the later heap: its objects that were there before, wherever they were. Empty if objects cannot be
    /// told apart.
    same_objects: Vec<EarlierSize>,
}

impl EarlierGroups {
    pub(super) fn of(before: &LoadedHeap, later: &LoadedHeap, control: &Control) -> Result<Self> {
        let keeps_numbers = |heap: &LoadedHeap| heap.source.facts().keeps_numbers;
        let same_objects = if keeps_numbers(before) && keeps_numbers(later) {
            same_objects(before, later, control)?
        } else {
            Vec::new()
        };
        Ok(Self {
            by_text: sizes_by_text(before, control)?,
            same_objects,
        })
    }

    /// What a group of the later heap had before: the group with the same text, or the same objects if these are more.
    /// A path may be another one, because another reference is the nearest now, and the objects have not grown.
    pub(super) fn size(&self, group: u32, text: &str) -> EarlierSize {
        let by_text = self.by_text.get(text).copied().unwrap_or_default();
        let same = self.same_objects.get(group as usize);
        let same = same.copied().unwrap_or_default();
        EarlierSize {
            retained: by_text.retained.max(same.retained),
            of_program: by_text.of_program.max(same.of_program),
            count: by_text.count.max(same.count),
        }
    }
}

/// By group of the later heap: its objects that the earlier heap has, too. What an object retains counts up to what it
/// retained before, and only if no other object of the group dominates it.
fn same_objects(
    before: &LoadedHeap,
    later: &LoadedHeap,
    control: &Control,
) -> Result<Vec<EarlierSize>> {
    let tree = later.path_tree(control)?;
    let first_slots = later.heap.objects.first_slots();
    let index = later.dominator_index(control)?;
    let earlier = before.dominator_index(control)?;
    let work = (index.len() + earlier.len()) as u64;
    let step = control.begin(Phase::View, work);
    let mut numbers: Vec<(u64, ObjectIndex)> = Vec::new();
    for &object in earlier.objects() {
        columns::push(&mut numbers, (before.heap.address(object).0, object))?;
        if numbers.len().is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
    }
    numbers.sort_unstable();
    let engine = [
        EngineBytes::new(before, control)?,
        EngineBytes::new(later, control)?,
    ];
    let mut sizes = columns::repeated(EarlierSize::default(), tree.groups().len())?;
    let mut ends = columns::repeated(0, tree.groups().len())?;
    for (position, &object) in (0u32..).zip(index.objects()) {
        if (position as usize).is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let group = tree.group(object).0 as usize;
        // As for the later heap: what others share with an owner does not count for it.
        let is_outer = position >= ends[group] && !is_storage(later, tree, &first_slots, object);
        if is_outer {
            ends[group] = index.end(position);
        }
        let number = later.heap.address(object).0;
        let Ok(at) = numbers.binary_search_by_key(&number, |&(number, _)| number) else {
            continue;
        };
        let (_, same) = numbers[at];
        // Another process gives the same numbers to other objects.
        if before.class_name(same) != later.class_name(object) {
            continue;
        }
        sizes[group].count += 1;
        if is_outer {
            let retained = before.heap.retained_size(same);
            sizes[group].retained += retained.min(later.heap.retained_size(object));
            let earlier_range = earlier
                .position(same)
                .map(|position| position..earlier.end(position));
            let of_engine = earlier_range.map_or(0, |range| engine[0].below(range));
            let now = later.heap.retained_size(object);
            let now = now.saturating_sub(engine[1].below(position..index.end(position)));
            sizes[group].of_program += retained.saturating_sub(of_engine).min(now);
        }
    }
    Ok(sizes)
}

/// The texts and the retained sizes of the groups that retain the most.
fn sizes_by_text(loaded: &LoadedHeap, control: &Control) -> Result<HashMap<String, EarlierSize>> {
    let sizes = group_sizes(loaded, control)?;
    let mut largest: Vec<u32> = (0..sizes.len() as u32).collect();
    largest.sort_unstable_by_key(|&group| (Reverse(sizes[group as usize].retained), group));
    largest.truncate(COMPARED);
    let mut by_text: HashMap<String, EarlierSize> = HashMap::new();
    let mut bytes = 0;
    for group in largest {
        control.check()?;
        if bytes > MOST_TEXT {
            break;
        }
        let text = group_text(loaded, PathGroup(group), control)?.text;
        let GroupSize {
            count,
            retained,
            of_program,
            ..
        } = sizes[group as usize];
        bytes += text.len();
        let known = by_text.entry(text).or_default();
        known.retained += retained;
        known.of_program += of_program;
        known.count += count;
    }
    Ok(by_text)
}
