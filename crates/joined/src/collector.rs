//! The groups in which slots are judged.
//!
//! A property is judged with the same property of all objects of its class, plain objects by their shape, and with the
//! other properties of its object, because programs use objects as maps; a variable with
//! those of all contexts of its scope. A container is judged alone. Beside that, all containers that one slot holds are
//! judged together, and the elements at one index of these, because small containers are too small to be judged alone;
//! and the elements of an array whose index has the same remainder, because an array may have pairs in it.

use std::collections::{HashMap, HashSet};

use crate::chance::GROUPS_OF_SLOT;
use crate::holders::{HeldIn, Holders};
use crate::numbers::{ListedKind, MOST_STEP, NumberObject};
use crate::sides::Sides;
use crate::slots::{CollectedSlot, Group, NO_GROUP, NumberSlots, SeenSlot, SlotGroups, SlotName};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, WideLabel};

/// Elements from this one on are not judged by their index: it is a field of a small array that stands for an object.
const MOST_INDEX: u32 = MOST_STEP;
/// The class of wrappers in the bindings that AssemblyScript generates. Each wraps the address of an object that it
/// pinned.
const WRAPPER_OF_BINDINGS: &str = "Internref";
/// The property in which wasm-bindgen keeps the address of an object.
const POINTER_OF_WASM_BINDGEN: &str = "__wbg_ptr";
/// The property in which embind keeps what it knows of an object, and the addresses in that: of the object, and of the
/// pointer that shares it.
pub(crate) const EMBIND: (&str, [&str; 2]) = ("$$", ["ptr", "smartPtr"]);
/// The variables of the bindings of AssemblyScript that count pins, and that unpin.
const BOOKKEEPING: (&str, &str) = ("refcounts", "registry");

/// A part of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SlotPart {
    Element,
    Key,
    Value,
    Member,
    Property,
}

/// Slots that are judged together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SlotGroupKey {
    /// A property of all objects of a class.
    Property(u32, EdgeLabel),
    /// The property in which generated code keeps the address of a block, of all objects of a class.
    Pointer(u32, EdgeLabel),
    /// A part of one container.
    Container(ObjectIndex, SlotPart),
    /// The same part of all containers that one slot holds.
    Held(HeldIn, SlotPart),
    /// The elements at an index of all arrays that one slot holds.
    HeldAt(HeldIn, u32),
    /// The wrappers of a class.
    Wrapper(u32),
    /// The elements of an array whose index has this remainder, modulo a step.
    Step(ObjectIndex, u32, u32),
    /// A variable of the contexts of one scope.
    Variable(u32, String),
}

/// Collects slots.
pub(crate) struct SlotCollector<'h> {
    sides: Sides<'h>,
    holders: &'h Holders,
    keys: HashMap<SlotGroupKey, u32>,
    /// The group and the bits of each number.
    values: Vec<(u32, u64)>,
    /// The variables of contexts that were added.
    variables: HashSet<(ObjectIndex, String)>,
    found: NumberSlots,
}

impl<'h> SlotCollector<'h> {
    pub(crate) fn new(sides: Sides<'h>, holders: &'h Holders) -> Self {
        Self {
            sides,
            holders,
            keys: HashMap::new(),
            values: Vec::new(),
            variables: HashSet::new(),
            found: NumberSlots::default(),
        }
    }

    fn group(&mut self, key: SlotGroupKey, is_exact: bool) -> Result<u32> {
        let next = self.found.groups.len() as u32;
        let group = *self.keys.entry(key).or_insert(next);
        if group == next {
            let group = Group {
                is_exact,
                ..Group::default()
            };
            columns::push(&mut self.found.groups, group)?;
        }
        Ok(group)
    }

    /// Adds a number to its groups, and the slot if it is the address of a pinned object.
    fn add(
        &mut self,
        holder: ObjectIndex,
        name: SlotName,
        value: f64,
        groups: SlotGroups,
    ) -> Result<()> {
        // They stand for nothing in most programs.
        if value == 0.0 || value == -1.0 {
            return Ok(());
        }
        for group in groups.into_iter().filter(|&group| group != NO_GROUP) {
            columns::push(&mut self.values, (group, value.to_bits()))?;
        }
        match self.sides.pinned_at(value) {
            Some(target) => columns::push(
                &mut self.found.slots,
                CollectedSlot {
                    holder,
                    target,
                    name,
                    groups,
                },
            ),
            None => Ok(()),
        }
    }

