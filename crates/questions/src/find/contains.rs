//! The objects that contain something: strings a text, containers a key or a value.

use crate::glob::{self, Glob};
use crate::loaded_heap::LoadedHeap;
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, LabelKind, NameKind};

/// The strings that contain a text, and the containers that have one of them, or an object of the class with this name,
/// as a key or a value.
pub(super) fn containing(loaded: &LoadedHeap, text: &str, control: &Control) -> Result<Bits> {
    let heap = &loaded.heap;
    let count = heap.objects.len();
    let step = control.begin(Phase::View, 2 * count as u64);
    let is_wanted_class = wanted_classes(loaded, text, control)?;
    let mut filter = loaded.source.text_filter(text, control)?;
    let mut found = Bits::new(count)?;
    let mut members = Bits::new(count)?;
    let mut candidates = Vec::new();
    for start in (0..count).step_by(CHECK_INTERVAL) {
        step.advance(CHECK_INTERVAL as u64)?;
        candidates.clear();
        for at in start..count.min(start + CHECK_INTERVAL) {
            let object = ObjectIndex(at as u32);
            if is_wanted_class[heap.objects.class_slots[at] as usize] {
                members.insert(object.0);
            }
            columns::push(&mut candidates, object)?;
        }
        filter.keep(&mut candidates)?;
        for &object in &candidates {
            found.insert(object.0);
            members.insert(object.0);
        }
    }
    for at in 0..count {
        if at.is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let object = ObjectIndex(at as u32);
        if has_member(loaded, object, &members, control)? {
            found.insert(object.0);
        }
    }
    Ok(found)
}

/// By class slot: whether the text is the name of the class, with or without wildcards.
fn wanted_classes(loaded: &LoadedHeap, text: &str, control: &Control) -> Result<Vec<bool>> {
    let classes = &loaded.heap.objects.classes;
    let mut is_wanted = columns::repeated(false, classes.len())?;
    if text.is_empty() {
        return Ok(is_wanted);
    }
    // Every text can be searched: one that is no pattern names no class.
    let Ok(glob) = Glob::new(text) else {
        return Ok(is_wanted);
    };
    let names = || classes.iter().map(|class| class.name.as_str());
    for (is_wanted, name) in is_wanted.iter_mut().zip(names()) {
        control.check()?;
        *is_wanted = glob.matches(name);
    }
    if !is_wanted.contains(&true)
        && let Some(only) = glob::only_short(text, names(), control)?
    {
        for (is_wanted, name) in is_wanted.iter_mut().zip(names()) {
            *is_wanted = name == only;
        }
    }
    Ok(is_wanted)
}

/// Whether an object is a container with one of these members.
fn has_member(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    members: &Bits,
    control: &Control,
) -> Result<bool> {
    let edges = &loaded.heap.edges;
    let slot = loaded.heap.objects.class_slots[object.at()];
    let mut read = 0;
    for position in edges.range(object) {
        read += 1;
        let Some(label) = edges.label(position) else {
            continue;
        };
        let target = edges.target(position);
        if is_entry(label) {
            if members.contains(target.0) {
                return Ok(true);
            }
            continue;
        }
        // The entries of a map or a set of JavaScript are those of its table.
        if !loaded.source.is_own_storage(slot, label) {
            continue;
        }
        for entry in edges.range(target) {
            read += 1;
            let is_in_table = matches!(
                edges.label(entry).map(EdgeLabel::kind),
                Some(LabelKind::Element | LabelKind::Hidden)
            );
            if is_in_table && members.contains(edges.target(entry).0) {
                return Ok(true);
            }
        }
    }
    control.count(read)?;
    Ok(false)
}

/// Whether a reference is an element, a key or a value.
fn is_entry(label: EdgeLabel) -> bool {
    matches!(
        label.kind(),
        LabelKind::Element
            | LabelKind::Key
            | LabelKind::Value
            | LabelKind::Member
            | LabelKind::TupleElement(_)
            | LabelKind::Named(NameKind::Property, _)
    )
}
