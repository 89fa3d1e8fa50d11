//! The table of blocks with their classes.

use std::collections::HashMap;

use base::columns;
use base::error::Result;
use heap::{HeapClass, ObjectTable, TypeEvidence};

use crate::allocator::UsedBlocks;
use crate::types::{BlockClasses, ClassLayout};

/// The objects with their classes: types come first, then sizes, for blocks without a type.
pub(crate) fn object_table(walk: UsedBlocks, types: &BlockClasses) -> Result<ObjectTable> {
    let typed = types.classes.iter().map(|class| HeapClass {
        name: class.name.clone(),
        origin: None,
        evidence: Some(class.evidence),
        count: 0,
    });
    let mut classes: Vec<HeapClass> = typed.collect();
    let overhead = walk.allocator.overhead();
    let mut slots = HashMap::new();
    let mut class_slots = columns::with_capacity(walk.usable.len())?;
    for (nth, &usable) in walk.usable.iter().enumerate() {
        let known = types.class_of.get(nth).copied().flatten();
        let slot = known.unwrap_or_else(|| {
            let size = if usable < 512 {
                usable
            } else {
                1 << usable.ilog2()
            };
            *slots.entry(size).or_insert_with(|| {
                let name = if size < 512 {
                    format!("block of {size} B")
                } else {
                    format!("block of {size} to {} B", u64::from(size) * 2 - 1)
                };
                classes.push(HeapClass {
                    name,
                    origin: None,
                    evidence: Some(TypeEvidence::None),
                    count: 0,
                });
                classes.len() as u32 - 1
            })
        });
        classes[slot as usize].count += 1;
        class_slots.push(slot);
    }
    let plain_fields = types.classes.iter().map(ClassLayout::plain_fields);
    Ok(ObjectTable {
        plain_fields: columns::collected(plain_fields)?,
        addresses: walk.addresses.into(),
        class_slots,
        shallow_sizes: columns::collected(walk.usable.iter().map(|&usable| usable + overhead))?,
        classes,
        ..ObjectTable::default()
    })
}
