//! The slots of JavaScript that have numbers, and the groups in which they are judged.
//!
//! A property is judged with the same property of all objects of its class, plain objects by their shape. A container
//! is judged alone; beside that, all containers that one slot holds are judged together, and the elements at one index
//! of these, because small containers are too small to be judged alone.

use std::collections::HashMap;

use crate::chance::GroupCount;
use crate::holders::{HeldBy, Holders};
use crate::numbers::{NumberKind, NumberObject, Numbers};
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::{EdgeLabel, Heap, LabelKind, NameKind, WideLabel};
use v8::HostView;

/// Elements after this one are not judged by their index: it is a field of a small array that stands for an object.
const MOST_INDEX: u32 = 16;
/// Stands for no group.
const NO_GROUP: u32 = u32::MAX;
/// The class of wrappers in the bindings that AssemblyScript generates. Each wraps the address of an object that it
/// pinned.
const WRAPPER_OF_BINDINGS: &str = "Internref";
/// The property in which wasm-bindgen keeps the address of an object.
const POINTER_OF_WASM_BINDGEN: &str = "__wbg_ptr";
/// The property in which embind keeps what it knows of an object, and the address in that.
const EMBIND: (&str, &str) = ("$$", "ptr");
/// The variables of the bindings of AssemblyScript that count pins, and that unpin.
const BOOKKEEPING: (&str, &str) = ("refcounts", "registry");

/// The name of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlotName {
    /// A property, a variable or an element, as the snapshot labels it.
    Label(WideLabel),
    /// The key of an entry of a map.
    Key,
    /// The value of an entry of a map, with the text of its key.
    Value(Option<String>),
    /// A member of a set.
    Member,
    /// What an object wraps.
    Wrapped,
    /// A variable of a function.
    Variable(String),
}

/// A part of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Element,
    Key,
    Value,
    Member,
}

/// Slots that are judged together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum GroupKey {
    /// A property of all objects of a class.
    Property(u32, EdgeLabel),
    /// A part of one container.
    Container(ObjectIndex, Part),
    /// The same part of all containers that one slot holds.
    Held(HeldBy, Part),
    /// The elements at an index of all arrays that one slot holds.
    HeldAt(HeldBy, u32),
    /// The wrappers of a class.
    Wrapper(u32),
    /// A variable of the function at a place, or of one function.
    Variable(Result<String, u32>, String),
}

/// What is known of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// How many of its values are addresses.
    pub(crate) count: GroupCount,
    /// Whether generated code is known to keep addresses there.
    pub(crate) is_exact: bool,
    /// The number of values of which only the number is known.
    others: u64,
}

/// A slot whose number is the address of a pinned object.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The object of the snapshot that has it.
    pub(crate) holder: ObjectIndex,
    /// The object of the memory.
    pub(crate) target: ObjectIndex,
    pub(crate) name: SlotName,
    groups: [u32; 3],
}

/// The slots, and their groups.
#[derive(Default)]
pub(crate) struct Slots {
    /// Those with the address of a pinned object.
    pub(crate) slots: Vec<Slot>,
    groups: Vec<Group>,
    /// The objects of the memory that the table of the bindings lists.
    pub(crate) listed: Vec<ObjectIndex>,
}

impl Slots {
    /// The groups of a slot.
    pub(crate) fn groups(&self, slot: &Slot) -> impl Iterator<Item = Group> {
        let numbers = slot.groups.into_iter().filter(|&group| group != NO_GROUP);
        numbers.map(|group| self.groups[group as usize])
    }
}

/// What the collection reads.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'h> {
    /// The heap of the memory.
    pub(crate) wasm: &'h Heap,
    /// Its pinned objects.
    pub(crate) pinned: &'h Bits,
    /// The heap of JavaScript.
    pub(crate) js: &'h Heap,
    pub(crate) view: HostView<'h>,
}

impl Sides<'_> {
    /// The pinned object whose address a number is.
    pub(crate) fn pinned_at(self, value: f64) -> Option<ObjectIndex> {
        let is_address = value > 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0;
        let object = self.wasm.objects.at(Address(value as u32));
        object.filter(|object| is_address && self.pinned.contains(object.0))
    }
}

/// A slot of the snapshot that refers to a number.
struct SeenSlot {
    holder: ObjectIndex,
    label: WideLabel,
    value: f64,
}

