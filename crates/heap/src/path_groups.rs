//! Groups of paths with the same text. The text of a path is its root, then class and label of every step,
//! without indexes and keys. Two rules keep it short, even for deep recursion:
//!
//! - A step to an object of the same class as the previous one adds nothing. In a snapshot of V8, where most objects
//!   are of the class `Object`, up to [`MOST_NAMED`] such steps over names are told apart; more of them are marked.
//! - When a step occurs a second time, the text returns to its first occurrence.
//!
//! Groups are numbered. Each group has a reference to the group that it continues, so all groups form a tree.

use std::collections::HashMap;

use bytemuck::Zeroable;

use super::labels::{EdgeLabel, LabelKind};
use super::objects::ObjectTable;
use super::root_slots::{PathStarts, RootOrigin};
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;

/// The largest number of groups. If all classes refer to each other, there can be a group for every order of
/// classes.
const MOST_GROUPS: usize = 1 << 20;

/// The largest number of continuations that are stored. After that, a continuation is computed each time.
const MOST_CONTINUATIONS: usize = 4 * MOST_GROUPS;

/// The largest number of earlier steps that are examined for all groups together.
const MOST_STEPS: u64 = 1 << 28;

/// The most steps over names between objects of one class that are told apart. Each more could double the groups.
const MOST_NAMED: usize = 8;

/// The number of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Zeroable)]
pub struct PathGroup(pub u32);

impl PathGroup {
    /// The group of all other paths, after the largest number of groups.
    pub const REST: Self = Self(0);
}

/// How a group continues another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupStart {
    /// It begins at a root.
    Root(RootOrigin),
    /// It continues this group with a reference of this label.
    Step(PathGroup, EdgeLabel),
    /// It is the group of all other paths.
    Rest,
}

/// Facts about a group.
#[derive(Clone, Copy, Debug)]
pub struct GroupInfo {
    /// The group or root that it continues.
    pub start: GroupStart,
    /// The class slot of its objects; if classes share a name, the first of them.
    pub class_slot: u32,
    /// Whether paths of the group return to it, so that the text has steps once that they repeat.
    pub is_folded: bool,
}

/// All groups.
#[derive(Debug)]
pub struct PathGroups {
    infos: Vec<GroupInfo>,
}

impl PathGroups {
    /// The number of groups, the one for all other paths included.
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.infos.is_empty()
    }

    /// The facts about a group. A group has a greater number than the one that it continues.
    pub fn info(&self, group: PathGroup) -> GroupInfo {
        self.infos[group.0 as usize]
    }
}

/// The effect of a reference on the text of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextStep {
    /// It adds nothing.
    SameClass,
    /// It adds a step.
    New,
    /// It returns to this group.
    Back(PathGroup),
}

/// A group, and the label and the class of a reference that continues it.
type Continuation = (PathGroup, EdgeLabel, u32);

/// Groups while paths are found.
pub(super) struct GroupFinder<'a> {
    objects: &'a ObjectTable,
    /// Labels of references to an object's own storage.
    storage: &'a [EdgeLabel],
    /// By first class slot: whether its objects are storage of what refers to them.
    storage_slots: Vec<bool>,
    /// Class slot → the first slot of that name.
    first_slots: Vec<u32>,
    infos: Vec<GroupInfo>,
    firsts: HashMap<(RootOrigin, u32), PathGroup>,
    continuations: HashMap<Continuation, (PathGroup, TextStep)>,
    /// The last lookups in `continuations`, by a hash of the key.
    recent: Vec<(Continuation, (PathGroup, TextStep))>,
    steps_left: u64,
}

const RECENT: usize = 1 << 12;

impl<'a> GroupFinder<'a> {
    pub(super) fn new(objects: &'a ObjectTable, starts: &'a PathStarts) -> Self {
        let names = &starts.storage_classes;
        let storage_slots = match names.len() {
            0 => Vec::new(),
            _ => {
                let classes = objects.classes.iter();
                classes
                    .map(|class| names.contains(&class.name.as_str()))
                    .collect()
            }
        };
        let no_question = (PathGroup::REST, EdgeLabel::default(), u32::MAX);
        Self {
            objects,
            storage: &starts.storage,
            storage_slots,
            first_slots: objects.first_slots(),
            infos: vec![GroupInfo {
                start: GroupStart::Rest,
                class_slot: 0,
                is_folded: false,
            }],
            firsts: HashMap::new(),
            continuations: HashMap::new(),
            recent: vec![(no_question, (PathGroup::REST, TextStep::New)); RECENT],
            steps_left: MOST_STEPS,
        }
    }

    /// The groups; and by class slot, whether its objects are storage.
    pub(super) fn finish(self) -> (PathGroups, Vec<bool>) {
        (PathGroups { infos: self.infos }, self.storage_slots)
    }

    #[inline]
    fn class(&self, object: ObjectIndex) -> u32 {
        self.first_slots[self.objects.place_slot(object) as usize]
    }