    /// Adds a slot that the snapshot shows. Programs use plain objects as maps, so an object with many numbers `is_map`.
    pub(crate) fn add_seen(&mut self, slot: &SeenSlot, is_map: bool) -> Result<()> {
        let &SeenSlot {
            holder,
            label,
            value,
        } = slot;
        let name = SlotName::Label(label);
        let Some(text) = self.sides.view.name_of_label(label.label()) else {
            let index = label.index().unwrap_or(u32::MAX);
            let groups = self.groups_of_part(holder, SlotPart::Element, Some(index))?;
            return self.add(holder, name, value, groups);
        };
        let held_by = || self.holders.label_of(holder);
        let is_embind = EMBIND.1.contains(&&*text)
            && held_by()
                .and_then(|label| self.sides.view.name_of_label(label))
                .as_deref()
                == Some(EMBIND.0);
        let class_slot = self.sides.js.objects.class_slots[holder.at()];
        if text == POINTER_OF_WASM_BINDGEN || is_embind {
            return self.add_pointer(slot, SlotGroupKey::Pointer(class_slot, label.label()));
        }
        if self.sides.view.is_context(holder) {
            // The file of numbers lists the variable again.
            self.variables.insert((holder, (*text).to_owned()));
        }
        let group = self.group(SlotGroupKey::Property(class_slot, label.label()), false)?;
        let mut groups = alone(group);
        if is_map {
            groups[1] = self.group(SlotGroupKey::Container(holder, SlotPart::Property), false)?;
        }
        self.add(holder, name, value, groups)
    }

    /// Adds a slot in which generated code keeps the address of a block of C++ or Rust. It is a reference wherever the
    /// block is: the memory may refer to it too.
    fn add_pointer(&mut self, slot: &SeenSlot, key: SlotGroupKey) -> Result<()> {
        let Some(target) = self.sides.block_around(slot.value) else {
            return Ok(());
        };
        let group = self.group(key, true)?;
        columns::push(&mut self.values, (group, slot.value.to_bits()))?;
        let slot = CollectedSlot {
            holder: slot.holder,
            target,
            name: SlotName::Label(slot.label),
            groups: alone(group),
        };
        columns::push(&mut self.found.slots, slot)
    }

    /// The groups of a part of a container.
    fn groups_of_part(
        &mut self,
        holder: ObjectIndex,
        part: SlotPart,
        index: Option<u32>,
    ) -> Result<SlotGroups> {
        let own = self.group(SlotGroupKey::Container(holder, part), false)?;
        let Some(held_by) = self.holders.held_by(holder) else {
            return Ok(alone(own));
        };
        let held = self.group(SlotGroupKey::Held(held_by, part), false)?;
        let at = match index {
            Some(index) if index < MOST_INDEX => {
                self.group(SlotGroupKey::HeldAt(held_by, index), false)?
            }
            _ => NO_GROUP,
        };
        let mut groups = alone(own);
        groups[1] = held;
        groups[2] = at;
        Ok(groups)
    }

    pub(crate) fn add_object(&mut self, holder: ObjectIndex, object: &NumberObject) -> Result<()> {
        match object.kind {
            ListedKind::Number => self.add_wrapper(holder, object),
            ListedKind::Closure => self.add_variables(holder, object),
            ListedKind::Map if self.is_bookkeeping(holder) => self.add_listed(object),
            ListedKind::Map => {
                for (part, name) in [(SlotPart::Key, "key"), (SlotPart::Value, "value")] {
                    self.add_part(holder, object, part, |slot| slot == name)?;
                    let others = object.other.get(name).copied().unwrap_or(0);
                    self.add_others(holder, part, others)?;
                }
                Ok(())
            }
            ListedKind::Set => {
                self.add_part(holder, object, SlotPart::Member, |_| true)?;
                self.add_others(holder, SlotPart::Member, object.all_others())
            }
            ListedKind::Array | ListedKind::TypedArray => self.add_array(holder, object),
        }
    }

    fn add_array(&mut self, holder: ObjectIndex, object: &NumberObject) -> Result<()> {
        self.add_part(holder, object, SlotPart::Element, |_| true)?;
        let others = object.all_others();
        if others == 0 {
            return Ok(());
        }
        self.add_others(holder, SlotPart::Element, others)?;
        for step in 2..=MOST_STEP {
            for remainder in 0..step {
                let others = object.others_at(step, remainder);
                let group = self.group(SlotGroupKey::Step(holder, step, remainder), false)?;
                self.add_to_group(group, others);
            }
        }
        let Some(held_by) = self.holders.held_by(holder) else {
            return Ok(());
        };
        for index in 0..MOST_INDEX {
            if object.others_at(MOST_INDEX, index) > 0 {
                let group = self.group(SlotGroupKey::HeldAt(held_by, index), false)?;
                self.add_to_group(group, 1);
            }
        }
        Ok(())
    }

