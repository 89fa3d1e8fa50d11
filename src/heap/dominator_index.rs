//! The dominator tree for questions: does one object dominate another one, and which objects does it
//! dominate.
//!
//! Live objects are numbered in preorder of the dominator tree: an object and the objects that it dominates
//! are one range of numbers. Children are not sorted by size, because sorting ten million objects would take
//! longer than everything else here.

use super::Heap;
use crate::columns;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::units::ObjectIndex;

/// No position: the object is not alive, or only the virtual root dominates it.
pub(crate) const NO_POSITION: u32 = u32::MAX;

const CHUNK: usize = 1 << 16;

/// The live objects in preorder of the dominator tree.
#[derive(Debug)]
pub struct DominatorIndex {
    /// Object → position.
    positions: Vec<u32>,
    /// Position → object.
    objects: Vec<ObjectIndex>,
    /// Position → the end of the range of the objects that it dominates.
    ends: Vec<u32>,
    /// Position → position of the immediate dominator.
    dominators: Vec<u32>,
}

impl DominatorIndex {
    /// Numbers the live objects of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Aborted`](crate::Error::Aborted).
    pub fn new(heap: &Heap, control: &Control) -> Result<Self> {
        Self::of_tree(&heap.dominators, heap.objects.len(), control)
    }

    /// Numbers the objects of a dominator tree, given the number of objects of the heap.
    pub(crate) fn of_tree(
        tree: &super::DominatorTree,
        object_count: usize,
        control: &Control,
    ) -> Result<Self> {
        let live = tree.live();
        let parents = tree.immediate_dominators();
        let count = live.len();
        let step = control.begin(Phase::View, count as u64);
        // By search number, the virtual root first: the number of objects that each dominates, itself
        // included.
        let mut sizes = Vec::new();
        columns::fill(&mut sizes, 1u32, count + 1, &step)?;
        for number in (1..=count).rev() {
            sizes[parents[number] as usize] += sizes[number];
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64 / 2)?;
            }
        }
        let mut positions = columns::repeated(NO_POSITION, object_count)?;
        let mut objects = columns::repeated(ObjectIndex(0), count)?;
        let mut ends = columns::repeated(0u32, count)?;
        let mut dominators = columns::repeated(NO_POSITION, count)?;
        // From here on, each entry is the position of the next child instead of a size.
        sizes[0] = 0;
        let mut own_positions = columns::repeated(NO_POSITION, count + 1)?;
        for number in 1..=count {
            let parent = parents[number] as usize;
            let size = sizes[number];
            let position = sizes[parent];
            sizes[parent] += size;
            sizes[number] = position + 1;
            own_positions[number] = position;
            let object = live[number - 1];
            positions[object.at()] = position;
            objects[position as usize] = object;
            ends[position as usize] = position + size;
            dominators[position as usize] = own_positions[parent];
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64 / 2)?;
            }
        }
        Ok(Self {
            positions,
            objects,
            ends,
            dominators,
        })
    }

    /// The number of live objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no live objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The position of an object; `None` if it is not alive.
    #[inline]
    pub fn position(&self, object: ObjectIndex) -> Option<u32> {
        let position = self.positions[object.at()];
        (position != NO_POSITION).then_some(position)
    }

    /// The object at a position.
    #[inline]
    pub fn object(&self, position: u32) -> ObjectIndex {
        self.objects[position as usize]
    }

    /// All live objects, in preorder.
    pub fn objects(&self) -> &[ObjectIndex] {
        &self.objects
    }

    /// The end of the range of the objects that the one at `position` dominates. The range begins with the
    /// object itself.
    #[inline]
    pub fn end(&self, position: u32) -> u32 {
        self.ends[position as usize]
    }

    /// The position of the immediate dominator; `None` if only the virtual root dominates it.
    #[inline]
    pub fn dominator(&self, position: u32) -> Option<u32> {
        let dominator = self.dominators[position as usize];
        (dominator != NO_POSITION).then_some(dominator)
    }

    /// Whether every path from a root to `below` goes through `above`, or the two are the same. Both must be
    /// alive.
    #[inline]
    pub fn dominates(&self, above: ObjectIndex, below: ObjectIndex) -> bool {
        let position = self.positions[above.at()];
        let other = self.positions[below.at()];
        position <= other && other < self.ends[position as usize]
    }

    /// The positions of the objects that the one at `parent` immediately dominates; without a parent, those
    /// of the virtual root.
    pub fn children(&self, parent: Option<u32>) -> impl Iterator<Item = u32> {
        let (first, end) = match parent {
            Some(parent) => (parent + 1, self.end(parent)),
            None => (0, self.objects.len() as u32),
        };
        let first = (first < end).then_some(first);
        std::iter::successors(first, move |&child| {
            let next = self.end(child);
            (next < end).then_some(next)
        })
    }

    /// The approximate size of this value in bytes.
    pub fn memory_size(&self) -> u64 {
        (self.positions.len() + 3 * self.objects.len()) as u64 * 4
    }
}
