//! The dominator tree for questions: does one object dominate another one, and which objects does it
//! dominate.
//!
//! Live objects are numbered in preorder of the dominator tree: an object and the objects that it dominates
//! are one range of numbers. Children are not sorted by size, because sorting ten million objects would take
//! longer than everything else here.

use super::Heap;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;

const CHUNK: usize = 1 << 16;

/// The live objects in preorder of the dominator tree.
#[derive(Debug)]
pub struct DominatorIndex {
    /// Object → one more than its position; 0 if it is not alive.
    positions: Vec<u32>,
    /// Position → object.
    objects: Vec<ObjectIndex>,
    /// Position → the end of the range of the objects that it dominates.
    ends: Vec<u32>,
    /// Position → one more than the position of the immediate dominator; 0 for the virtual root.
    dominators: Vec<u32>,
}

impl DominatorIndex {
    /// Numbers the live objects of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(heap: &Heap, control: &Control) -> Result<Self> {
        Self::of_tree(&heap.dominators, heap.objects.len(), control)
    }

    /// Numbers the objects of a dominator tree, given the number of objects of the heap.
    pub fn of_tree(
        tree: &super::DominatorTree,
        object_count: usize,
        control: &Control,
    ) -> Result<Self> {
        let live = tree.live();
        let parents = tree.immediate_dominators();
        let count = live.len();
        let step = control.begin(Phase::View, count as u64);
        // By search number, the virtual root first: the number of other objects that each dominates.
        let mut dominated = columns::zeros::<u32>(count + 1)?;
        for number in (1..=count).rev() {
            dominated[parents[number] as usize] += dominated[number] + 1;
            if number.is_multiple_of(CHUNK) {
                step.advance(CHUNK as u64 / 2)?;
            }
        }
        let mut positions = columns::zeros::<u32>(object_count)?;
        let mut objects = columns::zeros::<ObjectIndex>(count)?;
        let mut ends = columns::zeros::<u32>(count)?;
        let mut dominators = columns::zeros::<u32>(count)?;
        // From here on, each entry is the position of the next child.
        let mut next = dominated;
        next[0] = 0;
        for number in 1..=count {
            let parent = parents[number] as usize;
            let position = next[parent];
            let end = position + 1 + next[number];
            next[parent] = end;
            next[number] = position + 1;
            let object = live[number - 1];
            positions[object.at()] = position + 1;
            objects[position as usize] = object;
            ends[position as usize] = end;
            dominators[position as usize] = match parent {
                0 => 0,
                _ => positions[live[parent - 1].at()],
            };
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
        self.positions[object.at()].checked_sub(1)
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
        self.dominators[position as usize].checked_sub(1)
    }

    /// Whether every path from a root to `below` goes through `above`, or the two are the same. Both must be
    /// alive.
    #[inline]
    pub fn dominates(&self, above: ObjectIndex, below: ObjectIndex) -> bool {
        let [position, other] = [above, below].map(|object| self.positions[object.at()]);
        let end = position.checked_sub(1).map(|at| self.ends[at as usize]);
        end.is_some_and(|end| position <= other && other <= end)
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
