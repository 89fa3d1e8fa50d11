//! What a join with the heap of a WebAssembly program reads of a snapshot: numbers, names, and single references.

use std::borrow::Cow;

use super::graph::WEAK_MAP_VALUE;
use super::names::SnapshotNames;
use super::raw::NodeKind;
use super::strings::text;
use base::units::ObjectIndex;
use heap::{EdgeLabel, Heap, LabelKind, NameKind, WideLabel};

/// A snapshot, for a join.
#[derive(Clone, Copy)]
pub struct HostView<'s> {
    heap: &'s Heap,
    names: &'s SnapshotNames,
}

impl<'s> HostView<'s> {
    pub(super) fn new(heap: &'s Heap, names: &'s SnapshotNames) -> Self {
        Self { heap, names }
    }

    /// Whether an object stands for a number, of which the snapshot may have the value.
    pub fn is_number(self, object: ObjectIndex) -> bool {
        self.names.kind(object) == NodeKind::Number
    }

    /// The value of a number, if the snapshot was written with numbers.
    pub fn number(self, object: ObjectIndex) -> Option<f64> {
        self.names.number(&self.heap.edges, object)?.parse().ok()
    }

    /// Whether an object is one of the program: no code, no string, no part of V8.
    pub fn is_object(self, object: ObjectIndex) -> bool {
        matches!(
            self.names.kind(object),
            NodeKind::Object | NodeKind::Closure
        )
    }

    /// Whether an object has the variables of a function.
    pub fn is_context(self, object: ObjectIndex) -> bool {
        self.names.is_context(object)
    }

    /// The name of an object, as V8 wrote it.
    pub fn name(self, object: ObjectIndex) -> Cow<'s, str> {
        text(self.names.raw_name(object))
    }

    /// The name that a label has, if it is that of a property or of a variable.
    pub fn name_of_label(self, label: EdgeLabel) -> Option<Cow<'s, str>> {
        match label.kind() {
            LabelKind::Named(NameKind::Property | NameKind::Context, name) => {
                Some(text(self.names.strings.bytes(name)))
            }
            _ => None,
        }
    }

    /// The object that a property or a variable of an object has for its value.
    pub fn property(self, object: ObjectIndex, name: &str) -> Option<ObjectIndex> {
        self.find(object, |kind, label| {
            kind != NameKind::Internal && label == name.as_bytes()
        })
    }

    /// The target of a reference that only V8 sees.
    pub fn internal(self, object: ObjectIndex, name: &str) -> Option<ObjectIndex> {
        self.names.child(&self.heap.edges, object, name.as_bytes())
    }

    /// The references that DevTools leaves out although they keep their targets alive: from V8's own objects to objects
    /// of the page.
    pub fn left_out(self) -> impl Iterator<Item = (ObjectIndex, ObjectIndex, WideLabel)> + 's {
        let names = self.names;
        let is_value_of_weak_map = move |label: WideLabel| match label.label().kind() {
            LabelKind::Named(NameKind::Internal, name) => {
                names.strings.bytes(name) == WEAK_MAP_VALUE
            }
            _ => false,
        };
        let edges = names.other_edges.all();
        edges
            .filter(move |edge| edge.is_strong() && !is_value_of_weak_map(edge.label))
            .map(|edge| (edge.source, edge.target, edge.label))
    }

    fn find(
        self,
        object: ObjectIndex,
        is_wanted: impl Fn(NameKind, &[u8]) -> bool,
    ) -> Option<ObjectIndex> {
        let edges = &self.heap.edges;
        let mut positions = edges.range(object);
        let position =
            positions.find(
                |&position| match edges.label(position).map(EdgeLabel::kind) {
                    Some(LabelKind::Named(kind, name)) => {
                        is_wanted(kind, self.names.strings.bytes(name))
                    }
                    _ => false,
                },
            );
        position.map(|position| edges.target(position))
    }
}