    fn add_part(
        &mut self,
        holder: ObjectIndex,
        object: &NumberObject,
        part: SlotPart,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<()> {
        for slot in object.slots.iter().filter(|slot| is_wanted(&slot.name)) {
            let index = slot.name.parse().ok().filter(|_| part == SlotPart::Element);
            let name = match part {
                SlotPart::Element => SlotName::Label(WideLabel::element(index.unwrap_or(u32::MAX))),
                SlotPart::Key => SlotName::Key,
                SlotPart::Value => SlotName::Value(slot.key.clone()),
                SlotPart::Member | SlotPart::Property => SlotName::Member,
            };
            let mut groups = self.groups_of_part(holder, part, index)?;
            // An array of nothing else is judged as a whole.
            if let Some(index) = index.filter(|_| object.all_others() > 0) {
                for (group, step) in groups[3..].iter_mut().zip(2..=MOST_STEP) {
                    *group = self.group(SlotGroupKey::Step(holder, step, index % step), false)?;
                }
            }
            self.add(holder, name, slot.value as f64, groups)?;
        }
        Ok(())
    }

    /// Counts numbers of which only their number is known. Each counts as another value that is no address.
    fn add_others(&mut self, holder: ObjectIndex, part: SlotPart, others: u64) -> Result<()> {
        if others > 0 {
            let groups = self.groups_of_part(holder, part, None)?;
            for group in groups.into_iter().filter(|&group| group != NO_GROUP) {
                self.add_to_group(group, others);
            }
        }
        Ok(())
    }

    fn add_to_group(&mut self, group: u32, others: u64) {
        let known = &mut self.found.groups[group as usize].others;
        *known = known.saturating_add(others);
    }

    fn add_wrapper(&mut self, holder: ObjectIndex, object: &NumberObject) -> Result<()> {
        let class_slot = self.sides.js.objects.class_slots[holder.at()];
        let class = &self.sides.js.objects.classes[class_slot as usize].name;
        let is_exact = class == WRAPPER_OF_BINDINGS;
        let group = self.group(SlotGroupKey::Wrapper(class_slot), is_exact)?;
        for slot in &object.slots {
            let groups = alone(group);
            self.add(holder, SlotName::Wrapped, slot.value as f64, groups)?;
        }
        self.add_to_group(group, object.all_others());
        Ok(())
    }

    /// Adds variables to the context that has them. Many functions share one.
    fn add_variables(&mut self, function: ObjectIndex, object: &NumberObject) -> Result<()> {
        let holder = self.context_of(function, object.scope);
        let class_slot = self.sides.js.objects.class_slots[holder.at()];
        for slot in &object.slots {
            if !self.variables.insert((holder, slot.name.clone())) {
                continue;
            }
            let key = SlotGroupKey::Variable(class_slot, slot.name.clone());
            let group = self.group(key, false)?;
            let name = SlotName::Variable(slot.name.clone());
            self.add(holder, name, slot.value as f64, alone(group))?;
        }
        for (name, &others) in &object.other {
            if self.variables.insert((holder, name.clone())) {
                let group = self.group(SlotGroupKey::Variable(class_slot, name.clone()), false)?;
                self.add_to_group(group, others);
            }
        }
        Ok(())
    }

    /// The context that has the variables of a scope of a function; the function itself if it is not in the snapshot.
    fn context_of(&self, function: ObjectIndex, scope: Option<u32>) -> ObjectIndex {
        /// More scopes than functions have.
        const MOST: u32 = 1000;
        let view = self.sides.view;
        let mut context = view.internal(function, "context");
        for _ in 0..scope.unwrap_or(MOST).min(MOST) {
            context = context.and_then(|context| view.internal(context, "previous"));
        }
        let context = context.filter(|&context| view.is_context(context));
        context.unwrap_or(function)
    }

    /// Whether a map is the one in which the bindings count pins. It holds nothing.
    fn is_bookkeeping(&self, map: ObjectIndex) -> bool {
        let view = self.sides.view;
        let label = self.holders.label_of(map);
        let name = label.and_then(|label| view.name_of_label(label));
        let holder = self.holders.holder_of(map);
        name.as_deref() == Some(BOOKKEEPING.0)
            && holder.is_some_and(|holder| view.property(holder, BOOKKEEPING.1).is_some())
    }

    fn add_listed(&mut self, object: &NumberObject) -> Result<()> {
        for slot in object.slots.iter().filter(|slot| slot.name == "key") {
            if let Some(target) = self.sides.pinned_at(slot.value as f64) {
                columns::push(&mut self.found.listed, target)?;
            }
        }
        Ok(())
    }

    /// Counts the different values of each group.
    pub(crate) fn finish(mut self, step: &Step<'_>) -> Result<NumberSlots> {
        self.values.sort_unstable();
        self.values.dedup();
        for (nth, &(group, bits)) in self.values.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let is_hit = self.sides.pinned_at(f64::from_bits(bits)).is_some();
            let count = &mut self.found.groups[group as usize].count;
            count.values += 1;
            count.hits += u64::from(is_hit);
        }
        for group in &mut self.found.groups {
            group.count.values = group.count.values.saturating_add(group.others);
        }
        Ok(self.found)
    }
}

/// A slot that is in one group.
fn alone(group: u32) -> SlotGroups {
    let mut groups = [NO_GROUP; GROUPS_OF_SLOT];
    groups[0] = group;
    groups
}