/// Collects all slots.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn collect(
    sides: Sides<'_>,
    numbers: Option<&Numbers>,
    step: &Step<'_>,
) -> Result<Slots> {
    let mut containers: Vec<(ObjectIndex, &NumberObject)> = Vec::new();
    for object in numbers.into_iter().flat_map(|numbers| &numbers.objects) {
        // An object that is not in the snapshot was made after it.
        if let Some(holder) = sides.js.objects.at(Address(object.id)) {
            columns::push(&mut containers, (holder, object))?;
        }
    }
    containers.sort_by_key(|&(holder, object)| (holder, object.kind));
    let mut wanted = Bits::new(sides.js.objects.len())?;
    for (holder, _) in &containers {
        wanted.insert(holder.0);
    }
    let seen = seen_slots(sides, &mut wanted, step)?;
    let holders = Holders::find(sides, &wanted, step)?;
    let mut collector = Collector {
        sides,
        holders: &holders,
        keys: HashMap::new(),
        values: Vec::new(),
        found: Slots::default(),
    };
    for slot in &seen {
        collector.add_seen(slot)?;
    }
    let mut families = Families::default();
    for &(holder, object) in &containers {
        step.advance(0)?;
        collector.add_object(holder, object, &mut families)?;
    }
    collector.count_families(&families)?;
    collector.finish(step)
}

/// The properties, variables and elements that the snapshot shows with a number. Adds the arrays among their holders to
/// `wanted`, and those whose own holder says what they are.
fn seen_slots(sides: Sides<'_>, wanted: &mut Bits, step: &Step<'_>) -> Result<Vec<SeenSlot>> {
    let Sides { js, view, .. } = sides;
    let mut values: HashMap<u32, f64> = HashMap::new();
    let count = js.objects.len() as u32;
    for object in 0..count {
        if (object as usize).is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
        let object = ObjectIndex(object);
        if view.is_number(object)
            && let Some(value) = view.number(object)
        {
            values.insert(object.0, value);
        }
    }
    let mut seen = Vec::new();
    if values.is_empty() {
        return Ok(seen);
    }
    for holder in (0..count).map(ObjectIndex) {
        if holder.at().is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
        let has_numbers_elsewhere = wanted.contains(holder.0);
        for position in js.edges.range(holder) {
            let Some(&value) = values.get(&js.edges.target(position).0) else {
                continue;
            };
            let label = js.edges.wide_label(position).unwrap_or(WideLabel::hidden(0));
            let is_wanted = match label.label().kind() {
                LabelKind::Named(NameKind::Property | NameKind::Context, _) => true,
                LabelKind::Element => !has_numbers_elsewhere && view.is_object(holder),
                _ => false,
            };
            if is_wanted {
                let slot = SeenSlot {
                    holder,
                    label,
                    value,
                };
                columns::push(&mut seen, slot)?;
            }
        }
    }
    for slot in &seen {
        let name = view.name_of_label(slot.label.label());
        if name.is_none_or(|name| name == EMBIND.1) {
            wanted.insert(slot.holder.0);
        }
    }
    Ok(seen)
}

/// The arrays that one slot holds, of which not all numbers are known by index.
#[derive(Default)]
struct Families {
    /// By slot: how many arrays have other numbers.
    with_others: HashMap<HeldBy, u64>,
    /// By slot and index: how many of them have a number that may be an address there.
    listed: HashMap<(HeldBy, u32), u64>,
}

struct Collector<'h> {
    sides: Sides<'h>,
    holders: &'h Holders,
    keys: HashMap<GroupKey, u32>,
    /// The group and the bits of each number.
    values: Vec<(u32, u64)>,
    found: Slots,
}

