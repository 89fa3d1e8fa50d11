//! The objects as columns: class, length, and the distance to the next object.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::HprofError;
use crate::bytes::{JavaType, RecordCursor};
use crate::classes::JavaClasses;
use crate::heap_records::{ObjectRecord, object_at};
use crate::scan::{HprofReading, ObjectPlace};
use base::columns;
use base::control::Step;
use base::error::Result;

/// Objects that one piece of work reads.
const PIECE: usize = 1 << 18;
/// Stands for a class without a record, before it has a slot.
const NO_RECORD: u32 = u32::MAX;

/// By class slot: the distances from its instances to the next object. None is smaller than an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distances {
    pub(crate) smallest: u64,
    /// How many instances have the smallest.
    pub(crate) count: u64,
    /// How many there are.
    pub(crate) total: u64,
}

impl Default for Distances {
    fn default() -> Self {
        Self {
            smallest: u64::MAX,
            count: 0,
            total: 0,
        }
    }
}

impl Distances {
    fn add(&mut self, distance: u64, count: u64) {
        self.total += count;
        match distance.cmp(&self.smallest) {
            std::cmp::Ordering::Less => (self.smallest, self.count) = (distance, count),
            std::cmp::Ordering::Equal => self.count += count,
            std::cmp::Ordering::Greater => {}
        }
    }

    fn merge(&mut self, other: Self) {
        let total = self.total + other.total;
        self.add(other.smallest, other.count);
        self.total = total;
    }
}

/// The kinds of class slots: classes with a record, arrays of primitives, and classes without a record.
#[derive(Debug)]
pub(crate) struct JavaSlots {
    /// The number of classes with a record, which come first.
    pub(crate) classes: u32,
    /// The slot of `java.lang.Class`.
    pub(crate) class_objects: u32,
    /// The names of slots after those of classes.
    pub(crate) others: Vec<String>,
}

impl JavaSlots {
    pub(crate) fn new(classes: &JavaClasses) -> Self {
        let count = classes.all.len() as u32;
        let mut others: Vec<String> = JavaType::PRIMITIVES
            .iter()
            .map(|element| format!("{}[]", element.name()))
            .collect();
        let is_class = |class: &crate::classes::JavaClass| class.name == "java.lang.Class";
        let class_objects = match classes.all.iter().position(is_class) {
            Some(nth) => nth as u32,
            None => {
                others.push("java.lang.Class".to_owned());
                count + others.len() as u32 - 1
            }
        };
        Self {
            classes: count,
            class_objects,
            others,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.classes as usize + self.others.len()
    }

    pub(crate) fn array_of(&self, element: JavaType) -> u32 {
        self.classes + element.primitive().unwrap_or(0) as u32
    }

    /// The type of the elements of arrays of a slot, if they are no references.
    pub(crate) fn element_of(&self, slot: u32) -> Option<JavaType> {
        let nth = slot.checked_sub(self.classes)?;
        JavaType::PRIMITIVES.get(nth as usize).copied()
    }
}

/// The columns of all objects.
pub(crate) struct ObjectColumns {
    pub(crate) slots: Vec<u32>,
    /// The elements of an array, the bytes of the record of an instance.
    pub(crate) lengths: Vec<u32>,
    /// By slot, of instances only.
    pub(crate) distances: Vec<Distances>,
    /// By class with a record: the length of the record of an instance; `None` without instances.
    pub(crate) instance_lengths: Vec<Option<u32>>,
}

struct ColumnPiece {
    slots: Vec<u32>,
    lengths: Vec<u32>,
    distances: HashMap<u32, Distances>,
    instance_lengths: HashMap<u32, u32>,
}

/// What reads objects for the columns.
pub(crate) struct ColumnReader<'a> {
    pub(crate) reading: HprofReading<'a>,
    pub(crate) classes: &'a JavaClasses,
    pub(crate) objects: &'a [ObjectPlace],
}

