//! Simple definitions of the answers to questions, computed from the known facts about a random heap.

use std::collections::BTreeSet;

use crate::support::Object;
use crate::support::random_heap::Truth;
use engine::heap::RootKind;

/// A reference: a root by its place in `root_slots`, or an object and the place among its references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    Root(usize),
    Slot(Object, usize),
}

impl Truth {
    /// All references to an object: roots first, then by address and label.
    pub fn references_to(&self, object: Object) -> Vec<Reference> {
        let roots = self.root_slots.iter().enumerate();
        let roots = roots.filter(|&(_, &(_, target))| target == object);
        let roots = roots.map(|(nth, _)| Reference::Root(nth));
        let slots = self.labelled.iter().flat_map(|(&source, references)| {
            let references = references.iter().enumerate();
            let references = references.filter(|(_, (_, target))| *target == object);
            references.map(move |(nth, _)| Reference::Slot(source, nth))
        });
        roots.chain(slots).collect()
    }

    /// The objects that are reachable through the references that are kept.
    pub fn reached(&self, is_kept: impl Fn(Reference) -> bool) -> BTreeSet<Object> {
        let roots = self.root_slots.iter().enumerate();
        let roots = roots.filter(|&(nth, _)| is_kept(Reference::Root(nth)));
        let mut pending: Vec<Object> = roots.map(|(_, &(_, object))| object).collect();
        let mut reached = BTreeSet::new();
        while let Some(object) = pending.pop() {
            if reached.insert(object) {
                let references = self.labelled[&object].iter().enumerate();
                let kept = references.filter(|&(nth, _)| is_kept(Reference::Slot(object, nth)));
                pending.extend(kept.map(|(_, &(_, target))| target));
            }
        }
        reached
    }

    /// The bytes of the objects that are reachable through the references that are kept.
    pub fn reached_size(&self, is_kept: impl Fn(Reference) -> bool) -> u64 {
        let reached = self.reached(is_kept);
        reached
            .iter()
            .map(|object| u64::from(self.sizes[object]))
            .sum()
    }

    /// The live references to an object over each of which it stays reachable when all others to it
    /// are cut, among those that are there.
    pub fn independent(
        &self,
        object: Object,
        is_there: impl Fn(Reference) -> bool,
    ) -> Vec<Reference> {
        let all = self.references_to(object);
        let mut independent = all.clone();
        independent.retain(|&reference| {
            is_there(reference)
                && self
                    .reached(|other| {
                        is_there(other) && (other == reference || !all.contains(&other))
                    })
                    .contains(&object)
        });
        independent
    }

    /// The objects on every path to an object, itself included, the nearest first.
    pub fn dominators(&self, object: Object, is_there: impl Fn(Reference) -> bool) -> Vec<Object> {
        let live = self.reached(&is_there);
        let without = |removed: Object| {
            let into = self.references_to(removed);
            self.reached(|reference| is_there(reference) && !into.contains(&reference))
        };
        let mut dominators: Vec<(usize, Object)> = live
            .iter()
            .map(|&candidate| (candidate, without(candidate)))
            .filter(|(_, rest)| !rest.contains(&object))
            .map(|(candidate, rest)| (rest.len(), candidate))
            .collect();
        // The nearer, the more is left without it.
        dominators.sort_unstable_by(|left, right| right.cmp(left));
        dominators
            .into_iter()
            .map(|(_, candidate)| candidate)
            .collect()
    }

    /// The references from a root to an object, by the definition of the path.
    pub fn path(&self, object: Object) -> Option<Vec<Reference>> {
        let kinds = [RootKind::Global, RootKind::Stack, RootKind::Pinned];
        let paths = kinds.into_iter().filter_map(|kind| {
            let roots = (0..self.root_slots.len()).filter(|&nth| self.root_slots[nth].0 == kind);
            // All shortest paths, longer and longer, until one arrives.
            let mut paths: Vec<Vec<Reference>> =
                roots.map(|nth| vec![Reference::Root(nth)]).collect();
            let mut ends = BTreeSet::new();
            while !paths.is_empty() {
                let arrived = paths.iter().filter(|path| self.end(path) == object);
                if let Some(first) = arrived.min() {
                    return Some(first.clone());
                }
                // Only the first of the paths to an object can be the beginning of a first path.
                paths.sort();
                let mut nexts = Vec::new();
                for path in &paths {
                    let end = self.end(path);
                    if ends.insert(end) {
                        nexts.extend((0..self.labelled[&end].len()).map(|nth| {
                            let mut next = path.clone();
                            next.push(Reference::Slot(end, nth));
                            next
                        }));
                    }
                }
                paths = nexts;
            }
            None
        });
        paths.into_iter().next()
    }

    /// The object that a path ends at.
    pub fn end(&self, path: &[Reference]) -> Object {
        match path.last() {
            Some(&Reference::Root(nth)) => self.root_slots[nth].1,
            Some(&Reference::Slot(source, nth)) => self.labelled[&source][nth].1,
            None => panic!("a path has a root"),
        }
    }
}
