//! The depth-first search over the live graph: it finds the objects that the roots reach, their order, and
//! the references that lead to them.

use std::ops::Range;

use super::edges::Edges;
use super::prefetch::prefetch;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;

/// The preorder number of the virtual root.
pub(super) const ROOT: u32 = 0;
/// The number of an object that was not reached (yet).
pub(super) const UNREACHED: u32 = ROOT;
const _: () = assert!(UNREACHED == 0, "the column of numbers begins with zeros");
/// The number of targets of an object that are prefetched when the search reaches it.
const LOOKAHEAD: usize = 8;

/// A depth-first spanning tree of the live graph, in preorder numbers from 1, and the references that
/// are not in it. Number 0 is the virtual root, which refers to all roots.
pub(super) struct SpanningTree {
    /// Preorder number − 1 → object.
    pub(super) preorder: Vec<ObjectIndex>,
    /// Object → preorder number; that of the virtual root for objects that were not reached.
    pub(super) numbers: Vec<u32>,
    /// Preorder number → its place in the tree. The virtual root's parent is itself.
    pub(super) nodes: Vec<PreorderNode>,
    /// Positions in `preorder` of the children of the virtual root.
    pub(super) tree_starts: Vec<u32>,
    /// References that are not in the tree and come from later objects: the numbers of their source
    /// and target.
    pub(super) late_references: Vec<[u32; 2]>,
    /// Preorder number → the number of late references to it.
    pub(super) late_counts: Vec<u32>,
    /// Whether there are any references besides those of the tree.
    pub(super) is_tree: bool,
}

/// Where an object is in the tree, by preorder numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreorderNode {
    pub(super) parent: u32,
    /// The first object that refers to it. It is the parent, or an object above the parent: the search had
    /// left all other earlier objects before it found this one.
    pub(super) first_source: u32,
}

impl SpanningTree {
    /// Searches all objects that these roots reach.
    pub(super) fn run(edges: &Edges, roots: &[ObjectIndex], step: &Step<'_>) -> Result<Self> {
        let object_count = edges.object_count();
        let mut search = Self {
            preorder: columns::with_capacity(object_count)?,
            // Zeroed pages take no memory until they are written.
            numbers: columns::zeros(object_count)?,
            nodes: columns::with_capacity(object_count + 1)?,
            tree_starts: Vec::new(),
            late_references: Vec::new(),
            late_counts: columns::zeros(object_count + 1)?,
            is_tree: true,
        };
        search.nodes.push(PreorderNode {
            parent: ROOT,
            first_source: ROOT,
        });
        // The path back to the root: the number of each object, and the range of its references that were not
        // followed yet.
        let mut path: Vec<(u32, Range<u32>)> = Vec::new();
        for &root in roots {
            let number = search.numbers[root.at()];
            if number != UNREACHED {
                search.add_reference(ROOT, number)?;
                continue;
            }
            columns::push(&mut search.tree_starts, search.preorder.len() as u32)?;
            let mut source = search.add_object(ROOT, root);
            let mut untried = edges.range(root);
            loop {
                let Some(reference) = untried.next() else {
                    match path.pop() {
                        Some(back) => (source, untried) = back,
                        None => break,
                    }
                    continue;
                };
                let target = edges.target(reference);
                let number = search.numbers[target.at()];
                if number != UNREACHED {
                    search.add_reference(source, number)?;
                    if search.late_references.len().is_multiple_of(CHECK_INTERVAL) {
                        step.advance(0)?;
                    }
                    continue;
                }
                let number = search.add_object(source, target);
                if (number as usize).is_multiple_of(CHECK_INTERVAL) {
                    step.advance(CHECK_INTERVAL as u64)?;
                }
                let next = edges.range(target);
                if !next.is_empty() {
                    for reference in next.clone().take(LOOKAHEAD) {
                        let target = edges.target(reference);
                        prefetch(&search.numbers, target.0);
                        edges.prefetch_range(target);
                    }
                    // An object without further references is not stored on the path: a list whose nodes have
                    // `next` as their last reference needs no path.
                    if !untried.is_empty() {
                        columns::push(&mut path, (source, untried))?;
                    }
                    (source, untried) = (number, next);
                }
            }
        }
        search.late_counts.truncate(search.nodes.len());
        Ok(search)
    }

    #[inline]
    fn add_object(&mut self, parent: u32, object: ObjectIndex) -> u32 {
        self.preorder.push(object);
        self.nodes.push(PreorderNode {
            parent,
            first_source: parent,
        });
        let number = self.preorder.len() as u32;
        self.numbers[object.at()] = number;
        number
    }

    /// Adds a reference between objects that were found already.
    #[inline]
    fn add_reference(&mut self, source: u32, target: u32) -> Result<()> {
        if source < target {
            // The search has returned to an object above the target.
            let first = &mut self.nodes[target as usize].first_source;
            *first = source.min(*first);
        } else if source > target {
            self.late_counts[target as usize] += 1;
            columns::push(&mut self.late_references, [source, target])?;
        } else {
            // A reference from an object to itself keeps nothing alive.
            return Ok(());
        }
        self.is_tree = false;
        Ok(())
    }
}
