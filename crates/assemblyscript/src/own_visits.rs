//! What the program's own visitors visit: those of library classes that decide by values, or follow memory that is no
//! object. They are run on each object, in the dump's memory.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::class_slots::DescribedClass;
use super::edge_run::{EdgeRun, SharedByTasks};
use super::reference_types::ANY;
use crate::runtime::Runtime;
use crate::runtime::layout::ContentReferences;
use crate::runtime::shapes::ReferenceField;
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use heap::{EdgeLabel, ObjectTable};
use runtime_code::collector_code::ObjectVisits;

/// Objects that one task visits.
const CHUNK: usize = 1 << 10;

/// Steps that all visits of a dump may take together, and more of them for each byte of memory. A visitor takes about 20
/// for each reference.
const STEPS: u64 = 1 << 28;
const STEPS_PER_BYTE: u64 = 8;

/// The references that visitors found, as columns.
#[derive(Debug, Default)]
pub(super) struct OwnVisits {
    /// The objects that were to be visited, ascending.
    objects: Vec<ObjectIndex>,
    /// For each, the end of its targets; `None` if its visitor could not be run.
    ends: Vec<Option<u32>>,
    targets: Vec<ObjectIndex>,
}

impl OwnVisits {
    /// Visits all objects of such classes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn find(
        runtime: &Runtime<'_>,
        objects: &ObjectTable,
        classes: &[DescribedClass],
        control: &Control,
    ) -> Result<Self> {
        let is_visited: Vec<bool> = classes
            .iter()
            .map(|class| class.class.layout.contents == ContentReferences::Visited)
            .collect();
        let mut found = Self::default();
        if !is_visited.contains(&true) {
            return Ok(found);
        }
        for (object, &slot) in (0..).map(ObjectIndex).zip(&objects.class_slots) {
            if is_visited[slot as usize] {
                columns::push(&mut found.objects, object)?;
            }
        }
        let step = control.begin(Phase::References, found.objects.len() as u64);
        let steps = STEPS + STEPS_PER_BYTE * runtime.dump.memory.size();
        let share = steps / found.objects.len().max(1) as u64;
        let is_object = |payload| objects.index.get(Address(payload)).is_some();
        let visitors = &runtime.visitors;
        let chunks = found.objects.par_chunks(CHUNK).map(|chunk| {
            let visits = visitors.prepare(&is_object, control);
            let part = Self::visit(visits, chunk, objects, share * chunk.len() as u64)?;
            step.advance(chunk.len() as u64)?;
            Ok(part)
        });
        for part in chunks.collect::<Result<Vec<_>>>()? {
            let base = found.targets.len() as u32;
            columns::extend(&mut found.targets, &part.targets)?;
            columns::reserve(&mut found.ends, found.objects.len())?;
            let ends = part.ends.into_iter();
            found.ends.extend(ends.map(|end| Some(base + end?)));
        }
        Ok(found)
    }

    fn visit(
        visits: Option<ObjectVisits<'_, '_, '_>>,
        chunk: &[ObjectIndex],
        objects: &ObjectTable,
        mut steps: u64,
    ) -> Result<Self> {
        let mut part = Self::default();
        let Some(mut visits) = visits else {
            part.ends.resize(chunk.len(), None);
            return Ok(part);
        };
        for object in chunk {
            let payload = objects.addresses.words()[object.at()];
            let end = match visits.visit(payload, &mut steps) {
                None => None,
                Some(found) => {
                    for &target in found {
                        if let Some(target) = objects.index.get(Address(target)) {
                            columns::push(&mut part.targets, target)?;
                        }
                    }
                    Some(part.targets.len() as u32)
                }
            };
            part.ends.push(end);
        }
        Ok(part)
    }

    /// The objects that the visitor of this object visits; `None` if it could not be run.
    pub(super) fn of(&self, object: ObjectIndex) -> Option<&[ObjectIndex]> {
        let at = self.objects.binary_search(&object).ok()?;
        let end = self.ends[at]? as usize;
        let before = self.ends[..at].iter().rev().find_map(|&end| end);
        Some(&self.targets[before.unwrap_or(0) as usize..end])
    }
}

/// Adds the objects that a visitor found in an object, with labels by the words of the object that refer to them.
pub(super) fn follow_visited<const LABELLED: bool>(
    targets: &[ObjectIndex],
    payload: Memory<'_>,
    fields: &[ReferenceField],
    shared: &SharedByTasks<'_>,
    run: &mut EdgeRun,
) -> Result<()> {
    run.make_room::<LABELLED>(targets.len())?;
    run.will_read(shared, targets.len() as u64)?;
    let mut follow = |target: ObjectIndex, label| {
        let word = shared.objects.addresses.words()[target.at()];
        run.follow::<LABELLED>(shared, word, label, ANY);
    };
    if !LABELLED {
        for &target in targets {
            follow(target, EdgeLabel::BUFFER_WORD);
        }
        return Ok(());
    }
    let mut left: BTreeMap<ObjectIndex, u32> = BTreeMap::new();
    for &target in targets {
        *left.entry(target).or_default() += 1;
    }
    let mut take = |word| {
        let target = shared.objects.index.get(Address(word))?;
        let count = left.get_mut(&target)?;
        *count = count.checked_sub(1)?;
        Some(target)
    };
    for (nth, field) in fields.iter().enumerate() {
        let word = payload.word(Address(field.offset)).unwrap_or(0);
        if let Some(target) = take(word) {
            follow(target, EdgeLabel::field(nth));
        }
    }
    for (nth, word) in payload.words().enumerate() {
        if let Some(target) = take(word) {
            follow(target, EdgeLabel::word(nth));
        }
    }
    for (target, count) in left {
        (0..count).for_each(|_| follow(target, EdgeLabel::BUFFER_WORD));
    }
    Ok(())
}
