//! The objects of one place, which its fingerprint names.

use std::collections::HashMap;

use super::count::Subject;
use super::finder::Finder;
use crate::loaded_heap::LoadedHeap;
use crate::parts::path_text::{
    LEFT_OUT, SEPARATOR, fingerprint, group_text, origin_text, reference_text, step_text,
};
use base::bits::Bits;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::ObjectIndex;
use heap::{PathGroup, RootOrigin};

/// The live objects at the place with this fingerprint, as `growth` counts them: the objects of a group of paths, or what
/// references lead to, whichever are more; without a path, what a field leads to, or a class. `None` if this heap has no
/// such place.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn objects_at(
    loaded: &LoadedHeap,
    wanted: &str,
    control: &Control,
) -> Result<Option<Bits>> {
    let (tree, dominators) = side_by_side(
        || loaded.path_tree(control),
        || loaded.dominator_index(control),
    )?;
    let step = control.begin(Phase::View, loaded.heap.objects.len() as u64);
    let first_slots = loaded.heap.objects.first_slots();
    let subject = Subject::new(loaded, tree, dominators, &first_slots);
    let finder = subject.find_places(&step)?;
    let lookup = PlaceLookup {
        loaded,
        subject,
        finder: &finder,
        wanted,
        control,
    };
    let (group, referred) = (lookup.group()?, lookup.referred()?);
    let found = if group.count > referred.count {
        group
    } else {
        referred
    };
    if found.count > 0 {
        return Ok(Some(found.objects));
    }
    let field = lookup.field()?;
    let found = if field.count > 0 {
        field
    } else {
        lookup.class()?
    };
    Ok((found.count > 0).then_some(found.objects))
}

/// Objects, and their number.
struct PlaceMembers {
    objects: Bits,
    count: usize,
}

/// A place that is looked for.
struct PlaceLookup<'h> {
    loaded: &'h LoadedHeap,
    subject: Subject<'h>,
    finder: &'h Finder,
    wanted: &'h str,
    control: &'h Control,
}

impl PlaceLookup<'_> {
    fn is_wanted(&self, text: &str) -> Result<bool> {
        self.control.count(text.len() as u64)?;
        Ok(fingerprint(text) == self.wanted)
    }

    fn members(&self, objects: impl IntoIterator<Item = ObjectIndex>) -> Result<PlaceMembers> {
        let mut members = PlaceMembers {
            objects: Bits::new(self.loaded.heap.objects.len())?,
            count: 0,
        };
        for object in objects {
            self.control.count(1)?;
            members.count += usize::from(members.objects.insert(object.0));
        }
        Ok(members)
    }

    /// The objects of the groups of paths with the text that is looked for.
    fn group(&self) -> Result<PlaceMembers> {
        let mut is_wanted = Vec::new();
        for group in 0..self.subject.tree.groups().len() as u32 {
            let group = PathGroup(group);
            let text = group_text(self.loaded, group, self.control)?.text;
            let is_this = group != PathGroup::REST && self.is_wanted(&text)?;
            columns::push(&mut is_wanted, is_this)?;
        }
        let objects = self.subject.dominators.objects().iter().copied();
        let group = |object: ObjectIndex| self.subject.tree.group(object).0 as usize;
        // Storage is in the group of its owner, and is counted there as no object of its own.
        let is_member =
            |object: ObjectIndex| is_wanted[group(object)] && !self.subject.is_storage(object);
        self.members(objects.filter(|&object| is_member(object)))
    }

    /// What references from a group of paths lead to, and what roots hold.
    fn referred(&self) -> Result<PlaceMembers> {
        let mut is_wanted = Vec::new();
        for place in self.finder.places() {
            let is_of_group = place.holders != PathGroup::REST && place.holder != place.class;
            let is_this = is_of_group && {
                let mut text =
                    reference_text(self.loaded, place.holders, place.label, self.control)?;
                text.add(self.loaded.slot_name(place.class));
                self.is_wanted(&text.text)?
            };
            columns::push(&mut is_wanted, is_this)?;
        }
        let mut held = Vec::new();
        let mut is_wanted_root: HashMap<(RootOrigin, u32), bool> = HashMap::new();
        for &slot in self.loaded.roots.all() {
            let key = (
                self.loaded.roots.origin(slot),
                self.subject.class(slot.object),
            );
            let is_this = match is_wanted_root.get(&key) {
                Some(&is_this) => is_this,
                None => {
                    let origin = origin_text(self.loaded, key.0);
                    let class = self.loaded.slot_name(key.1);
                    let is_this = self.is_wanted(&format!("{origin}{SEPARATOR}{class}"))?;
                    is_wanted_root.insert(key, is_this);
                    is_this
                }
            };
            if is_this {
                columns::push(&mut held, slot.object)?;
            }
        }
        self.members(
            self.finder
                .targets(&is_wanted, self.subject.dominators)
                .chain(held),
        )
    }

    /// What the references of a class lead to, whatever the paths of its objects.
    fn field(&self) -> Result<PlaceMembers> {
        let mut is_wanted = Vec::new();
        for place in self.finder.places() {
            let (label, _) = step_text(self.loaded, place.holder, place.label);
            let class = self.loaded.slot_name(place.class);
            let text = format!("{LEFT_OUT}{SEPARATOR}{label}{SEPARATOR}{class}");
            columns::push(&mut is_wanted, self.is_wanted(&text)?)?;
        }
        self.members(self.finder.targets(&is_wanted, self.subject.dominators))
    }

    fn class(&self) -> Result<PlaceMembers> {
        let mut is_wanted = Vec::new();
        for class in &self.loaded.heap.objects.classes {
            let text = format!("{LEFT_OUT}{SEPARATOR}{}", class.name);
            columns::push(&mut is_wanted, self.is_wanted(&text)?)?;
        }
        let objects = self.subject.dominators.objects().iter().copied();
        self.members(objects.filter(|&object| is_wanted[self.subject.class(object) as usize]))
    }
}
