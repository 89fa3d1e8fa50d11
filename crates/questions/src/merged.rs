//! The paths of many objects, merged: they show which places of the program hold a class or new objects.

use crate::object_at::object_at;
use crate::path_text::group_text;
use crate::roots::origin_root;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::LoadedHeap;
use super::answer::{Branch, HeldBy, MergedPaths, More};
use super::path_text::LEFT_OUT;
use base::columns;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{GroupStart, HUGE, PathGroup, RootKind, reached_from};

/// The number of objects between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 14;

/// The largest depth of the shown tree. Deeper objects count for the branch where they are left out.
const DEEPEST: usize = 100;

/// Objects and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    size: u64,
    count: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.size += other.size;
        self.count += other.count;
    }
}

/// These objects, which must be alive.
pub(super) fn set_of_addresses(
    loaded: &LoadedHeap,
    addresses: &[u32],
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    let index = loaded.dominator_index(control)?;
    let mut set = Vec::new();
    for &address in addresses {
        let object = object_at(loaded, address, notes, control)?;
        if index.position(object).is_none() {
            return Err(Error::InvalidOption {
                name: "objects",
                found: format!("{}, which no root reaches", loaded.heap.address(object)),
                expected: "addresses of live objects",
            });
        }
        columns::push(&mut set, object)?;
    }
    Ok(set)
}

/// The live heap objects of the classes whose names match.
pub(super) fn set_of_class(
    loaded: &LoadedHeap,
    pattern: &str,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    let is_wanted = loaded.class_slots(Some(pattern), control)?;
    live_set(loaded, control, |_, slot| is_wanted[slot])
}

/// The live heap objects that are not in an earlier heap of the same module, of all classes or of those
/// whose names match: the earlier heap has no live object of this class at this address.
pub(super) fn set_of_new(
    loaded: &LoadedHeap,
    before: &LoadedHeap,
    class: Option<&str>,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    if !loaded.is_same_module(before) {
        return Err(Error::InvalidOption {
            name: "newSince",
            found: "a heap of another module".to_owned(),
            expected: "a heap of the same module: addresses in different modules cannot be compared",
        });
    }
    let earlier = &before.heap;
    let is_wanted = loaded.class_slots(class, control)?;
    live_set(loaded, control, |object, slot| {
        if !is_wanted[slot] {
            return false;
        }
        let found = earlier.objects.at(loaded.heap.address(object));
        let name = &loaded.heap.objects.classes[slot].name;
        !found
            .is_some_and(|found| earlier.is_live_on_heap(found) && before.class_name(found) == name)
    })
}

fn live_set(
    loaded: &LoadedHeap,
    control: &Control,
    is_wanted: impl Fn(ObjectIndex, usize) -> bool,
) -> Result<Vec<ObjectIndex>> {
    let heap = &loaded.heap;
    let step = control.begin(Phase::View, heap.objects.len() as u64);
    let mut set = Vec::new();
    for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
        if object.at().is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let slot = heap.objects.class_slots[object.at()] as usize;
        if heap.is_live_on_heap(object) && is_wanted(object, slot) {
            columns::push(&mut set, object)?;
        }
    }
    Ok(set)
}

