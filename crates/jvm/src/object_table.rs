//! Makes the table of objects: their sizes, the class slots that occur, and the names of class objects.

use rayon::prelude::*;

use crate::bytes::JavaType;
use crate::class_parts::JavaClassParts;
use crate::classes::JavaClasses;
use crate::model::JavaSlotKind;
use crate::scan::{FoundRecords, HprofReading};
use crate::sizes::{InstanceSizes, SizeEvidence};
use crate::table::{JavaSlots, ObjectColumns};
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{HUGE, HeapClass, ObjectTable};

/// Sizes by object, those that are [`HUGE`], and how they were found.
pub(crate) type Sized = (Vec<u32>, Vec<(ObjectIndex, u64)>, InstanceSizes);

pub(crate) fn sizes(
    classes: &JavaClasses,
    slots: &JavaSlots,
    columns: &ObjectColumns,
    found: &FoundRecords,
    reading: HprofReading<'_>,
) -> Result<Sized> {
    let objects = &found.objects;
    let distance = |nth: usize| match objects.get(nth + 1) {
        Some(next) => next.id - objects[nth].id,
        None => u64::MAX,
    };
    let class_of = |nth: usize| {
        classes
            .of_id(objects[nth].id)
            .map(|class| &classes.all[class as usize])
    };
    let is_class_object = |&nth: &usize| columns.slots[nth] == slots.class_objects;
    let plain = (0..objects.len()).into_par_iter().filter(is_class_object);
    let plain = plain.filter(|&nth| class_of(nth).is_none_or(|class| class.statics.is_empty()));
    let span = match (objects.first(), objects.last()) {
        (Some(first), Some(last)) => last.id - first.id,
        _ => 0,
    };
    let sizes = SizeEvidence {
        classes,
        distances: &columns.distances,
        ids: reading.ids,
        span,
        class_objects: slots.class_objects,
        plain_class_object: plain.map(distance).min().filter(|&size| size < 1 << 16),
    }
    .sizes();
    let size = |nth: usize| -> u64 {
        let (slot, length) = (columns.slots[nth], columns.lengths[nth]);
        if slot == slots.class_objects {
            return match class_of(nth) {
                Some(class) => sizes.class_object(class, classes, distance(nth)),
                None => sizes.plain_class_object().min(distance(nth)),
            };
        }
        match slots.element_of(slot) {
            Some(element) => sizes.rules.array_size(element, length),
            None => match (
                columns.instance_lengths.get(slot as usize),
                is_array(classes, slots, slot),
            ) {
                (Some(Some(_)), false) => sizes.sizes[slot as usize],
                _ => sizes.rules.array_size(JavaType::Object, length),
            },
        }
    };
    let narrow = |nth| u32::try_from(size(nth)).unwrap_or(HUGE);
    let mut shallow = columns::repeated(0u32, objects.len())?;
    shallow
        .par_iter_mut()
        .enumerate()
        .for_each(|(nth, into)| *into = narrow(nth));
    let mut huge = Vec::new();
    for (nth, _) in shallow
        .iter()
        .enumerate()
        .filter(|&(_, &size)| size == HUGE)
    {
        columns::push(&mut huge, (ObjectIndex(nth as u32), size(nth)))?;
    }
    Ok((shallow, huge, sizes))
}

fn is_array(classes: &JavaClasses, slots: &JavaSlots, slot: u32) -> bool {
    slot < slots.classes && classes.all[slot as usize].name.ends_with("[]")
}

/// Makes the table of objects: slots that occur, and names of class objects.
pub(crate) struct TableMaker<'a> {
    pub(crate) slots: &'a JavaSlots,
    pub(crate) parts: &'a JavaClassParts,
    pub(crate) class_objects: &'a [(ObjectIndex, u32)],
    pub(crate) for_questions: bool,
}

impl TableMaker<'_> {
    pub(crate) fn table(
        &self,
        column: Vec<u32>,
        sized: Sized,
    ) -> Result<(ObjectTable, Vec<JavaSlotKind>)> {
        let mut counts = columns::repeated(0u64, self.slots.len())?;
        for &slot in &column {
            counts[slot as usize] += 1;
        }
        let mut classes = Vec::new();
        let mut kinds = Vec::new();
        let mut new_slots = columns::repeated(0u32, self.slots.len())?;
        for (slot, &count) in (0u32..).zip(&counts).filter(|&(_, &count)| count > 0) {
            new_slots[slot as usize] = classes.len() as u32;
            classes.push(HeapClass {
                name: self.name(slot),
                origin: None,
                evidence: None,
                count,
            });
            kinds.push(self.kind(slot));
        }
        let mut class_slots = column;
        class_slots
            .par_iter_mut()
            .for_each(|slot| *slot = new_slots[*slot as usize]);
        let mut place_slots = Vec::new();
        if self.for_questions && !self.class_objects.is_empty() {
            place_slots = columns::collected(class_slots.iter().copied())?;
            for &(object, class) in self.class_objects {
                place_slots[object.at()] = classes.len() as u32;
                kinds.push(JavaSlotKind::Classes(None));
                classes.push(HeapClass {
                    name: format!("class {}", self.parts.classes.all[class as usize].name),
                    origin: None,
                    evidence: None,
                    count: 0,
                });
            }
        }
        let (shallow_sizes, huge_sizes, _) = sized;
        let table = ObjectTable {
            class_slots,
            place_slots,
            shallow_sizes,
            huge_sizes,
            classes,
            ..ObjectTable::default()
        };
        Ok((table, kinds))
    }

    fn name(&self, slot: u32) -> String {
        match slot.checked_sub(self.slots.classes) {
            None => self.parts.classes.all[slot as usize].name.clone(),
            Some(other) => self.slots.others[other as usize].clone(),
        }
    }

    fn kind(&self, slot: u32) -> JavaSlotKind {
        let is_class = slot < self.slots.classes;
        if slot == self.slots.class_objects {
            return JavaSlotKind::Classes(is_class.then_some(slot));
        }
        match self.slots.element_of(slot) {
            Some(element) => JavaSlotKind::Values(element),
            None if !is_class => JavaSlotKind::Unknown,
            None if is_array(&self.parts.classes, self.slots, slot) => JavaSlotKind::References,
            None => JavaSlotKind::Instances(slot),
        }
    }
}
