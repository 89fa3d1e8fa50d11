//! Cycles of references among the objects that no root reaches: the strongly connected components of
//! two or more objects, and single objects that refer to themselves.
//!
//! The components are found by Pearce's variant of Tarjan's search (D. J. Pearce, "A space-efficient
//! algorithm for finding strongly connected components", 2016), with columns instead of recursion: at
//! most 24 bytes for each unreachable object while it runs.

use super::Heap;
use super::edges::Edges;
use super::ranked_bits::RankedBits;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;

/// The cycle of an object that is in none.
const NO_CYCLE: u32 = u32::MAX;

/// One cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The number of its objects.
    pub count: u32,
    /// The sum of their blocks, in bytes.
    pub shallow_size: u64,
    /// Its object with the lowest address.
    pub first: ObjectIndex,
}

/// The objects that no root reaches, and the cycles among them.
#[derive(Debug)]
pub struct Cycles {
    /// The unreachable objects, in address order. Their positions here are their numbers below.
    objects: Vec<ObjectIndex>,
    numbers: RankedBits,
    /// Number of an unreachable object → its cycle.
    cycle_of: Vec<u32>,
    /// In the order of their first objects.
    cycles: Vec<Cycle>,
}

impl Cycles {
    /// Finds the cycles of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub fn new(heap: &Heap, control: &Control) -> Result<Self> {
        let mut objects = Vec::new();
        for object in heap.garbage() {
            columns::push(&mut objects, object)?;
        }
        let numbers = RankedBits::new(objects.iter().map(|object| object.0))?;
        let step = control.begin(Phase::Search, objects.len() as u64);
        let graph = UnreachableReferences {
            edges: &heap.edges,
            objects: &objects,
            numbers: &numbers,
        };
        let (mut cycle_of, count) = graph.components(&step)?;
        let cycles = graph.cycles(heap, &mut cycle_of, count, &step)?;
        Ok(Self {
            objects,
            numbers,
            cycle_of,
            cycles,
        })
    }

    /// The unreachable objects, in address order.
    pub fn objects(&self) -> &[ObjectIndex] {
        &self.objects
    }

    /// All cycles, in the order of their first objects.
    pub fn cycles(&self) -> &[Cycle] {
        &self.cycles
    }

    /// The position in [`cycles`](Self::cycles) of the cycle of an object; `None` if it is in none.
    pub fn cycle_of(&self, object: ObjectIndex) -> Option<u32> {
        let number = self.numbers.rank(object.0)?;
        self.cycle_of_nth(number as usize)
    }

    /// The same for the `nth` of the unreachable objects.
    #[inline]
    pub fn cycle_of_nth(&self, nth: usize) -> Option<u32> {
        let cycle = self.cycle_of[nth];
        (cycle != NO_CYCLE).then_some(cycle)
    }
}

/// The references among the unreachable objects.
struct UnreachableReferences<'a> {
    edges: &'a Edges,
    objects: &'a [ObjectIndex],
    numbers: &'a RankedBits,
}

/// An object on the path of the search.
#[derive(Clone, Copy)]
struct PathFrame {
    number: u32,
    /// The current reference.
    position: u32,
    /// The index that the object got when the search reached it.
    index: u32,
}