impl ColumnReader<'_> {
    /// # Errors
    /// [`HprofError`] if the instances of a class differ in length, [`Error::OutOfMemory`](base::Error::OutOfMemory),
    /// [`Error::Aborted`](base::Error::Aborted).
    pub(crate) fn read(&self, slots: &mut JavaSlots, step: &Step<'_>) -> Result<ObjectColumns> {
        let count = self.objects.len();
        let mut columns = ObjectColumns {
            slots: columns::with_capacity(count)?,
            lengths: columns::with_capacity(count)?,
            distances: Vec::new(),
            instance_lengths: columns::repeated(None, slots.classes as usize)?,
        };
        let mut distances: Vec<Distances> = columns::repeated(Distances::default(), slots.len())?;
        let starts: Vec<usize> = (0..count).step_by(PIECE).collect();
        // A few at once, so that their columns do not take memory twice.
        for starts in starts.chunks(2 * rayon::current_num_threads().max(1)) {
            let pieces = starts.par_iter().map(|&start| {
                let end = (start + PIECE).min(count);
                self.piece(start..end, slots, step)
            });
            for piece in pieces.collect::<Vec<_>>() {
                let piece = piece?;
                columns.slots.extend_from_slice(&piece.slots);
                columns.lengths.extend_from_slice(&piece.lengths);
                for (slot, found) in piece.distances {
                    distances[slot as usize].merge(found);
                }
                for (class, length) in piece.instance_lengths {
                    let known = &mut columns.instance_lengths[class as usize];
                    if known.is_some_and(|known| known != length) {
                        return Err(self.differing(class));
                    }
                    *known = Some(length);
                }
            }
        }
        columns.distances = distances;
        self.name_unknown(&mut columns.slots, slots)?;
        Ok(columns)
    }

    fn differing(&self, class: u32) -> base::Error {
        let name = &self.classes.all[class as usize].name;
        let message = format!("the records of two instances of {name} differ in length");
        HprofError::at(0, message).into()
    }

    pub(crate) fn record(&self, nth: usize) -> Result<ObjectRecord> {
        let at = self.objects[nth].at;
        let mut cursor = RecordCursor::new(self.reading.file, at as usize, self.reading.ids);
        let read = object_at(&mut cursor);
        read.ok_or_else(|| HprofError::at(at, "the record of an object cannot be read").into())
    }

    fn piece(
        &self,
        range: std::ops::Range<usize>,
        slots: &JavaSlots,
        step: &Step<'_>,
    ) -> Result<ColumnPiece> {
        step.advance(range.len() as u64)?;
        let mut piece = ColumnPiece {
            slots: columns::with_capacity(range.len())?,
            lengths: columns::with_capacity(range.len())?,
            distances: HashMap::new(),
            instance_lengths: HashMap::new(),
        };
        let mut local: Vec<Distances> = columns::repeated(Distances::default(), slots.len())?;
        let mut lengths: Vec<u32> = columns::repeated(NO_RECORD, slots.classes as usize)?;
        let mut lookup = ClassLookup::new(self.classes);
        for nth in range {
            let (slot, length) = match self.record(nth)? {
                ObjectRecord::Class { .. } => (slots.class_objects, 0),
                ObjectRecord::PrimitiveArray { element, count, .. } => {
                    (slots.array_of(element), count)
                }
                ObjectRecord::ObjectArray { class, count, .. } => {
                    (lookup.get(class).unwrap_or(NO_RECORD), count)
                }
                ObjectRecord::Instance { class, length, .. } => {
                    let slot = lookup.get(class);
                    if let Some(class) = slot {
                        if let Some(next) = self.objects.get(nth + 1) {
                            local[class as usize].add(next.id - self.objects[nth].id, 1);
                        }
                        let known = &mut lengths[class as usize];
                        if *known != NO_RECORD && *known != length {
                            return Err(self.differing(class));
                        }
                        *known = length;
                    }
                    (slot.unwrap_or(NO_RECORD), length)
                }
            };
            piece.slots.push(slot);
            piece.lengths.push(length);
        }
        let found = (0..).zip(local).filter(|(_, found)| found.total > 0);
        piece.distances = found.collect();
        let found = (0..).zip(lengths).filter(|&(_, found)| found != NO_RECORD);
        piece.instance_lengths = found.collect();
        Ok(piece)
    }

    /// Gives slots to classes without a record.
    fn name_unknown(&self, column: &mut [u32], slots: &mut JavaSlots) -> Result<()> {
        let mut unknown: HashMap<u64, u32> = HashMap::new();
        for (nth, slot) in column.iter_mut().enumerate() {
            if *slot != NO_RECORD {
                continue;
            }
            let (ObjectRecord::Instance { class, .. } | ObjectRecord::ObjectArray { class, .. }) =
                self.record(nth)?
            else {
                continue;
            };
            *slot = *unknown.entry(class).or_insert_with(|| {
                slots.others.push(self.classes.name_of_id(class));
                slots.classes + slots.others.len() as u32 - 1
            });
        }
        Ok(())
    }
}

/// Finds classes by id. Most objects in a row are of few classes.
pub(crate) struct ClassLookup<'c> {
    classes: &'c JavaClasses,
    recent: Vec<(u64, u32)>,
}

const RECENT: u32 = 10;

impl<'c> ClassLookup<'c> {
    pub(crate) fn new(classes: &'c JavaClasses) -> Self {
        Self {
            classes,
            recent: vec![(0, NO_RECORD); 1 << RECENT],
        }
    }

    /// The number of a class.
    #[inline]
    pub(crate) fn get(&mut self, id: u64) -> Option<u32> {
        let place = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT);
        let recent = &mut self.recent[place as usize];
        if recent.0 != id {
            *recent = (id, self.classes.of_id(id).unwrap_or(NO_RECORD));
        }
        (recent.1 != NO_RECORD).then_some(recent.1)
    }
}
