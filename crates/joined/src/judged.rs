//! Which slots hold a pinned object, and which may only look like it.

use crate::chance::derived;
use crate::slots::{Group, NumberSlots, SlotName};
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EvidenceKind, HolderEvidence};

/// A slot of JavaScript that holds an object of the memory.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    /// The object of the snapshot.
    pub(crate) holder: ObjectIndex,
    /// The object of the memory.
    pub(crate) target: ObjectIndex,
    pub(crate) name: SlotName,
    pub(crate) evidence: HolderEvidence,
}

/// A slot that may hold an object of the memory.
#[derive(Clone, Debug)]
pub(crate) struct Possible {
    /// The object of the memory.
    pub(crate) target: ObjectIndex,
    /// The object of the snapshot.
    pub(crate) holder: ObjectIndex,
    pub(crate) name: SlotName,
    pub(crate) hits: u64,
    pub(crate) values: u64,
}

/// All slots, judged.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// By holder.
    pub(crate) handles: Vec<Handle>,
    /// By target.
    pub(crate) possible: Vec<Possible>,
}

/// Judges each slot by the best of its groups. `density` is the part of all addresses that are those of pinned objects.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory).
pub(crate) fn judge(slots: &mut NumberSlots, density: f64) -> Result<Judged> {
    let mut judged = Judged::default();
    for slot in std::mem::take(&mut slots.slots) {
        let evidence = slots
            .groups(&slot)
            .find_map(|group| evidence_of(group, density));
        if let Some(evidence) = evidence {
            let handle = Handle {
                holder: slot.holder,
                target: slot.target,
                name: slot.name,
                evidence,
            };
            columns::push(&mut judged.handles, handle)?;
            continue;
        }
        // The one of its container, or of its property.
        let count = slots.groups(&slot).next().unwrap_or_default().count;
        let possible = Possible {
            target: slot.target,
            holder: slot.holder,
            name: slot.name,
            hits: count.hits,
            values: count.values,
        };
        columns::push(&mut judged.possible, possible)?;
    }
    // Stable, so that the slots of an object stay in their order.
    judged.handles.sort_by_key(|handle| handle.holder);
    judged
        .possible
        .sort_by_key(|slot| (slot.target, slot.holder));
    Ok(judged)
}

fn evidence_of(group: Group, density: f64) -> Option<HolderEvidence> {
    if group.is_exact {
        return Some(HolderEvidence {
            kind: EvidenceKind::Exact,
            hits: group.count.hits,
            values: group.count.values,
        });
    }
    derived(group.count, density)
}
