//! The groups of paths of a set of objects, as a tree.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::answer::{Branch, More};
use crate::loaded_heap::LoadedHeap;
use crate::parts::labels::after_class;
use crate::parts::path_text::{LEFT_OUT, group_text};
use crate::parts::roots::origin_root;
use base::columns;
use base::control::Control;
use base::error::Result;
use heap::{GroupStart, PathGroup};

/// The largest depth of the shown tree. Deeper objects count for the branch where they are left out.
const DEEPEST: usize = 100;

/// Objects and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectSum {
    pub(super) size: u64,
    pub(super) count: u64,
}

impl ObjectSum {
    pub(super) fn add(&mut self, other: Self) {
        self.size += other.size;
        self.count += other.count;
    }
}

/// The groups of a set, and the shown ones among them.
pub(super) struct GroupTree<'h> {
    heap: &'h LoadedHeap,
    control: &'h Control,
    /// By group: the objects of the set in it and below it.
    sums: Vec<ObjectSum>,
    /// By shown group: the groups that continue it and have objects of the set.
    children: HashMap<u32, Vec<u32>>,
    /// The groups that begin at a root, and the group of all other paths.
    firsts: Vec<u32>,
    is_shown: Vec<bool>,
}

impl<'h> GroupTree<'h> {
    pub(super) fn new(
        heap: &'h LoadedHeap,
        own: Vec<ObjectSum>,
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

    pub(super) fn branches(mut self) -> Result<(Vec<Branch>, Option<More>)> {
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
            label_text: label.as_deref().map(after_class),
            label,
            root,
            class_name: match info.start {
                GroupStart::Rest => LEFT_OUT.to_owned(),
                _ => self.heap.slot_name(info.class_slot).to_owned(),
            },
            folded: info.is_folded,
            count: sum.count,
            shallow_size: sum.size,
            fingerprint: text.fingerprint(),
            children,
            more,
        })
    }
}
