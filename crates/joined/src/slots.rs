//! The slots of JavaScript that have numbers: those that the snapshot shows, and those of the file of numbers.

use std::collections::HashMap;

use crate::chance::{GROUPS_OF_SLOT, GroupCount};
use crate::collector::{EMBIND, SlotCollector};
use crate::holders::Holders;
use crate::numbers::{NumberObject, Numbers};
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::{Heap, LabelKind, NameKind, WideLabel};
use v8::HostView;

/// An object with fewer numbers cannot be judged alone.
const LEAST_OF_MAP: usize = 4;
/// Stands for no group.
pub(crate) const NO_GROUP: u32 = u32::MAX;
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

/// What is known of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// How many of its values are addresses.
    pub(crate) count: GroupCount,
    /// Whether generated code is known to keep addresses there.
    pub(crate) is_exact: bool,
    /// The number of values of which only the number is known.
    pub(crate) others: u64,
}

/// A slot whose number is the address of a pinned object.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// The object of the snapshot that has it.
    pub(crate) holder: ObjectIndex,
    /// The object of the memory.
    pub(crate) target: ObjectIndex,
    pub(crate) name: SlotName,
    pub(crate) groups: SlotGroups,
}

/// The numbers of the groups of a slot: its container, all that one slot holds, its index in these, and its index modulo
/// each step. [`NO_GROUP`] stands for none.
pub(crate) type SlotGroups = [u32; GROUPS_OF_SLOT];

/// The slots, and their groups.
#[derive(Default)]
pub(crate) struct Slots {
    /// Those with the address of a pinned object.
    pub(crate) slots: Vec<Slot>,
    pub(crate) groups: Vec<Group>,
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
pub(crate) struct SeenSlot {
    pub(crate) holder: ObjectIndex,
    pub(crate) label: WideLabel,
    pub(crate) value: f64,
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
    let mut collector = SlotCollector::new(sides, &holders);
    // The slots of an object are beside each other.
    for slots in seen.chunk_by(|one, next| one.holder == next.holder) {
        let is_map = slots.len() >= LEAST_OF_MAP;
        for slot in slots {
            collector.add_seen(slot, is_map)?;
        }
    }
    for &(holder, object) in &containers {
        step.advance(0)?;
        collector.add_object(holder, object)?;
    }
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
            let label = js
                .edges
                .wide_label(position)
                .unwrap_or(WideLabel::hidden(0));
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
