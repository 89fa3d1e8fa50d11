//! Rows by class name, and the objects of each row.

use std::collections::HashMap;

use crate::{ClassOrigin, Heap, HeapClass, Location};
use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;

/// No row: objects of this class are not listed.
pub(super) const NO_ROW: u32 = u32::MAX;

/// Numbers class names in the order in which they first occur. Classes that share a name share a
/// number.
#[derive(Default)]
pub(super) struct ClassNumbers {
    pub(super) all: Vec<String>,
    numbers: HashMap<(String, Option<ClassOrigin>), u32>,
}

impl ClassNumbers {
    /// The number of each class slot of a heap.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn of_classes(&mut self, heap: &Heap, control: &Control) -> Result<Vec<u32>> {
        self.numbers(heap, |class| class.origin, control)
    }

    /// The same, if classes of several places in the source that share a name share a number.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn without_origins(&mut self, heap: &Heap, control: &Control) -> Result<Vec<u32>> {
        self.numbers(heap, |_| None, control)
    }

    fn numbers(
        &mut self,
        heap: &Heap,
        origin: impl Fn(&HeapClass) -> Option<ClassOrigin>,
        control: &Control,
    ) -> Result<Vec<u32>> {
        let classes = heap.objects.classes.iter().enumerate();
        classes
            .map(|(nth, class)| {
                count_name(nth, control)?;
                let name = &class.name;
                let key = (name.clone(), origin(class));
                Ok(*self.numbers.entry(key).or_insert_with(|| {
                    self.all.push(name.clone());
                    self.all.len() as u32 - 1
                }))
            })
            .collect()
    }

    /// The names in order. If constructors at several places in the source share a name, the place follows each:
    /// `Node (script 12:5:3)`, with the line and the column from 1. A scope follows the name as in DevTools:
    /// `system / Context / scope @12`.
    ///
    /// # Errors
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn distinct(self, control: &Control) -> Result<Vec<String>> {
        let mut names = self.all;
        let mut origins: HashMap<String, u32> = HashMap::new();
        for (nth, (name, origin)) in self.numbers.keys().enumerate() {
            count_name(nth, control)?;
            if matches!(origin, Some(ClassOrigin::Constructor(_))) {
                *origins.entry(name.clone()).or_default() += 1;
            }
        }
        for (nth, ((name, origin), number)) in self.numbers.into_iter().enumerate() {
            count_name(nth, control)?;
            match origin {
                Some(ClassOrigin::Constructor(location)) if origins[&name] > 1 => {
                    let Location {
                        script,
                        line,
                        column,
                    } = location;
                    let [line, column] = [line, column].map(|number| u64::from(number) + 1);
                    names[number as usize] = format!("{name} (script {script}:{line}:{column})");
                }
                Some(ClassOrigin::Scope(scope)) => {
                    names[number as usize] = format!("{name} / scope @{scope}");
                }
                Some(ClassOrigin::Constructor(_)) | None => {}
            }
        }
        Ok(names)
    }
}

/// Counts the names, a few at a time: a heap snapshot can have millions of classes.
fn count_name(nth: usize, control: &Control) -> Result<()> {
    const ROUND: usize = 1 << 10;
    if nth.is_multiple_of(ROUND) {
        control.count(ROUND as u64)
    } else {
        Ok(())
    }
}

/// Replaces numbers of rows by their positions in `order`, or by [`NO_ROW`].
pub(super) fn renumber(rows: &mut [u32], order: &[u32]) {
    let length = rows.iter().max().map_or(0, |&last| last as usize + 1);
    let mut positions = vec![NO_ROW; length];
    for (position, &row) in (0..).zip(order) {
        if let Some(first) = positions.get_mut(row as usize) {
            *first = position;
        }
    }
    for row in rows {
        *row = positions[*row as usize];
    }
}

/// The objects of all rows, row by row.
#[derive(Debug)]
pub(super) struct RowObjects {
    objects: Vec<ObjectIndex>,
    /// Where each row ends, so far.
    ends: Vec<usize>,
}

impl RowObjects {
    /// Empty rows, each with room for the given number of objects.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub(super) fn with_room(counts: impl Iterator<Item = u64>) -> Result<Self> {
        let mut start = 0;
        let starts = counts.map(|count| {
            start += count as usize;
            start - count as usize
        });
        let ends = starts.collect();
        Ok(Self {
            objects: columns::repeated(ObjectIndex(0), start)?,
            ends,
        })
    }

    /// The size of the columns in bytes.
    pub(super) fn memory_size(&self) -> u64 {
        (self.objects.capacity() * size_of::<ObjectIndex>()) as u64
    }

    /// Adds an object to a row that has room for it.
    pub(super) fn push(&mut self, row: u32, object: ObjectIndex) {
        let end = &mut self.ends[row as usize];
        self.objects[*end] = object;
        *end += 1;
    }

    /// The objects of a row, as they were added, once all rows are full.
    pub(super) fn of(&self, row: usize) -> &[ObjectIndex] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.objects[start..self.ends[row]]
    }
}