    /// Whether an object is the storage of another one, whose group it has.
    pub(super) fn is_storage(&self, group: PathGroup, object: ObjectIndex) -> bool {
        let has_storage = !self.storage.is_empty() && group != PathGroup::REST;
        has_storage && self.infos[group.0 as usize].class_slot != self.class(object)
    }

    /// The group of an object that a root refers to.
    pub(super) fn first(&mut self, origin: RootOrigin, object: ObjectIndex) -> Result<PathGroup> {
        let class_slot = self.class(object);
        if let Some(&group) = self.firsts.get(&(origin, class_slot)) {
            return Ok(group);
        }
        let group = self.add(GroupInfo {
            start: GroupStart::Root(origin),
            class_slot,
            is_folded: false,
        })?;
        self.firsts.insert((origin, class_slot), group);
        Ok(group)
    }

    /// The group of an object, given the group of the object that refers to it.
    #[inline]
    pub(super) fn next(
        &mut self,
        group: PathGroup,
        label: EdgeLabel,
        target: ObjectIndex,
    ) -> Result<(PathGroup, TextStep)> {
        let class_slot = self.class(target);
        // All objects of a group have its class.
        let info = &mut self.infos[group.0 as usize];
        let is_named = matches!(label.kind(), LabelKind::Named(..));
        // Where storage is no step, a container in a container of the same class is one.
        let folds = !is_named && self.storage.is_empty();
        if group == PathGroup::REST || (class_slot == info.class_slot && folds) {
            info.is_folded = true;
            return Ok((group, TextStep::SameClass));
        }
        // An owner and its storage are one step.
        if is_named && self.storage.contains(&label)
            || self.storage_slots.get(class_slot as usize) == Some(&true)
        {
            return Ok((group, TextStep::SameClass));
        }
        let question = (group, label, class_slot);
        let hash = group
            .0
            .wrapping_mul(0x9e37_79b1)
            .wrapping_add(label.hash())
            .wrapping_add(class_slot.wrapping_mul(0x85eb_ca6b));
        let slot = (hash >> 16) as usize % RECENT;
        let (last, answer) = self.recent[slot];
        if last == question {
            return Ok(answer);
        }
        let answer = match self.continuations.get(&question) {
            Some(&answer) => answer,
            None => {
                let answer = self.continue_group(question)?;
                if self.continuations.len() < MOST_CONTINUATIONS {
                    self.continuations.insert(question, answer);
                }
                answer
            }
        };
        self.recent[slot] = (question, answer);
        Ok(answer)
    }

    fn continue_group(
        &mut self,
        (group, mut label, class_slot): Continuation,
    ) -> Result<(PathGroup, TextStep)> {
        let holder = self.infos[group.0 as usize].class_slot;
        if class_slot == holder {
            let info = self.infos[group.0 as usize];
            if matches!(info.start, GroupStart::Step(_, EdgeLabel::FOLDED)) {
                // The label itself is the mark.
                return Ok((group, TextStep::SameClass));
            }
            if self.same_class_steps(group) >= MOST_NAMED {
                label = EdgeLabel::FOLDED;
            }
        }
        let mut earlier = group;
        while let GroupInfo {
            start: GroupStart::Step(before, earlier_label),
            class_slot: earlier_class,
            ..
        } = self.infos[earlier.0 as usize]
        {
            let earlier_holder = self.infos[before.0 as usize].class_slot;
            if (earlier_holder, earlier_label, earlier_class) == (holder, label, class_slot) {
                let step = if earlier == group {
                    TextStep::SameClass
                } else {
                    TextStep::Back(earlier)
                };
                self.infos[earlier.0 as usize].is_folded = true;
                return Ok((earlier, step));
            }
            earlier = before;
            match self.steps_left.checked_sub(1) {
                Some(left) => self.steps_left = left,
                None => return Ok((PathGroup::REST, TextStep::New)),
            }
        }
        let group = self.add(GroupInfo {
            start: GroupStart::Step(group, label),
            class_slot,
            is_folded: false,
        })?;
        Ok((group, TextStep::New))
    }

    /// How many steps to an object of the same class this group ends with, as far as [`MOST_NAMED`].
    fn same_class_steps(&self, mut group: PathGroup) -> usize {
        let mut count = 0;
        while let GroupInfo {
            start: GroupStart::Step(before, _),
            class_slot,
            ..
        } = self.infos[group.0 as usize]
        {
            if count == MOST_NAMED || self.infos[before.0 as usize].class_slot != class_slot {
                break;
            }
            count += 1;
            group = before;
        }
        count
    }

    fn add(&mut self, info: GroupInfo) -> Result<PathGroup> {
        if self.infos.len() >= MOST_GROUPS {
            return Ok(PathGroup::REST);
        }
        let group = PathGroup(self.infos.len() as u32);
        columns::push(&mut self.infos, info)?;
        Ok(group)
    }
}
