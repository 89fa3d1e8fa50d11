//! Cycles by the classes of their objects.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::answer::{CycleClass, CycleGroup, GarbageCycles};
use super::keep_first::keep_first;
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use heap::Cycles;

/// No group, or none that is listed.
const NONE: u32 = u32::MAX;

/// The largest groups of cycles.
pub(super) fn cycle_groups(
    loaded: &LoadedHeap,
    cycles: &Cycles,
    limit: usize,
    control: &Control,
) -> Result<GarbageCycles> {
    let step = control.begin(Phase::View, cycles.objects().len() as u64);
    let names = ClassNames::new(loaded);
    let members = Members::new(cycles, &step)?;
    let mut groups = CycleGroups::default();
    let mut group_of = columns::with_capacity(cycles.cycles().len())?;
    let mut classes = DistinctClasses::new(names.count())?;
    for (nth, cycle) in cycles.cycles().iter().enumerate() {
        let members = members.of(nth);
        let objects = members.iter().map(|&at| cycles.objects()[at as usize]);
        let key = classes.of(
            objects.map(|object| names.rank(loaded, object.at())),
            nth as u32,
        );
        let group = groups.number(key)?;
        let sum = &mut groups.sums[group as usize];
        sum.cycles += 1;
        sum.count += u64::from(cycle.count);
        sum.shallow_size += cycle.shallow_size;
        group_of.push(group);
        step.advance(members.len() as u64)?;
    }

    let mut listed = columns::collected(0..groups.sums.len() as u32)?;
    keep_first(&mut listed, limit, |&left, &right| {
        groups.order(left, right)
    });
    let mut position = columns::repeated(NONE, groups.sums.len())?;
    for (nth, &group) in listed.iter().enumerate() {
        position[group as usize] = nth as u32;
    }
    let mut details = vec![GroupDetails::default(); listed.len()];
    for (nth, &group) in group_of.iter().enumerate() {
        let Some(details) = details.get_mut(position[group as usize] as usize) else {
            continue;
        };
        columns::push(&mut details.cycles, nth as u32)?;
        for &at in members.of(nth) {
            let object = cycles.objects()[at as usize];
            *details
                .classes
                .entry(names.rank(loaded, object.at()))
                .or_default() += 1;
        }
        if nth.is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
    }
    let all = cycles.cycles().iter();
    Ok(GarbageCycles {
        total: cycles.cycles().len() as u64,
        count: members.objects.len() as u64,
        shallow_size: all.map(|cycle| cycle.shallow_size).sum(),
        groups: listed
            .iter()
            .zip(details)
            .map(|(&group, details)| {
                let sum = groups.sums[group as usize];
                let classes = details.classes(&names, limit);
                let firsts = first_objects(cycles, details.cycles, limit);
                let addresses = firsts.iter().map(|&first| loaded.heap.address(first).0);
                let texts = firsts.iter().map(|&first| loaded.shown(first).to_string());
                CycleGroup {
                    cycles: sum.cycles,
                    count: sum.count,
                    shallow_size: sum.shallow_size,
                    classes,
                    addresses: addresses.collect(),
                    address_texts: texts.collect(),
                }
            })
            .collect(),
    })
}

/// The first object of each of the largest of these cycles.
fn first_objects(cycles: &Cycles, mut nths: Vec<u32>, limit: usize) -> Vec<ObjectIndex> {
    keep_first(&mut nths, limit, |&left, &right| {
        let key = |nth: u32| {
            let cycle = &cycles.cycles()[nth as usize];
            (Reverse((cycle.shallow_size, cycle.count)), cycle.first)
        };
        key(left).cmp(&key(right))
    });
    let firsts = nths.iter().map(|&nth| cycles.cycles()[nth as usize].first);
    firsts.collect()
}

/// The names of the classes in order. Classes may share one.
struct ClassNames<'h> {
    names: Vec<&'h str>,
    /// Class slot → position in `names`.
    ranks: Vec<u32>,
}

impl<'h> ClassNames<'h> {
    fn new(heap: &'h LoadedHeap) -> Self {
        let classes = &heap.heap.objects.classes;
        let all = classes.iter().map(|class| class.name.as_str());
        let mut names: Vec<&str> = all.clone().collect();
        names.sort_unstable();
        names.dedup();
        let ranks = all
            .map(|name| names.partition_point(|&other| other < name) as u32)
            .collect();
        Self { names, ranks }
    }

    fn count(&self) -> usize {
        self.names.len()
    }

    fn rank(&self, heap: &LoadedHeap, object: usize) -> u32 {
        self.ranks[heap.heap.objects.class_slots[object] as usize]
    }
}

/// The objects in cycles, cycle by cycle.
struct Members {
    /// Positions among the unreachable objects, ascending within a cycle.
    objects: Vec<u32>,
    /// Cycle → the end of its objects; they begin at the end of the previous cycle.
    ends: Vec<u32>,
}