/// The paths of a set of live objects as one tree, with the `limit` largest groups.
pub(super) fn merged_paths(
    loaded: &LoadedHeap,
    mut set: Vec<ObjectIndex>,
    limit: usize,
    control: &Control,
) -> Result<MergedPaths> {
    set.sort_unstable();
    set.dedup();
    let heap = &loaded.heap;
    let tree = loaded.path_tree(control)?;
    let groups = tree.groups();
    let mut own = columns::repeated(Sum::default(), groups.len())?;
    let mut total = Sum::default();
    let mut held_by = HeldBy {
        system: heap.has_root_kind(RootKind::System).then_some(0),
        ..HeldBy::default()
    };
    let mut has_class = columns::repeated(false, heap.objects.classes.len())?;
    for (nth, &object) in set.iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        let sum = Sum {
            size: heap.shallow_size(object),
            count: 1,
        };
        own[tree.group(object).0 as usize].add(sum);
        total.add(sum);
        *match tree.root_kind(object) {
            Some(RootKind::Stack) => &mut held_by.stack,
            Some(RootKind::Pinned) => &mut held_by.pinned,
            Some(RootKind::System) => held_by.system.get_or_insert(0),
            Some(RootKind::Global) | None => &mut held_by.global,
        } += sum.size;
        has_class[heap.objects.class_slots[object.at()] as usize] = true;
    }
    let slots = (0..has_class.len()).filter(|&slot| has_class[slot]);
    let classes: BTreeSet<&str> = slots.map(|slot| loaded.slot_name(slot as u32)).collect();
    let (branches, more) = GroupTree::new(loaded, own, limit, control)?.branches()?;
    Ok(MergedPaths {
        classes: classes.into_iter().map(str::to_owned).collect(),
        count: total.count,
        shallow_size: total.size,
        retained_set_size: retained_set_size(loaded, &set, control)?,
        freed_by_removing_all: freed_by_removing(loaded, &set, control)?,
        held_by,
        tree: branches,
        more,
    })
}

/// The sum of the retained sizes of those live objects that no other of them dominates.
fn retained_set_size(loaded: &LoadedHeap, set: &[ObjectIndex], control: &Control) -> Result<u64> {
    let index = loaded.dominator_index(control)?;
    let mut positions = columns::with_capacity(set.len())?;
    positions.extend(set.iter().filter_map(|&object| index.position(object)));
    positions.sort_unstable();
    let mut sum = 0;
    let mut end = 0;
    for (nth, position) in positions.into_iter().enumerate() {
        if nth.is_multiple_of(CHECK_INTERVAL) {
            control.count(CHECK_INTERVAL as u64)?;
        }
        if position >= end {
            sum += loaded.heap.retained_size(index.object(position));
            end = index.end(position);
        }
    }
    Ok(sum)
}

/// The bytes that are not reachable without these objects, these included.
fn freed_by_removing(loaded: &LoadedHeap, set: &[ObjectIndex], control: &Control) -> Result<u64> {
    let heap = &loaded.heap;
    let roots = loaded.heap.roots.iter().map(|&(object, _)| object);
    let reached = reached_from(&loaded.heap, roots, set, control)?;
    let rest: u64 = reached
        .iter()
        .zip(heap.objects.shallow_sizes.chunks(64))
        .map(|(bits, sizes)| {
            let sizes = sizes.iter().enumerate();
            let kept = sizes.filter(|&(bit, _)| bits >> bit & 1 != 0);
            kept.map(|(_, &size)| u64::from(size)).sum::<u64>()
        })
        .sum();
    // The column has a smaller number in place of these sizes.
    let huge = heap.objects.huge_sizes.iter();
    let huge = huge.filter(|(object, _)| reached[object.at() / 64] >> (object.at() % 64) & 1 != 0);
    let rest = rest + huge.map(|&(_, size)| size - u64::from(HUGE)).sum::<u64>();
    let removed = set.iter().map(|&object| heap.shallow_size(object));
    // The search counts removed objects as reached.
    Ok(heap.live_size - (rest - removed.sum::<u64>()))
}

/// The groups of a set, and the shown ones among them.
struct GroupTree<'h> {
    heap: &'h LoadedHeap,
    control: &'h Control,
    /// By group: the objects of the set in it and below it.
    sums: Vec<Sum>,
    /// By shown group: the groups that continue it and have objects of the set.
    children: HashMap<u32, Vec<u32>>,
    /// The groups that begin at a root, and the group of all other paths.
    firsts: Vec<u32>,
    is_shown: Vec<bool>,
}