impl UnreachableReferences<'_> {
    /// Object → component, and the number of components.
    fn components(&self, step: &Step<'_>) -> Result<(Vec<u32>, usize)> {
        // 0: not visited. From 1 upwards: the lowest index that is known to be reachable from this object.
        // From `u32::MAX` downwards: the component, after it is complete. The two ranges cannot meet, because
        // there are fewer than 2^31 objects.
        let mut lowest = columns::repeated(0u32, self.objects.len())?;
        let mut index = 1;
        let mut component = u32::MAX;
        let mut path: Vec<PathFrame> = Vec::new();
        // Objects that the search has finished, but whose component is not complete.
        let mut open: Vec<u32> = Vec::new();
        let mut work = CountedWork::new(step);
        for start in 0..self.objects.len() as u32 {
            work.add(1)?;
            if lowest[start as usize] != 0 {
                continue;
            }
            self.enter(start, &mut lowest, &mut index, &mut path)?;
            while let Some(frame) = path.last_mut() {
                let number = frame.number as usize;
                let mut next = None;
                let end = self.edges.range(self.objects[number]).end;
                let begin = frame.position;
                while frame.position < end {
                    if let Some(target) = self.numbers.rank(self.edges.target(frame.position).0) {
                        let reached = lowest[target as usize];
                        if reached == 0 {
                            // The same reference is read again when the search returns.
                            next = Some(target);
                            break;
                        }
                        if reached < lowest[number] {
                            lowest[number] = reached;
                        }
                    }
                    frame.position += 1;
                    if (frame.position - begin).is_multiple_of(CHECK_INTERVAL as u32) {
                        step.advance(0)?;
                    }
                }
                work.add_references(u64::from(frame.position - begin) + 1)?;
                if let Some(next) = next {
                    self.enter(next, &mut lowest, &mut index, &mut path)?;
                    continue;
                }
                let PathFrame {
                    number, index: own, ..
                } = *frame;
                path.pop();
                let reached = lowest[number as usize];
                if reached < own {
                    columns::push(&mut open, number)?;
                    continue;
                }
                index -= 1;
                while let Some(&member) = open.last()
                    && lowest[member as usize] >= reached
                {
                    open.pop();
                    lowest[member as usize] = component;
                    index -= 1;
                }
                lowest[number as usize] = component;
                component -= 1;
            }
        }
        for component in &mut lowest {
            *component = u32::MAX - *component;
        }
        Ok((lowest, (u32::MAX - component) as usize))
    }

    fn enter(
        &self,
        number: u32,
        lowest: &mut [u32],
        index: &mut u32,
        path: &mut Vec<PathFrame>,
    ) -> Result<()> {
        lowest[number as usize] = *index;
        let position = self.edges.range(self.objects[number as usize]).start;
        let frame = PathFrame {
            number,
            position,
            index: *index,
        };
        *index += 1;
        columns::push(path, frame)
    }

    /// Replaces the components by cycles, and returns the cycles.
    fn cycles(
        &self,
        heap: &Heap,
        components: &mut [u32],
        count: usize,
        step: &Step<'_>,
    ) -> Result<Vec<Cycle>> {
        let mut work = CountedWork::new(step);
        let mut sizes = columns::repeated(0u32, count)?;
        for &component in &*components {
            sizes[component as usize] += 1;
        }
        // A component of several objects gets the number of its cycle at its first object.
        const SEVERAL: u32 = NO_CYCLE - 1;
        for size in &mut sizes {
            *size = if *size > 1 { SEVERAL } else { NO_CYCLE };
        }
        let mut numbers = sizes;
        let mut cycles: Vec<Cycle> = Vec::new();
        for (component, &object) in components.iter_mut().zip(self.objects) {
            let number = &mut numbers[*component as usize];
            if *number == NO_CYCLE {
                let range = self.edges.range(object);
                work.add_references(u64::from(range.end - range.start) + 1)?;
                if !self.edges.targets(object).contains(&object) {
                    *component = NO_CYCLE;
                    continue;
                }
                *number = SEVERAL;
            }
            if *number == SEVERAL {
                *number = cycles.len() as u32;
                columns::push(
                    &mut cycles,
                    Cycle {
                        count: 0,
                        shallow_size: 0,
                        first: object,
                    },
                )?;
            }
            let cycle = &mut cycles[*number as usize];
            cycle.count += 1;
            cycle.shallow_size += heap.shallow_size(object);
            *component = *number;
        }
        Ok(cycles)
    }
}

/// Counts work, and checks for cancellation from time to time.
struct CountedWork<'s, 'c> {
    step: &'s Step<'c>,
    /// Objects and references since the last check.
    objects: u64,
    looked_at: u64,
}

impl<'s, 'c> CountedWork<'s, 'c> {
    fn new(step: &'s Step<'c>) -> Self {
        Self {
            step,
            objects: 0,
            looked_at: 0,
        }
    }

    /// Adds finished objects.
    fn add(&mut self, objects: u64) -> Result<()> {
        self.objects += objects;
        self.add_references(objects)
    }

    /// Adds references that were read.
    fn add_references(&mut self, references: u64) -> Result<()> {
        self.looked_at += references;
        if self.looked_at < (CHECK_INTERVAL as u64) {
            return Ok(());
        }
        self.looked_at = 0;
        self.step.advance(std::mem::take(&mut self.objects))
    }
}