impl Members {
    fn new(cycles: &Cycles, step: &Step<'_>) -> Result<Self> {
        // At first, the start of each cycle.
        let mut next = columns::with_capacity(cycles.cycles().len())?;
        let mut begin = 0;
        for cycle in cycles.cycles() {
            next.push(begin);
            begin += cycle.count;
        }
        let mut objects = columns::repeated(0u32, begin as usize)?;
        for nth in 0..cycles.objects().len() {
            if let Some(cycle) = cycles.cycle_of_nth(nth) {
                let position = &mut next[cycle as usize];
                objects[*position as usize] = nth as u32;
                *position += 1;
            }
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
        }
        Ok(Self {
            objects,
            ends: next,
        })
    }

    fn of(&self, cycle: usize) -> &[u32] {
        let begin = cycle.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.objects[begin as usize..self.ends[cycle] as usize]
    }
}

/// Collects the classes of one cycle after another.
struct DistinctClasses {
    /// Class → the last cycle that it was found in.
    seen_in: Vec<u32>,
    found: Vec<u32>,
}

impl DistinctClasses {
    fn new(count: usize) -> Result<Self> {
        Ok(Self {
            seen_in: columns::repeated(NONE, count)?,
            found: Vec::new(),
        })
    }

    /// The classes of a cycle, ascending, each once.
    fn of(&mut self, classes: impl Iterator<Item = u32>, cycle: u32) -> &[u32] {
        self.found.clear();
        for class in classes {
            let seen_in = &mut self.seen_in[class as usize];
            if *seen_in != cycle {
                *seen_in = cycle;
                self.found.push(class);
            }
        }
        self.found.sort_unstable();
        &self.found
    }
}

/// The sums of a group of cycles.
#[derive(Clone, Copy, Default)]
struct GroupSum {
    cycles: u64,
    count: u64,
    shallow_size: u64,
    /// The end of this group's classes in the column of all classes.
    classes_end: usize,
    /// The previous group whose classes have the same hash.
    alike: Option<u32>,
}

/// Groups of cycles by their classes. In a damaged heap, every cycle may be a group, so the classes are in
/// one column.
#[derive(Default)]
struct CycleGroups {
    sums: Vec<GroupSum>,
    classes: Vec<u32>,
    by_hash: HashMap<u64, u32>,
}

impl CycleGroups {
    fn classes_of(&self, group: u32) -> &[u32] {
        let begin = match group.checked_sub(1) {
            Some(before) => self.sums[before as usize].classes_end,
            None => 0,
        };
        &self.classes[begin..self.sums[group as usize].classes_end]
    }

    /// The group of these classes.
    fn number(&mut self, classes: &[u32]) -> Result<u32> {
        let mut hasher = DefaultHasher::new();
        classes.hash(&mut hasher);
        let hash = hasher.finish();
        let last = self.by_hash.get(&hash).copied();
        let mut known = last;
        while let Some(group) = known {
            if self.classes_of(group) == classes {
                return Ok(group);
            }
            known = self.sums[group as usize].alike;
        }
        let group = self.sums.len() as u32;
        columns::extend(&mut self.classes, classes)?;
        let sum = GroupSum {
            classes_end: self.classes.len(),
            alike: last,
            ..GroupSum::default()
        };
        columns::push(&mut self.sums, sum)?;
        self.by_hash
            .try_reserve(1)
            .map_err(|_| Error::OutOfMemory {
                bytes: (self.by_hash.len() as u64 * 32).into(),
                purpose: "a table of the analysis",
            })?;
        self.by_hash.insert(hash, group);
        Ok(group)
    }

    /// Shallow size ↓, count ↓, names ↑.
    fn order(&self, left: u32, right: u32) -> Ordering {
        let key = |group: u32| {
            let sum = &self.sums[group as usize];
            Reverse((sum.shallow_size, sum.count))
        };
        key(left)
            .cmp(&key(right))
            .then_with(|| self.classes_of(left).cmp(self.classes_of(right)))
    }
}

/// The listed facts of a group.
#[derive(Clone, Default)]
struct GroupDetails {
    cycles: Vec<u32>,
    /// Class → number of objects.
    classes: HashMap<u32, u64>,
}

impl GroupDetails {
    fn classes(&self, names: &ClassNames<'_>, limit: usize) -> Vec<CycleClass> {
        let mut classes: Vec<(u64, u32)> = self
            .classes
            .iter()
            .map(|(&rank, &count)| (count, rank))
            .collect();
        keep_first(&mut classes, limit, |left, right| {
            right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1))
        });
        let classes = classes.into_iter().map(|(count, rank)| CycleClass {
            class_name: names.names[rank as usize].to_owned(),
            count,
        });
        classes.collect()
    }
}
