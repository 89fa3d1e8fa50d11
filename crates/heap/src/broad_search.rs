//! The breadth-first search over the live graph, for heaps whose objects refer to places that are far from them.
//!
//! A depth-first search has to wait for each object before it knows the next one. Here, the next objects are in a
//! queue, so that the memory of many of them is asked for at the same time.

use super::edges::Edges;
use super::prefetch::prefetch;
use super::search::{ROOT, UNREACHED};
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;

/// How many objects in advance each kind of memory is prefetched. Each is found with the previous one.
const OFFSETS_AHEAD: usize = 24;
const REFERENCES_AHEAD: usize = 16;
const TARGETS_AHEAD: usize = 8;
/// How many targets of one object are prefetched at a time.
const MOST_TARGETS: u32 = 8;
/// With more levels, there is too little to prefetch in each, and dominators are too far above one another.
const MOST_LEVELS: usize = 256;

/// A breadth-first spanning tree of the live graph, in numbers from 1 in the order of the search, and the
/// references that are not in it. Number 0 is the virtual root, which refers to all roots.
pub(super) struct BroadTree {
    /// Number − 1 → object.
    pub(super) order: Vec<ObjectIndex>,
    /// Object → number; that of the virtual root for objects that were not reached.
    pub(super) numbers: Vec<u32>,
    /// Number → the number of the object from which it was found, which is smaller. The virtual root's is itself.
    pub(super) parents: Vec<u32>,
    /// Positions in `order` of the children of the virtual root. What an earlier one reaches comes before them.
    pub(super) tree_starts: Vec<u32>,
    /// References that are not in the tree: the numbers of their source and target.
    pub(super) others: Vec<[u32; 2]>,
}

impl BroadTree {
    /// Searches all objects that these roots reach. Nothing if some are reached one after the other, rather than
    /// side by side.
    pub(super) fn run(
        edges: &Edges,
        roots: &[ObjectIndex],
        step: &Step<'_>,
    ) -> Result<Option<Self>> {
        let object_count = edges.object_count();
        let mut parents = columns::with_capacity(object_count + 1)?;
        parents.push(ROOT);
        let mut search = BroadSearch {
            edges,
            step,
            followed: 0,
            tree: Self {
                order: columns::with_capacity(object_count)?,
                // Zeroed pages take no memory until they are written.
                numbers: columns::zeros(object_count)?,
                parents,
                tree_starts: Vec::new(),
                others: Vec::new(),
            },
        };
        for &root in roots {
            let number = search.tree.numbers[root.at()];
            if number != UNREACHED {
                columns::push(&mut search.tree.others, [ROOT, number])?;
                continue;
            }
            let start = search.tree.order.len();
            columns::push(&mut search.tree.tree_starts, start as u32)?;
            search.tree.add_object(ROOT, root);
            let mut levels = 0;
            while search.followed < search.tree.order.len() {
                levels += 1;
                if levels > MOST_LEVELS {
                    return Ok(None);
                }
                search.follow_level()?;
            }
        }
        Ok(Some(search.tree))
    }

    #[inline]
    fn add_object(&mut self, parent: u32, object: ObjectIndex) {
        self.order.push(object);
        self.parents.push(parent);
        self.numbers[object.at()] = self.order.len() as u32;
    }
}

struct BroadSearch<'s> {
    edges: &'s Edges,
    step: &'s Step<'s>,
    tree: BroadTree,
    /// The number of objects whose references were followed.
    followed: usize,
}

impl BroadSearch<'_> {
    /// Follows the references of all objects that were found so far.
    fn follow_level(&mut self) -> Result<()> {
        let end = self.tree.order.len();
        while self.followed < end {
            let source = self.tree.order[self.followed];
            self.followed += 1;
            self.prefetch_ahead();
            if self.followed.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(CHECK_INTERVAL as u64)?;
            }
            self.follow(source)?;
        }
        Ok(())
    }

    #[inline]
    fn prefetch_ahead(&self) {
        let (edges, order) = (self.edges, &self.tree.order);
        if let Some(&ahead) = order.get(self.followed + OFFSETS_AHEAD) {
            edges.prefetch_range(ahead);
        }
        if let Some(&ahead) = order.get(self.followed + REFERENCES_AHEAD) {
            edges.prefetch_targets(ahead);
        }
        if let Some(&ahead) = order.get(self.followed + TARGETS_AHEAD) {
            for position in edges.range(ahead).take(MOST_TARGETS as usize) {
                prefetch(&self.tree.numbers, edges.target(position).0);
            }
        }
    }

    /// Adds the objects to which an object refers, and which are not found yet.
    #[inline]
    fn follow(&mut self, source: ObjectIndex) -> Result<()> {
        let number = self.followed as u32;
        let last_known = self.tree.order.len() as u32;
        let range = self.edges.range(source);
        for position in range.clone() {
            let ahead = position.saturating_add(MOST_TARGETS);
            if ahead < range.end {
                prefetch(&self.tree.numbers, self.edges.target(ahead).0);
            }
            let target = self.edges.target(position);
            let known = self.tree.numbers[target.at()];
            if known == UNREACHED {
                self.tree.add_object(number, target);
            } else if known <= last_known && known != number {
                // Neither a second reference to the same object, nor one from an object to itself.
                columns::push(&mut self.tree.others, [number, known])?;
            }
            if position.is_multiple_of(CHECK_INTERVAL as u32) {
                self.step.advance(0)?;
            }
        }
        Ok(())
    }
}
