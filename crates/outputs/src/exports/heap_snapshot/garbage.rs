//! Where to enter garbage so that all of it is reached: one object of each group of garbage that nothing
//! else refers to.

use super::super::object_set::ObjectSet;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::Heap;

/// The fewest garbage objects from which all garbage on the heap is reached: none of them is reached from
/// another. Of a cycle it is the object with the lowest address.
///
/// There are two searches. The first begins at each object that no earlier start has reached, in the order of
/// addresses. Such a start can only be reached from a later one. So the second takes the starts in the opposite
/// order, the last first, and leaves out each that another has reached by then.
pub(super) fn entries(heap: &Heap, live: &ObjectSet, control: &Control) -> Result<ObjectSet> {
    let count = heap.objects.len();
    let mut search = GarbageSearch {
        heap,
        live,
        reached: ObjectSet::new(count)?,
        pending: Vec::new(),
    };
    let mut starts = Vec::new();
    for nth in 0..count as u32 {
        if nth.is_multiple_of(1 << 16) {
            control.check()?;
        }
        if search.from(ObjectIndex(nth), control)? {
            columns::push(&mut starts, ObjectIndex(nth))?;
        }
    }
    search.reached = ObjectSet::new(count)?;
    let mut entries = ObjectSet::new(count)?;
    for &start in starts.iter().rev() {
        if search.from(start, control)? {
            entries.insert(start);
        }
    }
    Ok(entries)
}

struct GarbageSearch<'a> {
    heap: &'a Heap,
    live: &'a ObjectSet,
    reached: ObjectSet,
    pending: Vec<ObjectIndex>,
}

impl GarbageSearch<'_> {
    /// Reaches what an object refers to, and so on, unless the object is reached already or no garbage.
    fn from(&mut self, start: ObjectIndex, control: &Control) -> Result<bool> {
        if !self.reach(start) {
            return Ok(false);
        }
        columns::push(&mut self.pending, start)?;
        let mut steps = 0u32;
        while let Some(object) = self.pending.pop() {
            for &target in self.heap.edges.targets(object) {
                if self.reach(target) {
                    columns::push(&mut self.pending, target)?;
                }
            }
            steps += 1;
            if steps.is_multiple_of(1 << 16) {
                control.check()?;
            }
        }
        Ok(true)
    }

    fn reach(&mut self, object: ObjectIndex) -> bool {
        let is_garbage = !self.live.contains(object) && self.heap.objects.is_on_heap(object);
        is_garbage && self.reached.insert(object)
    }
}
