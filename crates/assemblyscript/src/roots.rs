//! The objects from which the collector starts.

use std::collections::HashMap;

use super::class_slots::DescribedClass;
use crate::runtime::Runtime;
use crate::runtime::objects::{ObjectHeader, block_of};
use crate::runtime::roots::{Certainty, DeclaredGlobal, StaticRoots, stack_words};
use crate::warning::ManagedWarning;
use base::columns;
use base::error::Result;
use base::mismatch::Mismatch;
use base::units::{Address, ObjectIndex};
use base::warning::Warning;
use heap::{Edges, FoundSlots, ObjectTable, RootKind};

/// The objects from which the collector starts.
pub(super) struct FoundRoots {
    /// The objects, ascending, each with its first kind.
    pub(super) roots: Vec<(ObjectIndex, RootKind)>,
    /// A global that must refer to an object, but does not.
    pub(super) mismatch: Option<Mismatch>,
    /// Every root slot that holds an object, if that is wanted.
    pub(super) slots: Option<FoundSlots>,
}

/// The warning for variables that refer to objects of other classes than those that they are declared for. Where
/// the sources disagree about the variables, they prove nothing.
pub(super) fn class_warning(
    runtime: &Runtime<'_>,
    objects: &ObjectTable,
    classes: &[DescribedClass],
) -> Option<Warning> {
    if !runtime.globals.disputed.is_empty() {
        return None;
    }
    let mut names = HashMap::new();
    let mut is_misplaced = |global: &DeclaredGlobal| {
        let object = objects.index.get(global.value)?;
        let class = &classes[objects.class_slots[object.at()] as usize];
        let names = names
            .entry(class.id)
            .or_insert_with(|| runtime.classes.names_of_bases(class.id))
            .as_ref()?;
        Some(class.class.is_certain && !names.contains(&&*global.class_name))
    };
    let globals = runtime.globals.declared.iter();
    let mut misplaced = globals.filter(|global| is_misplaced(global) == Some(true));
    let address = misplaced.next()?.value;
    Some(
        ManagedWarning::HeapInconsistent {
            problem: "variables that refer to an object of another class than the declared one",
            address,
            count: 1 + misplaced.count() as u64,
        }
        .into(),
    )
}

/// Examines every root slot. If only a part of the heap was read, a missing object proves nothing.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory).
pub(super) fn find_roots(
    runtime: &Runtime<'_>,
    objects: &ObjectTable,
    edges: &Edges,
    is_partial: bool,
    wants_slots: bool,
    warnings: &mut Vec<Warning>,
) -> Result<FoundRoots> {
    let dump = &runtime.dump;
    let mut slots = wants_slots.then(FoundSlots::default);
    let mut mismatch = None;
    let mut roots = Vec::new();
    for global in &runtime.globals.roots {
        let is_possible = matches!(
            global.certainty,
            Certainty::Possible | Certainty::Undeclared
        );
        let name = || global.name.clone();
        let Some(value) = global.value else {
            // If the dump has no values, there is one warning for all globals.
            if !dump.globals.is_empty() && !is_possible {
                warnings.push(ManagedWarning::GlobalUnknown { name: name() }.into());
            }
            continue;
        };
        if let Some(object) = objects.index.get(value) {
            roots.push((object, RootKind::Global));
            // A pinned object is a root whether or not a variable holds its address.
            if global.certainty == Certainty::Undeclared
                && objects.pinned.binary_search(&object).is_err()
            {
                warnings.push(ManagedWarning::GlobalUndeclared { name: name() }.into());
            }
            if let Some(slots) = &mut slots {
                slots.add_global(&global.name, object)?;
            }
        } else if value.0 != 0 && !is_possible && !is_partial {
            match global.certainty {
                Certainty::Visited => {
                    mismatch.get_or_insert_with(|| Mismatch::Root {
                        name: name(),
                        value,
                    });
                }
                _ => warnings.push(
                    ManagedWarning::GlobalNotAnObject {
                        name: name(),
                        value,
                    }
                    .into(),
                ),
            }
        }
    }
    if runtime.globals.static_roots != StaticRoots::Known {
        for object in possible_static_roots(runtime, objects, edges)? {
            columns::push(&mut roots, (object, RootKind::Global))?;
            if let Some(slots) = &mut slots {
                slots.add_guess(object)?;
            }
        }
    }
    for (nth, word) in stack_words(dump).enumerate() {
        let Some(object) = objects.index.get(Address(word)) else {
            continue;
        };
        columns::push(&mut roots, (object, RootKind::Stack))?;
        if let Some(slots) = &mut slots {
            slots.add_stack_word(nth, object)?;
        }
    }
    if let Some(slots) = &mut slots {
        for &object in &objects.pinned {
            slots.add_pinned(object)?;
        }
    }
    columns::reserve(&mut roots, objects.pinned.len())?;
    let pinned = objects.pinned.iter();
    roots.extend(pinned.map(|&object| (object, RootKind::Pinned)));
    roots.sort_unstable();
    roots.dedup_by_key(|&mut (object, _)| object);
    Ok(FoundRoots {
        roots,
        mismatch,
        slots,
    })
}

/// The static objects that may be roots. The collector links the objects that it reaches into its lists, and
/// unlinks the others: after the first collection, a root is linked. Before it, no static object is linked,
/// and those that refer to objects on the heap count.
fn possible_static_roots(
    runtime: &Runtime<'_>,
    objects: &ObjectTable,
    edges: &Edges,
) -> Result<Vec<ObjectIndex>> {
    let memory = runtime.dump.memory;
    let is_linked = |&object: &ObjectIndex| {
        let block = block_of(Address(objects.addresses.words()[object.at()]));
        let header = block.and_then(|block| ObjectHeader::read(memory, block));
        header.is_some_and(|header| !header.is_unlinked())
    };
    let is_on_heap = |&target: &ObjectIndex| objects.is_on_heap(target);
    let refers_to_heap = |&object: &ObjectIndex| edges.targets(object).iter().any(is_on_heap);
    let static_objects = (0..objects.len() as u32)
        .map(ObjectIndex)
        .take_while(|&object| !objects.is_on_heap(object));
    let was_collected = static_objects.clone().any(|object| is_linked(&object));
    let mut found = Vec::new();
    for object in static_objects {
        let may_be_root = if was_collected {
            is_linked(&object)
        } else {
            refers_to_heap(&object)
        };
        if may_be_root {
            columns::push(&mut found, object)?;
        }
    }
    Ok(found)
}
