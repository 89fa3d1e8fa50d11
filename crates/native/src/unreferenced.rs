//! Blocks to which nothing in the memory refers, and which of them hold the others.

use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;
use heap::Edges;

/// The blocks that the roots do not reach.
pub(crate) struct Unreferenced {
    /// One block of each entry: of each cycle or single block that no block outside of it refers to, among the blocks
    /// that the roots do not reach. Together they reach all of these. Ascending.
    pub(crate) entries: Vec<ObjectIndex>,
    /// The blocks that the entries reach, with themselves.
    pub(crate) reached: Vec<ObjectIndex>,
}

/// Finds the blocks that these roots do not reach.
pub(crate) fn entries(
    edges: &Edges,
    roots: &[ObjectIndex],
    control: &Control,
) -> Result<Unreferenced> {
    let is_reached = reached(edges, roots, control)?;
    let mut search = DepthFirstSearch {
        edges,
        is_seen: columns::collected(is_reached.iter().copied())?,
        open: Vec::new(),
        finished: Vec::new(),
        control,
        work: 0,
    };
    for object in 0..edges.object_count() as u32 {
        search.run(ObjectIndex(object))?;
    }
    // What is finished last is in an entry; after all that it reaches, the same is true of the rest.
    let finished = std::mem::take(&mut search.finished);
    search.is_seen = is_reached;
    let mut entries = Vec::new();
    for &object in finished.iter().rev() {
        if !search.is_seen[object.at()] {
            columns::push(&mut entries, object)?;
            search.run(object)?;
        }
    }
    entries.sort_unstable();
    Ok(Unreferenced {
        entries,
        reached: finished,
    })
}

/// By block: whether a root reaches it. What comes next is known in advance, in a queue, so that the processor can ask for
/// the memory of several blocks at the same time.
pub(crate) fn reached(
    edges: &Edges,
    roots: &[ObjectIndex],
    control: &Control,
) -> Result<Vec<bool>> {
    let mut is_reached = columns::repeated(false, edges.object_count())?;
    let mut queue = columns::with_capacity(edges.object_count())?;
    let mut add = |queue: &mut Vec<ObjectIndex>, object: ObjectIndex| {
        if !std::mem::replace(&mut is_reached[object.at()], true) {
            // There is room for each object once.
            queue.push(object);
        }
    };
    for &root in roots {
        add(&mut queue, root);
    }
    let (mut followed, mut work) = (0, 0);
    while let Some(&source) = queue.get(followed) {
        followed += 1;
        let targets = edges.targets(source);
        work += 1 + targets.len();
        if work >= CHECK_INTERVAL {
            control.count(work as u64)?;
            work = 0;
        }
        for &target in targets {
            add(&mut queue, target);
        }
    }
    Ok(is_reached)
}

struct DepthFirstSearch<'e> {
    edges: &'e Edges,
    is_seen: Vec<bool>,
    /// The path to the current object, each with the place of its next reference.
    open: Vec<(ObjectIndex, u32)>,
    finished: Vec<ObjectIndex>,
    control: &'e Control,
    work: u64,
}

impl DepthFirstSearch<'_> {
    fn run(&mut self, start: ObjectIndex) -> Result<()> {
        self.enter(start)?;
        while let Some((object, position)) = self.open.last_mut() {
            self.work += 1;
            if self.work.is_multiple_of(CHECK_INTERVAL as u64) {
                self.control.count(CHECK_INTERVAL as u64)?;
            }
            if *position < self.edges.range(*object).end {
                let target = self.edges.target(*position);
                *position += 1;
                self.enter(target)?;
            } else {
                let object = *object;
                self.open.pop();
                columns::push(&mut self.finished, object)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, object: ObjectIndex) -> Result<()> {
        if self.is_seen[object.at()] {
            return Ok(());
        }
        self.is_seen[object.at()] = true;
        columns::push(&mut self.open, (object, self.edges.range(object).start))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn each_entry_is_named_once() {
        // 0 is a root and holds 1; 2 and 3 are a cycle that holds 4; 5 holds 4 and the reached 1.
        let rows: [&[u32]; 6] = [&[1], &[], &[3, 4], &[2], &[], &[4, 1]];
        let rows = rows.map(|row| row.iter().map(|&at| ObjectIndex(at)).collect::<Vec<_>>());
        let edges = Edges::from_rows(rows.iter().map(Vec::as_slice));
        let found = entries(&edges, &[ObjectIndex(0)], &Control::default()).unwrap();
        assert_eq!(found.entries, [ObjectIndex(2), ObjectIndex(5)]);
        assert_eq!(found.reached.len(), 4);
    }
}
