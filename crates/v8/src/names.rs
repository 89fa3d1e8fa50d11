//! The names in a snapshot, which questions need in addition to the numbers.

use std::collections::HashMap;

use memchr::memmem::Finder;

use super::classes::PlainObjects;
use super::other_edges::{NamedEdge, OtherEdges};
use super::raw::{EdgeKind, NodeKind};
use super::strings::{SnapshotStrings, code_units};
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{
    AllocationLines, ClassOrigin, DominatorTree, EdgeLabel, Edges, Heap, HeapClass, LabelKind,
    NameKind, ObjectTable, PropertyClass, live_classes,
};

/// The names in a snapshot, and what it says of each object beyond its class and size.
#[derive(Debug, Default)]
pub(crate) struct SnapshotNames {
    pub(super) strings: SnapshotStrings,
    pub(super) other_edges: OtherEdges,
    /// Per object: the number of its name.
    pub(super) names: Vec<u32>,
    /// Per object: the number of its type.
    pub(super) types: Vec<u8>,
    pub(super) kinds: Vec<NodeKind>,
    pub(super) distances: Vec<i32>,
    /// Per object: whether it is detached from the document; empty if the snapshot does not say so.
    pub(super) is_detached: Vec<bool>,
    pub(super) plain: PlainObjects,
    pub(super) interfaces: Vec<PropertyClass>,
    /// The global objects, ascending.
    pub(super) globals: Vec<ObjectIndex>,
    /// By number of a script: the number of its name.
    pub(super) scripts: HashMap<u32, u32>,
    /// Where objects were allocated, if V8 recorded it.
    pub(super) allocations: Option<AllocationLines>,
}

/// The largest number of code units of a string that is put together.
const MOST_UNITS: usize = 1 << 10;
/// The most bytes that a code unit takes.
const UNIT_BYTES: usize = 3;
/// The largest number of parts of a string that are visited for that.
const MOST_PARTS: usize = 1 << 16;

/// A string that was put together.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// Its contents from its start on, as WTF-8.
    pub(crate) contents: Vec<u8>,
    /// Whether these are all.
    pub(crate) is_whole: bool,
    /// Whether a part of it is a slice.
    has_slice: bool,
}

impl SnapshotNames {
    pub(crate) fn memory_size(&self) -> u64 {
        let allocations = self.allocations.as_ref();
        let words = self.names.capacity()
            + self.distances.capacity()
            + allocations.map_or(0, |allocations| allocations.line_of.capacity());
        let bytes = self.types.capacity() + self.is_detached.capacity();
        self.strings.memory_size()
            + self.scripts.capacity() as u64 * 8
            + (words * 4 + bytes) as u64
            + self.plain.memory_size()
            + self.other_edges.memory_size()
    }

    /// The name of a script.
    pub(crate) fn script(&self, number: u32) -> Option<String> {
        let &name = self.scripts.get(&number)?;
        Some(self.strings.text(name).into_owned())
    }

    /// The heap with the classes that plain objects have by the interfaces of another snapshot: what a comparison
    /// reads of it.
    pub(crate) fn classified_as(
        &self,
        heap: &Heap,
        later: &[PropertyClass],
        control: &Control,
    ) -> Result<Heap> {
        let step = control.begin(Phase::View, 1);
        let mut objects = ObjectTable {
            addresses: heap.objects.addresses.copied()?,
            class_slots: columns::collected(heap.objects.class_slots.iter().copied())?,
            shallow_sizes: columns::collected(heap.objects.shallow_sizes.iter().copied())?,
            huge_sizes: heap.objects.huge_sizes.clone(),
            classes: heap
                .objects
                .classes
                .iter()
                .map(|class| HeapClass {
                    count: 0,
                    ..class.clone()
                })
                .collect(),
            ..ObjectTable::default()
        };
        if self.interfaces != later {
            let matches = self.plain.matches(&self.strings, later, &step)?;
            let mut slots: HashMap<(Option<u32>, Option<ClassOrigin>), u32> = HashMap::new();
            for (&object, &interface) in self.plain.nodes.iter().zip(&matches) {
                let Some(slot) = objects.class_slots.get_mut(object as usize) else {
                    continue;
                };
                let origin = objects.classes[*slot as usize].origin;
                *slot = *slots.entry((interface, origin)).or_insert_with(|| {
                    let name = interface.map_or("Object", |nth| &later[nth as usize].name);
                    let id = objects.classes.len() as u32;
                    objects.classes.push(HeapClass {
                        name: name.to_owned(),
                        origin,
                        evidence: None,
                        count: 0,
                    });
                    id
                });
            }
        }
        let mut earlier = Heap {
            total_size: heap.total_size,
            live_size: heap.live_size,
            outside_size: heap.outside_size,
            objects,
            edges: Edges::default(),
            roots: Vec::new(),
            dominators: DominatorTree::default(),
            retained_sizes: columns::collected(heap.retained_sizes.iter().copied())?,
            huge_retained_sizes: heap.huge_retained_sizes.clone(),
            live_classes: Vec::new(),
            accounting: None,
            unreferenced: None,
            address_form: heap.address_form,
            root_kinds: heap.root_kinds,
            is_partial: heap.is_partial,
            warnings: Vec::new(),
        };
        earlier.live_classes = live_classes(&earlier);
        Ok(earlier)
    }

