//! What all suspects have: a share, an owner, an order and a text.

use std::cmp::Reverse;

use super::answer::{Suspect, Suspects};
use super::text::paragraph;
use crate::loaded_heap::LoadedHeap;
use crate::parts::joined::live_parts;
use crate::parts::labels::after_class;
use crate::parts::roots::named_root;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::LabelKind;

/// Sorts suspects and adds the text of each.
pub(crate) fn finish_suspects(
    loaded: &LoadedHeap,
    threshold: u64,
    mut suspects: Vec<Suspect>,
) -> Result<Suspects> {
    suspects.sort_by(|left, right| {
        let key = |suspect: &Suspect| {
            let before = suspect.retained_size_before.unwrap_or(0);
            let grown = suspect.retained_size.saturating_sub(before);
            Reverse((grown, suspect.count))
        };
        let name = |suspect: &Suspect| (suspect.class_name.clone(), suspect.address);
        key(left)
            .cmp(&key(right))
            .then_with(|| name(left).cmp(&name(right)))
    });
    for suspect in &mut suspects {
        suspect.text = paragraph(suspect, loaded.heap.address_form);
    }
    Ok(Suspects {
        total_live_size: loaded.heap.total_live_size(),
        total_live_parts: live_parts(loaded),
        threshold,
        suspects,
    })
}

pub(crate) fn share_of_live(loaded: &LoadedHeap, size: u64) -> f64 {
    match loaded.heap.total_live_size() {
        0 => 0.0,
        // Four digits are enough, and the same on every machine.
        live => (size as f64 / live as f64 * 1e4).round() / 1e4,
    }
}

/// The field that refers to an object, such as `assembly/server/PriceFeed.listeners`, or the name of its
/// root. `None` if the root has no name.
pub(crate) fn owner_of(
    loaded: &LoadedHeap,
    mut object: ObjectIndex,
    control: &Control,
) -> Result<Option<String>> {
    /// The largest number of nested containers that are named.
    const MOST: usize = 8;
    let tree = loaded.path_tree(control)?;
    let mut inside = String::new();
    for _ in 0..MOST {
        let Some((holder, label)) = tree.parent(object) else {
            let root = loaded.roots.start(object);
            let name = root.and_then(|root| named_root(loaded, root).name);
            return Ok(name.map(|name| name + &inside));
        };
        let slot = loaded.heap.objects.class_slots[holder.at()];
        if !loaded.source.is_own_storage(slot, label) {
            let name = after_class(&loaded.source.class_label(slot, label));
            if name.starts_with('{') {
                // A reference of the engine says nothing of the program.
                object = holder;
                continue;
            }
            match label.kind() {
                LabelKind::Field(_) | LabelKind::Named(..) => {
                    return Ok(Some(format!("{}{name}{inside}", loaded.place_name(holder))));
                }
                _ => inside = format!("{name}{inside}"),
            }
        }
        object = holder;
    }
    Ok(Some(format!("{}{inside}", loaded.place_name(object))))
}
