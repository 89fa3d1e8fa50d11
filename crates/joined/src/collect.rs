//! Finds the slots of JavaScript that have numbers.

use std::collections::HashMap;

use crate::collector::{EMBIND, SlotCollector};
use crate::holders::Holders;
use crate::numbers::{NumberObject, Numbers};
use crate::sides::Sides;
use crate::slots::{NumberSlots, SeenSlot};
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::{LabelKind, NameKind, WideLabel};

/// An object with fewer numbers cannot be judged alone.
const LEAST_OF_MAP: usize = 4;
/// Collects all slots.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn collect(
    sides: Sides<'_>,
    numbers: Option<&Numbers>,
    step: &Step<'_>,
) -> Result<NumberSlots> {
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
    let has_numbers = !seen.is_empty();
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
    Ok(NumberSlots {
        has_numbers,
        ..collector.finish(step)?
    })
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
        if name.is_none_or(|name| EMBIND.1.contains(&&*name)) {
            wanted.insert(slot.holder.0);
        }
    }
    Ok(seen)
}