    pub(super) fn kind(&self, object: ObjectIndex) -> NodeKind {
        self.kinds[self.types[object.at()] as usize]
    }

    /// The number of references from a root of the page, as DevTools counts them; greater by 100,000,000 for what
    /// only V8 reaches. `None` for what nothing reaches.
    pub(crate) fn distance(&self, object: ObjectIndex) -> Option<u32> {
        u32::try_from(self.distances[object.at()]).ok()
    }

    /// Whether an object is a part of the root, such as `(GC roots)`, or a global object.
    pub(crate) fn is_root_part(&self, object: ObjectIndex) -> bool {
        self.is_synthetic(object) || self.globals.binary_search(&object).is_ok()
    }

    /// Whether an object is a part of the root, such as `(GC roots)`.
    pub(super) fn is_synthetic(&self, object: ObjectIndex) -> bool {
        self.kind(object) == NodeKind::Synthetic
    }

    /// Whether an object is detached from the document.
    pub(super) fn is_detached_node(&self, object: ObjectIndex) -> bool {
        self.is_detached.get(object.at()) == Some(&true)
    }

    /// Whether an object has the variables of a function.
    pub(super) fn is_context(&self, object: ObjectIndex) -> bool {
        let rest = self.raw_name(object).strip_prefix(b"system / Context");
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b" / "))
    }

    /// The name of an object, as V8 wrote it, as WTF-8.
    pub(super) fn raw_name(&self, object: ObjectIndex) -> &[u8] {
        self.strings.bytes(self.names[object.at()])
    }

    /// The value of a number, if the snapshot was written with numbers.
    pub(crate) fn number(&self, edges: &Edges, object: ObjectIndex) -> Option<String> {
        if self.kind(object) != NodeKind::Number {
            return None;
        }
        let value = self.child(edges, object, b"value")?;
        Some(self.string(self.whole_name(value)?.0))
    }

    /// Whether an object is of the host of V8, such as a node of a document.
    pub(super) fn is_native(&self, object: ObjectIndex) -> bool {
        self.kind(object) == NodeKind::Native
    }

    pub(crate) fn is_string(&self, object: ObjectIndex) -> bool {
        self.kind(object).is_string()
    }

    /// The contents of a string, as WTF-8, put together from its parts. Long strings are cut, by V8 or here. In
    /// place of the contents of a slice, which V8 does not write, is the name of its type.
    pub(crate) fn contents(&self, edges: &Edges, object: ObjectIndex) -> Vec<u8> {
        self.join(edges, object, |_, _| false).contents
    }

    /// The same; `None` for a string of which a part is a slice, for one of very many parts, and for another object.
    pub(crate) fn known_contents(&self, edges: &Edges, object: ObjectIndex) -> Option<Vec<u8>> {
        let joined = self
            .is_string(object)
            .then(|| self.join_short(edges, object))?;
        let is_known = joined.is_whole || joined.contents.len() >= MOST_UNITS;
        (is_known && !joined.has_slice).then_some(joined.contents)
    }

    /// The contents of a string that is in one piece, and their number.
    pub(crate) fn whole_name(&self, object: ObjectIndex) -> Option<(u32, &[u8])> {
        let name = self.names[object.at()];
        (self.kind(object) == NodeKind::String).then(|| (name, self.strings.bytes(name)))
    }

    /// The parts of a concatenated string; `None` if one of the two is empty, because V8 then has the contents in
    /// the other, and if the contents of a part are not in the snapshot.
    pub(crate) fn joined(&self, edges: &Edges, object: ObjectIndex) -> Option<Joined> {
        let is_empty = |name: &[u8]| {
            let part = self.child(edges, object, name);
            let whole = part.and_then(|part| self.whole_name(part));
            whole.is_some_and(|(_, contents)| contents.is_empty())
        };
        if is_empty(b"first") || is_empty(b"second") {
            return None;
        }
        let joined = self.join_short(edges, object);
        (!joined.has_slice).then_some(joined)
    }

    /// Puts a string together, unless it has at least [`MOST_UNITS`]. Programs make strings of a million parts piece
    /// by piece, and each piece is a string: following all parts of each would take too long.
    fn join_short(&self, edges: &Edges, object: ObjectIndex) -> Joined {
        // Of the parts to come, one is empty at most.
        let is_long =
            |contents: &[u8], waiting: usize| contents.len() / UNIT_BYTES + waiting > MOST_UNITS;
        self.join(edges, object, is_long)
    }

    /// Puts a string together from its parts, as far as it `is_long` with these contents and parts to come.
    fn join(
        &self,
        edges: &Edges,
        object: ObjectIndex,
        is_long: impl Fn(&[u8], usize) -> bool,
    ) -> Joined {
        let mut joined = Joined::default();
        let mut waiting = vec![object];
        let mut visited = 0;
        while let Some(part) = waiting.pop() {
            visited += 1;
            if joined.contents.len() >= MOST_UNITS * UNIT_BYTES
                || visited > MOST_PARTS
                || is_long(&joined.contents, waiting.len())
            {
                return joined;
            }
            let kind = self.kind(part);
            if kind != NodeKind::ConsString {
                let name = self.names[part.at()];
                joined.has_slice |= kind == NodeKind::SlicedString;
                joined.contents.extend_from_slice(self.strings.bytes(name));
                continue;
            }
            waiting.extend(self.child(edges, part, b"second"));
            waiting.extend(self.child(edges, part, b"first"));
        }
        joined.is_whole = true;
        joined
    }

    /// The target of an internal reference.
    pub(super) fn child(
        &self,
        edges: &Edges,
        object: ObjectIndex,
        name: &[u8],
    ) -> Option<ObjectIndex> {
        let mut positions = edges.range(object);
        let position =
            positions.find(
                |&position| match edges.label(position).map(EdgeLabel::kind) {
                    Some(LabelKind::Named(NameKind::Internal, number)) => {
                        self.strings.bytes(number) == name
                    }
                    _ => false,
                },
            );
        position.map(|position| edges.target(position))
    }

    /// Whether an object is a string that contains this text, which is in UTF-8.
    pub(crate) fn contains(&self, edges: &Edges, object: ObjectIndex, text: &Finder<'_>) -> bool {
        self.is_string(object) && text.find(&self.contents(edges, object)).is_some()
    }

    /// The code units of a string.
    pub(crate) fn units(&self, edges: &Edges, object: ObjectIndex) -> Vec<u16> {
        code_units(&self.contents(edges, object)).collect()
    }

    /// The name of an object, as V8 wrote it.
    pub(crate) fn name(&self, object: ObjectIndex) -> String {
        let name = self.strings.text(self.names[object.at()]);
        match self.is_detached.get(object.at()) {
            Some(true) => format!("Detached {name}"),
            _ => name.into_owned(),
        }
    }

    /// The references of an object that keep nothing alive.
    pub(crate) fn other_edges_of(&self, source: ObjectIndex) -> impl Iterator<Item = NamedEdge> {
        self.other_edges.of(source)
    }

    /// The references to an object that do not keep it alive.
    pub(crate) fn other_edges_to(
        &self,
        target: ObjectIndex,
    ) -> impl Iterator<Item = (usize, NamedEdge)> {
        self.other_edges.to(target)
    }

    /// The name of a reference that keeps nothing alive, as DevTools shows it.
    pub(crate) fn other_label(&self, edge: NamedEdge) -> String {
        let text = match (edge.label.index(), edge.label.label().kind()) {
            (Some(index), _) => index.to_string(),
            (None, LabelKind::Named(kind, name)) => match edge.kind {
                EdgeKind::Weak | EdgeKind::Shortcut => self.string(name),
                _ => return self.label(kind, name),
            },
            (None, _) => String::new(),
        };
        match edge.kind {
            EdgeKind::Weak => format!("[[{text}]]"),
            EdgeKind::Element => format!("[{text}]"),
            EdgeKind::Shortcut if edge.label.index().is_some() => format!("[{text}]"),
            EdgeKind::Shortcut => text,
            _ => format!("{{{text}}}"),
        }
    }

    /// The reference of this number.
    pub(crate) fn other_edge(&self, number: usize) -> NamedEdge {
        self.other_edges.at(number)
    }

    pub(super) fn string(&self, number: u32) -> String {
        self.strings.text(number).into_owned()
    }

    /// The name of a reference as DevTools shows it, without an index.
    pub(crate) fn label(&self, kind: NameKind, name: u32) -> String {
        let name = self.strings.text(name);
        match kind {
            NameKind::Property if name.contains(' ') || name.is_empty() => format!("[{name:?}]"),
            NameKind::Property => name.into_owned(),
            NameKind::Context => format!("->{name}"),
            NameKind::Internal => format!("{{{name}}}"),
        }
    }

    /// Whether an internal reference leads to the contents of its holder.
    pub(crate) fn is_own_storage(&self, label: EdgeLabel) -> bool {
        const STORAGE: [&[u8]; 5] = [
            b"elements",
            b"table",
            b"properties",
            b"backing_store",
            b"internal_hash",
        ];
        match label.kind() {
            LabelKind::Named(NameKind::Internal, name) => {
                STORAGE.contains(&self.strings.bytes(name))
            }
            _ => false,
        }
    }
}
