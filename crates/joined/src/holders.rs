//! The slot that holds a container: a property of a class, or a place in one other container.

use std::collections::HashMap;

use crate::sides::Sides;
use base::bits::Bits;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, LabelKind, NameKind};

/// What holds a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HeldIn {
    /// A property or a variable of all objects of a class.
    Slot(u32, EdgeLabel),
    /// One other container.
    Inside(ObjectIndex),
}

/// The first reference to an object, those with a name first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct First {
    rank: u32,
    holder: ObjectIndex,
    label: EdgeLabel,
}

/// The holders of some objects.
pub(crate) struct Holders {
    first: HashMap<u32, First>,
    class_slots: HashMap<u32, u32>,
}

impl Holders {
    /// Finds the first reference to each wanted object of the snapshot.
    pub(crate) fn find(sides: Sides<'_>, wanted: &Bits, step: &Step<'_>) -> Result<Self> {
        let js = sides.js;
        let mut found = Self {
            first: HashMap::new(),
            class_slots: HashMap::new(),
        };
        for holder in (0..js.objects.len() as u32).map(ObjectIndex) {
            if holder.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            for position in js.edges.range(holder) {
                let target = js.edges.target(position);
                if !wanted.contains(target.0) || target == holder {
                    continue;
                }
                let label = js.edges.label(position).unwrap_or_default();
                let rank = match label.kind() {
                    LabelKind::Named(NameKind::Property, _) => 0,
                    LabelKind::Named(NameKind::Context, _) => 1,
                    LabelKind::Element => 2,
                    _ => 3,
                };
                let next = First {
                    rank,
                    holder,
                    label,
                };
                let known = found.first.entry(target.0).or_insert(next);
                *known = next.min(*known);
            }
        }
        for first in found.first.values() {
            let slot = js.objects.class_slots[first.holder.at()];
            found.class_slots.insert(first.holder.0, slot);
        }
        Ok(found)
    }

    /// What holds an object.
    pub(crate) fn held_by(&self, object: ObjectIndex) -> Option<HeldIn> {
        let first = self.first.get(&object.0)?;
        Some(match first.label.kind() {
            LabelKind::Named(NameKind::Property | NameKind::Context, _) => {
                HeldIn::Slot(*self.class_slots.get(&first.holder.0)?, first.label)
            }
            _ => HeldIn::Inside(first.holder),
        })
    }

    /// The label of the reference.
    pub(crate) fn label_of(&self, object: ObjectIndex) -> Option<EdgeLabel> {
        Some(self.first.get(&object.0)?.label)
    }

    /// The object that has the reference.
    pub(crate) fn holder_of(&self, object: ObjectIndex) -> Option<ObjectIndex> {
        Some(self.first.get(&object.0)?.holder)
    }
}