impl<'h> GroupTree<'h> {
    fn new(
        heap: &'h LoadedHeap,
        own: Vec<Sum>,
        limit: usize,
        control: &'h Control,
    ) -> Result<Self> {
        let groups = heap.path_tree(control)?.groups();
        let before = |group: u32| match groups.info(PathGroup(group)).start {
            GroupStart::Step(before, _) => Some(before.0),
            GroupStart::Root(_) | GroupStart::Rest => None,
        };
        let filled = (0..own.len() as u32).filter(|&group| own[group as usize].count > 0);
        let mut largest: Vec<u32> = filled.collect();
        largest.sort_unstable_by_key(|&group| (Reverse(own[group as usize]), group));
        largest.truncate(limit);
        let mut is_shown = columns::repeated(false, own.len())?;
        for mut group in largest {
            while !std::mem::replace(&mut is_shown[group as usize], true) {
                match before(group) {
                    Some(before) => group = before,
                    None => break,
                }
            }
        }
        let mut sums = own;
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut firsts = Vec::new();
        // A group has a greater number than the one that it continues.
        for group in (0..sums.len() as u32).rev() {
            let sum = sums[group as usize];
            if sum.count == 0 {
                continue;
            }
            match before(group) {
                Some(before) => {
                    sums[before as usize].add(sum);
                    if is_shown[before as usize] {
                        children.entry(before).or_default().push(group);
                    }
                }
                None => firsts.push(group),
            }
        }
        Ok(Self {
            heap,
            control,
            sums,
            children,
            firsts,
            is_shown,
        })
    }

    fn branches(mut self) -> Result<(Vec<Branch>, Option<More>)> {
        let firsts = std::mem::take(&mut self.firsts);
        self.branches_of(firsts, 0)
    }

    fn branches_of(&self, groups: Vec<u32>, depth: usize) -> Result<(Vec<Branch>, Option<More>)> {
        let mut more = More::default();
        let mut shown = Vec::new();
        for group in groups {
            if self.is_shown[group as usize] && depth < DEEPEST {
                shown.push(self.branch(group, depth)?);
            } else {
                let sum = self.sums[group as usize];
                more.branches += 1;
                more.count += sum.count;
                more.shallow_size += sum.size;
            }
        }
        shown.sort_by(|left: &Branch, right| {
            let key = |branch: &Branch| Reverse((branch.shallow_size, branch.count));
            let name = |branch: &Branch| {
                let root = branch.root.as_ref().and_then(|root| root.name.clone());
                (branch.class_name.clone(), branch.label.clone(), root)
            };
            key(left)
                .cmp(&key(right))
                .then_with(|| name(left).cmp(&name(right)))
        });
        Ok((shown, (more.branches > 0).then_some(more)))
    }

    fn branch(&self, group: u32, depth: usize) -> Result<Branch> {
        let groups = self.heap.path_tree(self.control)?.groups();
        let info = groups.info(PathGroup(group));
        let (label, root) = match info.start {
            GroupStart::Root(origin) => (None, Some(origin_root(self.heap, origin))),
            GroupStart::Step(before, label) => {
                let holder = groups.info(before).class_slot;
                (Some(self.heap.source().class_label(holder, label)), None)
            }
            GroupStart::Rest => (Some(LEFT_OUT.to_owned()), None),
        };
        let sum = self.sums[group as usize];
        let children = self.children.get(&group).cloned().unwrap_or_default();
        let (children, more) = self.branches_of(children, depth + 1)?;
        let text = group_text(self.heap, PathGroup(group), self.control)?;
        Ok(Branch {
            label,
            root,
            class_name: match info.start {
                GroupStart::Rest => LEFT_OUT.to_owned(),
                _ => self.heap.slot_name(info.class_slot).to_owned(),
            },
            count: sum.count,
            shallow_size: sum.size,
            fingerprint: text.fingerprint(),
            children,
            more,
        })
    }
}
