//! The depth-first search over the live graph: which objects the roots reach, in which order, and
//! by which references.

use std::ops::Range;

use super::columns;
use super::edges::Edges;
use super::prefetch::prefetch;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::units::ObjectIndex;

/// The preorder number of the virtual root.
pub(super) const ROOT: u32 = 0;
/// Ends a chain of references.
pub(super) const NO_REFERENCE: u32 = u32::MAX;
/// The number of an object that was not reached (yet).
const UNREACHED: u32 = ROOT;
/// Objects or references between two looks at whether to stop.
const CHECK_INTERVAL: usize = 1 << 16;
/// How many targets of an object are asked for when the search comes to it.
const LOOKAHEAD: usize = 8;

/// A depth-first spanning tree of the live graph, in preorder numbers from 1, and the references that
/// are not in it. Number 0 is the virtual root, which refers to all roots.
pub(super) struct Search {
    /// Preorder number − 1 → object.
    pub(super) preorder: Vec<ObjectIndex>,
    /// Object → preorder number; that of the virtual root for objects that were not reached.
    pub(super) numbers: Vec<u32>,
    /// Preorder number → preorder number of the parent; the virtual root's is itself.
    pub(super) parents: Vec<u32>,
    /// Positions in `preorder` of the children of the virtual root.
    pub(super) tree_starts: Vec<u32>,
    /// References that are not in the tree: the source's number, and the position of the last
    /// earlier one to the same target.
    ///
    /// Chaining them as they are found takes one pass and 8 bytes each; sorting them by target would
    /// take two more passes and half as much again.
    pub(super) references: Vec<[u32; 2]>,
    /// Preorder number of a target → position of the last reference to it, or [`NO_REFERENCE`].
    pub(super) last_references: Vec<u32>,
}

impl Search {
    /// Searches all that these roots reach.
    pub(super) fn run(edges: &Edges, roots: &[ObjectIndex], control: &Control) -> Result<Self> {
        let object_count = edges.object_count();
        let step = control.begin(Phase::Search, object_count as u64);
        let mut search = Self {
            preorder: columns::with_capacity(object_count)?,
            numbers: columns::filled(UNREACHED, object_count)?,
            parents: columns::with_capacity(object_count + 1)?,
            tree_starts: Vec::new(),
            references: Vec::new(),
            last_references: columns::with_capacity(object_count + 1)?,
        };
        search.parents.push(ROOT);
        search.last_references.push(NO_REFERENCE);
        // The way back to the root: the number of an object, and where its references are that were
        // not tried yet.
        let mut path: Vec<(u32, Range<u32>)> = Vec::new();
        for &root in roots {
            let number = search.numbers[root.at()];
            if number != UNREACHED {
                search.add_reference(ROOT, number)?;
                continue;
            }
            search.tree_starts.push(search.preorder.len() as u32);
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
                    // A reference to itself keeps nothing alive.
                    if number != source {
                        search.add_reference(source, number)?;
                        if search.references.len().is_multiple_of(CHECK_INTERVAL) {
                            step.advance(0)?;
                        }
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
                        edges.prefetch(target);
                    }
                    // Who has nothing left to try is not on the way back: a list that ends its nodes
                    // with `next` needs no path at all.
                    if !untried.is_empty() {
                        columns::push(&mut path, (source, untried))?;
                    }
                    (source, untried) = (number, next);
                }
            }
        }
        Ok(search)
    }

    #[inline]
    fn add_object(&mut self, parent: u32, object: ObjectIndex) -> u32 {
        self.preorder.push(object);
        self.parents.push(parent);
        self.last_references.push(NO_REFERENCE);
        let number = self.preorder.len() as u32;
        self.numbers[object.at()] = number;
        number
    }

    #[inline]
    fn add_reference(&mut self, source: u32, target: u32) -> Result<()> {
        let last = &mut self.last_references[target as usize];
        let previous = std::mem::replace(last, self.references.len() as u32);
        columns::push(&mut self.references, [source, previous])
    }
}
