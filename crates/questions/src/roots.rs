//! Roots, named.

use super::LoadedHeap;
use super::answer::Root;
use heap::{RootOrigin, RootSlot};

pub(super) fn named_root(loaded: &LoadedHeap, slot: RootSlot) -> Root {
    let address = || {
        let is_static = loaded.heap.objects.is_static(slot.object);
        is_static.then(|| loaded.heap.address(slot.object).to_string())
    };
    Root {
        kind: slot.kind,
        name: loaded.roots.name(slot).or_else(address),
    }
}

/// The root of all paths of this origin. For the stack it has no name, because stack words move.
pub fn origin_root(loaded: &LoadedHeap, origin: RootOrigin) -> Root {
    let name = match origin {
        RootOrigin::Global(number) | RootOrigin::System(number) => {
            loaded.roots.global_name(number).map(str::to_owned)
        }
        RootOrigin::Static(object) => Some(loaded.heap.address(object).to_string()),
        RootOrigin::Stack | RootOrigin::Pinned => None,
    };
    Root {
        kind: origin.kind(),
        name,
    }
}
