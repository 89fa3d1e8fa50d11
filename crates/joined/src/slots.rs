//! The slots of JavaScript that have numbers: those that the snapshot shows, and those of the file of numbers.

use crate::chance::{GROUPS_OF_SLOT, GroupCount};
use base::units::ObjectIndex;
use heap::WideLabel;

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
pub(crate) struct CollectedSlot {
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
pub(crate) struct NumberSlots {
    /// Those with the address of a pinned object.
    pub(crate) slots: Vec<CollectedSlot>,
    pub(crate) groups: Vec<Group>,
    /// Whether the snapshot was written with numbers.
    pub(crate) has_numbers: bool,
    /// The objects of the memory that the table of the bindings lists.
    pub(crate) listed: Vec<ObjectIndex>,
}

impl NumberSlots {
    /// The groups of a slot.
    pub(crate) fn groups(&self, slot: &CollectedSlot) -> impl Iterator<Item = Group> {
        let numbers = slot.groups.into_iter().filter(|&group| group != NO_GROUP);
        numbers.map(|group| self.groups[group as usize])
    }
}

/// A slot of the snapshot that refers to a number.
pub(crate) struct SeenSlot {
    pub(crate) holder: ObjectIndex,
    pub(crate) label: WideLabel,
    pub(crate) value: f64,
}
