//! The references that keep nothing alive: weak ones, and those that DevTools leaves out of retained sizes. They are
//! shown with an object, and are not part of the graph.

use super::raw::EdgeKind;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
pub use heap::WideLabel;

/// The references, by source, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct OtherEdges {
    sources: Vec<ObjectIndex>,
    targets: Vec<ObjectIndex>,
    kinds: Vec<EdgeKind>,
    labels: Vec<WideLabel>,
}

/// A reference that keeps nothing alive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedEdge {
    pub(crate) source: ObjectIndex,
    pub(crate) target: ObjectIndex,
    pub(super) kind: EdgeKind,
    pub(crate) label: WideLabel,
}

impl OtherEdges {
    /// Adds a reference. Sources ascend.
    pub(super) fn push(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        kind: EdgeKind,
        label: WideLabel,
    ) -> Result<()> {
        // DevTools shows these nowhere.
        if kind == EdgeKind::Invisible {
            return Ok(());
        }
        columns::push(&mut self.sources, source)?;
        columns::push(&mut self.targets, target)?;
        columns::push(&mut self.kinds, kind)?;
        columns::push(&mut self.labels, label)
    }

    pub(super) fn shrink(&mut self) {
        self.sources.shrink_to_fit();
        self.targets.shrink_to_fit();
        self.kinds.shrink_to_fit();
        self.labels.shrink_to_fit();
    }

    pub(super) fn memory_size(&self) -> u64 {
        let one = 2 * size_of::<ObjectIndex>() + size_of::<EdgeKind>() + size_of::<WideLabel>();
        (self.sources.capacity() * one) as u64
    }

    pub(super) fn at(&self, nth: usize) -> NamedEdge {
        NamedEdge {
            source: self.sources[nth],
            target: self.targets[nth],
            kind: self.kinds[nth],
            label: self.labels[nth],
        }
    }

    /// All references.
    pub(crate) fn all(&self) -> impl Iterator<Item = NamedEdge> {
        (0..self.sources.len()).map(|nth| self.at(nth))
    }

    /// The references of an object.
    pub(crate) fn of(&self, source: ObjectIndex) -> impl Iterator<Item = NamedEdge> {
        let first = self.sources.partition_point(|&other| other < source);
        let end = self.sources.partition_point(|&other| other <= source);
        (first..end).map(|nth| self.at(nth))
    }

    /// The references to an object, by source, each with its number.
    pub(super) fn to(&self, target: ObjectIndex) -> impl Iterator<Item = (usize, NamedEdge)> {
        let positions = self.targets.iter().enumerate();
        positions
            .filter(move |&(_, &other)| other == target)
            .map(|(nth, _)| (nth, self.at(nth)))
    }
}

impl NamedEdge {
    pub(crate) fn is_weak(self) -> bool {
        self.kind == EdgeKind::Weak
    }

    /// Whether it keeps its target alive, as V8 sees it.
    pub(crate) fn is_strong(self) -> bool {
        matches!(
            self.kind,
            EdgeKind::Context
                | EdgeKind::Element
                | EdgeKind::Property
                | EdgeKind::Internal
                | EdgeKind::Hidden
        )
    }

    /// The type of the reference, as V8 names it.
    pub(crate) fn type_name(self) -> &'static str {
        match self.kind {
            EdgeKind::Context => "context",
            EdgeKind::Element => "element",
            EdgeKind::Property => "property",
            EdgeKind::Internal => "internal",
            EdgeKind::Hidden => "hidden",
            EdgeKind::Shortcut => "shortcut",
            EdgeKind::Weak => "weak",
            EdgeKind::Invisible => "invisible",
        }
    }
}
