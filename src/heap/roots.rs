//! The objects that the collector starts from.

use super::edges::Edges;
use super::objects::ObjectTable;
use crate::columns;
use crate::error::Result;
use crate::mismatch::Mismatch;
use crate::runtime::Runtime;
use crate::runtime::objects::{ObjectHeader, block_of};
use crate::runtime::roots::{Certainty, RootKind, StaticRoots, stack_words};
use crate::units::{Address, ObjectIndex};
use crate::warning::Warning;

/// What is found at the places that the collector starts from.
pub(super) struct FoundRoots {
    /// The objects, ascending, each with its first kind.
    pub(super) roots: Vec<(ObjectIndex, RootKind)>,
    /// A place that must hold an object and does not.
    pub(super) mismatch: Option<Mismatch>,
}

/// Looks at every place. If the heap was read only in part, a missing object proves nothing.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub(super) fn find_roots(
    runtime: &Runtime<'_>,
    objects: &ObjectTable,
    edges: &Edges,
    is_partial: bool,
    warnings: &mut Vec<Warning>,
) -> Result<FoundRoots> {
    let dump = &runtime.dump;
    let mut mismatch = None;
    let mut roots = Vec::new();
    for global in &runtime.globals.roots {
        let is_possible = global.certainty == Certainty::Possible;
        let name = || global.name.clone();
        let Some(value) = global.value else {
            // Without any values the one warning about that says it all.
            if !dump.globals.is_empty() && !is_possible {
                warnings.push(Warning::GlobalUnknown { name: name() });
            }
            continue;
        };
        if let Some(object) = objects.index.get(value) {
            roots.push((object, RootKind::Global));
        } else if value.0 != 0 && !is_possible && !is_partial {
            match global.certainty {
                Certainty::Visited => {
                    mismatch.get_or_insert_with(|| Mismatch::Root {
                        name: name(),
                        value,
                    });
                }
                _ => warnings.push(Warning::GlobalNotAnObject {
                    name: name(),
                    value,
                }),
            }
        }
    }
    if runtime.globals.static_roots != StaticRoots::Known {
        add_static_roots(runtime, objects, edges, &mut roots)?;
    }
    let on_stack = stack_words(dump).filter_map(|word| objects.index.get(Address(word)));
    for object in on_stack {
        columns::push(&mut roots, (object, RootKind::Stack))?;
    }
    columns::reserve(&mut roots, objects.pinned.len())?;
    let pinned = objects.pinned.iter();
    roots.extend(pinned.map(|&object| (object, RootKind::Pinned)));
    roots.sort_unstable();
    roots.dedup_by_key(|&mut (object, _)| object);
    Ok(FoundRoots { roots, mismatch })
}

/// Adds the static objects that may be roots. The collector links what it reaches into its lists, and what it does
/// not reach it takes out of them: after a first collection, a root is linked. Before it, none is, and
/// those count that refer to objects on the heap.
fn add_static_roots(
    runtime: &Runtime<'_>,
    objects: &ObjectTable,
    edges: &Edges,
    roots: &mut Vec<(ObjectIndex, RootKind)>,
) -> Result<()> {
    let memory = runtime.dump.memory;
    let is_linked = |&object: &ObjectIndex| {
        let block = block_of(Address(objects.addresses[object.at()]));
        let header = block.and_then(|block| ObjectHeader::read(memory, block));
        header.is_some_and(|header| !header.is_unlinked())
    };
    let is_on_heap = |&target: &ObjectIndex| objects.is_on_heap(target);
    let static_objects = (0..objects.len() as u32).map(ObjectIndex);
    let static_objects = static_objects.take_while(|&object| !objects.is_on_heap(object));
    let was_collected = static_objects.clone().any(|object| is_linked(&object));
    for object in static_objects {
        let may_be_root = match was_collected {
            true => is_linked(&object),
            false => edges.targets(object).iter().any(is_on_heap),
        };
        if may_be_root {
            columns::push(roots, (object, RootKind::Global))?;
        }
    }
    Ok(())
}
