//! The objects of a question about many.

use crate::QuestionError;
use crate::loaded_heap::{LoadedHeap, numbered_anew};
use crate::parts::object_at::object_at;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;

/// These objects, which must be alive.
pub(crate) fn set_of_addresses(
    loaded: &LoadedHeap,
    addresses: &[u64],
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    let index = loaded.dominator_index(control)?;
    let mut set = Vec::new();
    for &address in addresses {
        let object = object_at(loaded, address, notes, control)?;
        if index.position(object).is_none() {
            return Err(QuestionError::InvalidOption {
                name: "objects",
                found: format!("{}, which no root reaches", loaded.heap.address(object)),
                expected: "addresses of live objects",
            }
            .into());
        }
        columns::push(&mut set, object)?;
    }
    Ok(set)
}

/// The live heap objects of the classes whose names match.
pub(crate) fn set_of_class(
    loaded: &LoadedHeap,
    pattern: &str,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    let is_wanted = loaded.class_slots(Some(pattern), control)?;
    live_set(loaded, control, |_, slot| is_wanted[slot])
}

/// The live heap objects that are not in an earlier heap of the same module, of all classes or of those
/// whose names match: the earlier heap has no live object of this class at this address.
pub(crate) fn set_of_new(
    loaded: &LoadedHeap,
    before: &LoadedHeap,
    option: &'static str,
    class: Option<&str>,
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    if [loaded, before]
        .iter()
        .any(|heap| heap.source.facts().is_numbered_anew)
    {
        let [before, loaded] = [before, loaded].map(|heap| heap.dump_name.as_str());
        return Err(numbered_anew(before, loaded));
    }
    if !loaded.is_same_module(before) {
        return Err(QuestionError::InvalidOption {
            name: option,
            found: "a heap of another module".to_owned(),
            expected: "a heap of the same module: addresses in different modules cannot be compared",
        }.into());
    }
    let earlier = &before.heap;
    let is_wanted = loaded.class_slots(class, control)?;
    live_set(loaded, control, |object, slot| {
        if !is_wanted[slot] {
            return false;
        }
        let found = earlier.objects.at(loaded.heap.address(object));
        let name = &loaded.heap.objects.classes[slot].name;
        !found
            .is_some_and(|found| earlier.is_live_on_heap(found) && before.class_name(found) == name)
    })
}

fn live_set(
    loaded: &LoadedHeap,
    control: &Control,
    is_wanted: impl Fn(ObjectIndex, usize) -> bool,
) -> Result<Vec<ObjectIndex>> {
    let heap = &loaded.heap;
    let step = control.begin(Phase::View, heap.objects.len() as u64);
    let mut set = Vec::new();
    for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
        if object.at().is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let slot = heap.objects.class_slots[object.at()] as usize;
        if heap.is_live_on_heap(object) && is_wanted(object, slot) {
            columns::push(&mut set, object)?;
        }
    }
    Ok(set)
}