impl Collector<'_> {
    fn group(&mut self, key: GroupKey, is_exact: bool) -> Result<u32> {
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
        groups: [u32; 3],
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
                Slot {
                    holder,
                    target,
                    name,
                    groups,
                },
            ),
            None => Ok(()),
        }
    }

    fn add_seen(&mut self, slot: &SeenSlot) -> Result<()> {
        let &SeenSlot {
            holder,
            label,
            value,
        } = slot;
        let name = SlotName::Label(label);
        let Some(text) = self.sides.view.name_of_label(label.label()) else {
            let index = label.index().unwrap_or(u32::MAX);
            let groups = self.groups_of_part(holder, Part::Element, Some(index))?;
            return self.add(holder, name, value, groups);
        };
        let held_by = || self.holders.label_of(holder);
        let is_embind = text == EMBIND.1
            && held_by().and_then(|label| self.sides.view.name_of_label(label)).as_deref()
                == Some(EMBIND.0);
        let is_exact = text == POINTER_OF_WASM_BINDGEN || is_embind;
        let class_slot = self.sides.js.objects.class_slots[holder.at()];
        let group = self.group(GroupKey::Property(class_slot, label.label()), is_exact)?;
        self.add(holder, name, value, [group, NO_GROUP, NO_GROUP])
    }

    /// The groups of a part of a container.
    fn groups_of_part(
        &mut self,
        holder: ObjectIndex,
        part: Part,
        index: Option<u32>,
    ) -> Result<[u32; 3]> {
        let own = self.group(GroupKey::Container(holder, part), false)?;
        let Some(held_by) = self.holders.held_by(holder) else {
            return Ok([own, NO_GROUP, NO_GROUP]);
        };
        let held = self.group(GroupKey::Held(held_by, part), false)?;
        let at = match index {
            Some(index) if index < MOST_INDEX => {
                self.group(GroupKey::HeldAt(held_by, index), false)?
            }
            _ => NO_GROUP,
        };
        Ok([own, held, at])
    }

    fn add_object(
        &mut self,
        holder: ObjectIndex,
        object: &NumberObject,
        families: &mut Families,
    ) -> Result<()> {
        match object.kind {
            NumberKind::Number => self.add_wrapper(holder, object),
            NumberKind::Closure => self.add_variables(holder, object),
            NumberKind::Map if self.is_bookkeeping(holder) => self.add_listed(object),
            NumberKind::Map => {
                for (part, name) in [(Part::Key, "key"), (Part::Value, "value")] {
                    self.add_part(holder, object, part, |slot| slot == name)?;
                    let others = object.other.get(name).copied().unwrap_or(0);
                    self.add_others(holder, part, others)?;
                }
                Ok(())
            }
            NumberKind::Set => {
                self.add_part(holder, object, Part::Member, |_| true)?;
                self.add_others(holder, Part::Member, all_others(object))
            }
            NumberKind::Array | NumberKind::TypedArray => {
                self.add_part(holder, object, Part::Element, |_| true)?;
                let others = all_others(object);
                self.add_others(holder, Part::Element, others)?;
                if let Some(held_by) = self.holders.held_by(holder).filter(|_| others > 0) {
                    *families.with_others.entry(held_by).or_default() += 1;
                    for index in object.slots.iter().filter_map(|slot| slot.name.parse().ok()) {
                        if index < MOST_INDEX {
                            *families.listed.entry((held_by, index)).or_default() += 1;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn add_part(
        &mut self,
        holder: ObjectIndex,
        object: &NumberObject,
        part: Part,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<()> {
        for slot in object.slots.iter().filter(|slot| is_wanted(&slot.name)) {
            let index = slot.name.parse().ok().filter(|_| part == Part::Element);
            let name = match part {
                Part::Element => SlotName::Label(WideLabel::element(index.unwrap_or(u32::MAX))),
                Part::Key => SlotName::Key,
                Part::Value => SlotName::Value(slot.key.clone()),
                Part::Member => SlotName::Member,
            };
            let groups = self.groups_of_part(holder, part, index)?;
            self.add(holder, name, slot.value as f64, groups)?;
        }
        Ok(())
    }

    /// Counts numbers of which only their number is known. Each counts as another value that is no address.
    fn add_others(&mut self, holder: ObjectIndex, part: Part, others: u64) -> Result<()> {
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
        let group = self.group(GroupKey::Wrapper(class_slot), is_exact)?;
        for slot in &object.slots {
            let groups = [group, NO_GROUP, NO_GROUP];
            self.add(holder, SlotName::Wrapped, slot.value as f64, groups)?;
        }
        self.add_to_group(group, all_others(object));
        Ok(())
    }

    fn add_variables(&mut self, holder: ObjectIndex, object: &NumberObject) -> Result<()> {
        let place = || object.loc.clone().ok_or(object.id);
        for slot in &object.slots {
            let group = self.group(GroupKey::Variable(place(), slot.name.clone()), false)?;
            let name = SlotName::Variable(slot.name.clone());
            let groups = [group, NO_GROUP, NO_GROUP];
            self.add(holder, name, slot.value as f64, groups)?;
        }
        for (name, &others) in &object.other {
            let group = self.group(GroupKey::Variable(place(), name.clone()), false)?;
            self.add_to_group(group, others);
        }
        Ok(())
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

    /// An array that has other numbers, and none that may be an address at an index, may have another one there.
    fn count_families(&mut self, families: &Families) -> Result<()> {
        let keys = self.keys.iter();
        let misses = keys.filter_map(|(key, &group)| match key {
            GroupKey::HeldAt(held_by, index) => {
                let all = families.with_others.get(held_by).copied().unwrap_or(0);
                let listed = families.listed.get(&(*held_by, *index)).copied();
                Some((group, all.saturating_sub(listed.unwrap_or(0))))
            }
            _ => None,
        });
        let misses: Vec<(u32, u64)> = misses.collect();
        for (group, misses) in misses {
            self.add_to_group(group, misses);
        }
        Ok(())
    }

    /// Counts the different values of each group.
    fn finish(mut self, step: &Step<'_>) -> Result<Slots> {
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

fn all_others(object: &NumberObject) -> u64 {
    object.other.values().fold(0, |sum, &count| sum.saturating_add(count))
}
