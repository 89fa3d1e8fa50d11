//! What the host of a heap says of single objects, where there is one.

use base::units::ObjectIndex;
use heap::OtherEdge;

use crate::LoadedHeap;

/// Whether a program cannot release an object, because it is a part of the root.
pub(crate) fn is_root_part(loaded: &LoadedHeap, object: ObjectIndex) -> bool {
    let names = loaded.source.host_names();
    names.is_some_and(|names| names.is_root_part(object))
}

/// The number of references from a root, if the input says it.
pub(crate) fn distance(loaded: &LoadedHeap, object: ObjectIndex) -> Option<u32> {
    loaded.source.host_names()?.distance(object)
}

/// The label of a reference that keeps nothing alive.
pub(crate) fn other_label(loaded: &LoadedHeap, edge: OtherEdge) -> Option<String> {
    loaded.source.host_names()?.other_label(edge)
}
