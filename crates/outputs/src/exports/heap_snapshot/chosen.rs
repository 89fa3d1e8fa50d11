//! Which objects and references are written, and the numbers of their nodes.

use rayon::prelude::*;

use super::super::object_set::ObjectSet;
use super::garbage;
use super::options::HeapSnapshotOptions;
use super::schema::FIXED_NODES;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Heap, LabelKind};

/// Which objects and references are written.
pub(super) struct Chosen {
    pub(super) live: ObjectSet,
    /// All objects that are written.
    pub(super) objects: ObjectSet,
    pub(super) object_count: u32,
    /// One garbage object of each group that nothing outside refers to, so that all garbage is reached.
    pub(super) garbage: Option<GarbageEntries>,
    pub(super) reference_count: u64,
    /// The highest offset that is the label of a reference.
    pub(super) last_word: Option<u32>,
}

pub(super) struct GarbageEntries {
    pub(super) entries: ObjectSet,
    pub(super) entry_count: u32,
}

impl Chosen {
    pub(super) fn new(
        heap: &Heap,
        options: HeapSnapshotOptions,
        control: &Control,
    ) -> Result<Self> {
        let count = heap.objects.len();
        let mut live = ObjectSet::of(count, |object| heap.is_live_on_heap(object), control)?;
        // Static objects come first.
        let all = (0..count as u32).map(ObjectIndex);
        let statics = all.take_while(|&object| !heap.objects.is_on_heap(object));
        let end = ObjectIndex(statics.count() as u32);
        let reached = heap.dominators.live().iter().copied();
        for object in reached.filter(|&object| object < end) {
            live.insert(object);
        }
        control.check()?;
        let garbage = if options.all {
            let entries = garbage::entries(heap, &live, control)?;
            Some(GarbageEntries {
                entry_count: entries.iter().count() as u32,
                entries,
            })
        } else {
            None
        };
        let is_chosen =
            |object| live.contains(object) || options.all && heap.objects.is_on_heap(object);
        let mut objects = ObjectSet::of(count, is_chosen, control)?;
        let mut chosen = Self {
            live,
            object_count: objects.number()?,
            objects,
            garbage,
            reference_count: 0,
            last_word: None,
        };
        let written = (0..count as u32)
            .into_par_iter()
            .map(ObjectIndex)
            .filter(|&object| chosen.objects.contains(object));
        let of_objects = written.map(|object| {
            let references = u64::from(chosen.written_references(heap, object));
            (references, last_word(heap, object))
        });
        let (reference_count, last_word) = of_objects.reduce(
            || (0, None),
            |one, other| (one.0 + other.0, one.1.max(other.1)),
        );
        (chosen.reference_count, chosen.last_word) = (reference_count, last_word);
        control.check()?;
        Ok(chosen)
    }

    /// Whether a reference is written. What is garbage keeps nothing alive, so its references to live
    /// objects would make these look as if it did.
    #[inline]
    pub(super) fn is_written(&self, heap: &Heap, source: ObjectIndex, target: ObjectIndex) -> bool {
        self.live.contains(source) || !self.live.contains(target) && heap.objects.is_on_heap(target)
    }

    /// How many references of an object are written.
    #[inline]
    pub(super) fn written_references(&self, heap: &Heap, object: ObjectIndex) -> u32 {
        let range = heap.edges.range(object);
        if self.live.contains(object) {
            return range.len() as u32;
        }
        let targets = heap.edges.targets(object).iter();
        let written = targets.filter(|&&target| self.is_written(heap, object, target));
        written.count() as u32
    }

    /// The work of writing all of it, in units of one object or reference.
    pub(super) fn work(&self) -> u64 {
        2 * u64::from(self.object_count) + self.reference_count
    }

    pub(super) fn fixed_nodes(&self) -> u32 {
        FIXED_NODES + u32::from(self.garbage.is_some())
    }

    /// The number of an object's node.
    #[inline]
    pub(super) fn node(&self, object: ObjectIndex) -> u32 {
        self.fixed_nodes() + self.objects.rank(object)
    }
}

/// The highest offset that is the label of a reference of an object.
fn last_word(heap: &Heap, object: ObjectIndex) -> Option<u32> {
    let labels = heap
        .edges
        .range(object)
        .filter_map(|position| heap.edges.label(position));
    let words = labels.filter_map(|label| match label.kind() {
        LabelKind::Word(offset) => Some(offset),
        _ => None,
    });
    words.max()
}
