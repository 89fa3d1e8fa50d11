//! The search of the live objects, in the order that suits the heap.

use super::broad_search::BroadTree;
use super::edges::Edges;
use super::search::SpanningTree;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

/// Of fewer objects, most of what a search needs stays in the caches.
const LEAST_OBJECTS: usize = 1 << 18;
/// The number of references that are looked at.
const SAMPLES: usize = 1 << 10;
/// The greatest distance of near objects.
const NEAR: u32 = 1 << 15;
/// The number of objects whose numbers are in one cache line.
const IN_LINE: u32 = 16;

/// The order in which live objects are searched. Questions show some objects that are equal otherwise in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Depth-first.
    Deep,
    /// Breadth-first where this is faster, for heaps whose views do not depend on the order.
    Any,
}

/// What was found by a search from the roots.
pub(super) enum LiveSearch {
    /// Depth-first, which is mostly in the order of memory.
    Deep(SpanningTree),
    /// Breadth-first, if references lead to any place of the memory.
    Broad(BroadTree),
}

impl LiveSearch {
    /// Searches all objects that these roots reach.
    pub(super) fn run(
        edges: &Edges,
        roots: &[ObjectIndex],
        order: SearchOrder,
        control: &Control,
    ) -> Result<Self> {
        let step = control.begin(Phase::Search, edges.object_count() as u64);
        if order == SearchOrder::Any
            && edges.object_count() >= LEAST_OBJECTS
            && is_scattered(edges)
            && let Some(tree) = BroadTree::run(edges, roots, &step)?
        {
            return Ok(Self::Broad(tree));
        }
        SpanningTree::run(edges, roots, &step).map(Self::Deep)
    }

    /// The objects that were reached, in the order of the search.
    pub(super) fn reached(&self) -> &[ObjectIndex] {
        match self {
            Self::Deep(tree) => &tree.preorder,
            Self::Broad(tree) => &tree.order,
        }
    }
}

/// Whether a quarter of the references leads away, each to another place: neither near the object that has it, nor
/// near the target of the reference before it.
fn is_scattered(edges: &Edges) -> bool {
    let count = edges.len() as u64;
    let mut lines = Vec::with_capacity(SAMPLES);
    // Spread evenly, but not in steps of equal length, which the shape of a heap may repeat.
    let samples = (0..SAMPLES as u64).map(|nth| nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32);
    for position in samples.map(|sample| ((sample * count) >> 32) as u32) {
        let Some(target) = edges.get_target(position) else {
            continue;
        };
        let source = edges.source(position);
        let before = position.checked_sub(1).and_then(|at| edges.get_target(at));
        let neighbours = [Some(source), before];
        let is_near = |other: ObjectIndex| other.0.abs_diff(target.0) <= NEAR;
        if !neighbours.into_iter().flatten().any(is_near) {
            lines.push(target.0 / IN_LINE);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    lines.len() > SAMPLES / 4
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    const COUNT: u32 = LEAST_OBJECTS as u32;

    /// Another number below `COUNT` for each such number: that of the next is at another place.
    fn scattered(nth: u32) -> ObjectIndex {
        let mixed = (0..2).fold(nth % COUNT, |mixed, _| {
            let product = mixed.wrapping_mul(0x9e37_79b1) % COUNT;
            product ^ product >> 9
        });
        ObjectIndex(mixed)
    }

    fn is_broad(edges: &Edges, root: ObjectIndex) -> bool {
        let control = Control::default();
        let search = LiveSearch::run(edges, &[root], SearchOrder::Any, &control).unwrap();
        assert_eq!(search.reached().len(), edges.object_count());
        matches!(search, LiveSearch::Broad(_))
    }

    fn of_columns(targets: Vec<ObjectIndex>, lengths: impl Iterator<Item = u32>) -> Edges {
        let mut end = 0;
        let ends = lengths.map(|length| {
            end += length;
            end
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        Edges::with_narrow_labels(offsets, targets, Vec::new())
    }

    #[test]
    fn objects_side_by_side_at_places_far_from_each_other_are_searched_breadth_first() {
        // The first object refers to all others in turn, in the order of memory or in another one.
        let rest = || std::iter::repeat_n(0, COUNT as usize - 1);
        let lengths = || std::iter::once(COUNT).chain(rest());
        let [near, far] = [ObjectIndex, scattered].map(|place: fn(u32) -> ObjectIndex| {
            of_columns((0..COUNT).map(place).collect(), lengths())
        });
        assert!(!is_broad(&near, ObjectIndex(0)));
        assert!(is_broad(&far, ObjectIndex(0)));
    }

    #[test]
    fn a_list_at_places_far_from_each_other_is_searched_depth_first() {
        let mut targets = vec![ObjectIndex(0); COUNT as usize];
        for nth in 0..COUNT {
            targets[scattered(nth).at()] = scattered(nth + 1);
        }
        let edges = of_columns(targets, std::iter::repeat_n(1, COUNT as usize));
        assert!(is_scattered(&edges));
        assert!(!is_broad(&edges, ObjectIndex(0)));
    }
}
