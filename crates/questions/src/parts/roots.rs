//! Roots, named.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::loaded_heap::LoadedHeap;
use heap::{PATH_STARTS, RootKind, RootOrigin, RootSlot};

/// A place from which the collector starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Root {
    /// Its kind.
    #[serde(serialize_with = "root_kind")]
    pub kind: RootKind,
    /// `assembly/server/prices` for a global variable or static field, the distance from the stack pointer (`+16`)
    /// for a stack word, otherwise null. Of a pinned object in heaps that were joined, what is known of its holders:
    /// `(possible: 3 slots)`.
    pub name: Option<String>,
}

/// The name of a kind of root.
pub fn root_kind_name(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Global => "global",
        RootKind::Stack => "stack",
        RootKind::Pinned => "pinned",
        RootKind::System => "system",
        RootKind::Host => "host",
        RootKind::Unreferenced => "unreferenced",
    }
}

/// A root as the beginning of a path.
pub(crate) fn root_text(kind: RootKind, name: Option<&str>) -> String {
    let kind = root_kind_name(kind);
    match name {
        Some(start) if PATH_STARTS.contains(&start) => start.to_owned(),
        Some(name) => format!("{kind} {name}"),
        None => kind.to_owned(),
    }
}

fn root_kind<S: Serializer>(kind: &RootKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(root_kind_name(*kind))
}

pub(crate) fn named_root(loaded: &LoadedHeap, slot: RootSlot) -> Root {
    let address = || {
        let is_static = loaded.heap.objects.is_static(slot.object);
        is_static.then(|| loaded.heap.address(slot.object).to_string())
    };
    let note = || loaded.source.joined()?.pin_note(slot.object);
    Root {
        kind: slot.kind,
        name: loaded.roots.name(slot).or_else(address).or_else(note),
    }
}

/// The root of all paths of this origin. For the stack it has no name, because stack words move.
pub fn origin_root(loaded: &LoadedHeap, origin: RootOrigin) -> Root {
    let name = match origin {
        RootOrigin::Global(number) | RootOrigin::System(number) | RootOrigin::Host(number) => {
            loaded.roots.global_name(number).map(str::to_owned)
        }
        RootOrigin::Static(object) => Some(loaded.heap.address(object).to_string()),
        RootOrigin::Stack | RootOrigin::Pinned | RootOrigin::Unreferenced => None,
    };
    Root {
        kind: origin.kind(),
        name,
    }
}
