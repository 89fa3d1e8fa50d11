//! Fills the object table: static objects first, then the managed objects among the heap's blocks.

use std::collections::HashMap;

use super::accounting::BlockTotals;
use super::address_index::AddressIndex;
use super::objects::{HeapClass, ObjectTable};
use crate::control::Control;
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::runtime::blocks::Allocator;
use crate::runtime::classes::Classes;
use crate::runtime::collector::{Collector, CollectorState};
use crate::runtime::known_blocks::KnownBlocks;
use crate::runtime::list_membership::list_members;
use crate::runtime::objects::{ObjectHeader, payload_of};
use crate::runtime::regions::{Walk, walk_blocks};
use crate::runtime::statics::static_objects;
use crate::tolerance::Tolerance;
use crate::units::{Address, ClassId, ObjectIndex};
use crate::warning::Warning;

/// Steps between two looks at whether to stop.
const CHECK_INTERVAL: usize = 4096;

/// Finds all objects of a dump, and what the heap's other bytes are.
///
/// # Errors
/// [`Error::HeapCorrupt`](crate::Error::HeapCorrupt) if the blocks cannot be walked to the end of
/// the heap, unless that is tolerated.
pub(super) fn read_objects(
    runtime: &Runtime<'_>,
    tolerance: Tolerance,
    control: &Control,
    warnings: &mut Vec<Warning>,
) -> Result<(ObjectTable, BlockTotals)> {
    let Some(allocator) = runtime.allocator else {
        return Ok(Default::default());
    };
    let mut reader = HeapReader {
        dump: &runtime.dump,
        allocator,
        classes: &runtime.classes,
        collector: &runtime.collector,
        tolerance,
        control,
        warnings,
    };
    reader.read()
}

/// Everything that reading a heap needs.
struct HeapReader<'a> {
    dump: &'a Dump<'a>,
    allocator: Allocator,
    classes: &'a Classes<'a>,
    collector: &'a Collector,
    tolerance: Tolerance,
    control: &'a Control,
    warnings: &'a mut Vec<Warning>,
}

impl HeapReader<'_> {
    fn read(&mut self) -> Result<(ObjectTable, BlockTotals)> {
        let (mut blocks, mut totals, mut walk) = self.linked_blocks()?;
        if self.allocator.tail.is_none() {
            walk.damage = self.missing_heap();
        }
        totals.add_walk(self.dump.memory, self.allocator, &walk);
        if let Some(damage) = walk.damage {
            if !self.tolerance.damage {
                return Err(damage);
            }
            self.warnings.push(Warning::Partial {
                damage: damage.to_string(),
            });
        } else if let Some(total) = self.collector.total.map(u64::from) {
            self.check_total(&mut blocks, total);
        }

        let class_count = self.classes.count();
        let mut table = ObjectTable::default();
        let mut slots = ClassSlots::new(self.classes);
        for (payload, header) in static_objects(self.dump) {
            // Data that only looks like an object has any id.
            if class_count == 0 || header.class_id.0 < class_count {
                push(&mut table, payload, header, 0, &mut slots);
            }
        }
        for (nth, &block) in blocks.addresses.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                self.control.check()?;
            }
            let block = Address(block);
            let header = ObjectHeader::read(self.dump.memory, block);
            if let (Some(header), Some(payload)) = (header, payload_of(block)) {
                push(
                    &mut table,
                    payload,
                    header,
                    header.block.block_size(),
                    &mut slots,
                );
            }
        }
        table.classes = slots.classes;
        table.index = AddressIndex::new(&table.addresses);
        Ok((table, totals))
    }

    /// Why a heap that looks as if it was never used cannot be that.
    fn missing_heap(&self) -> Option<Error> {
        let total = self.collector.total.filter(|&total| total > 0)?;
        Some(Error::HeapCorrupt {
            address: self.allocator.first_block,
            found: format!(
                "an allocator that was never used, although the collector counts {total} bytes of objects"
            ),
            expected: "the allocator's tail pointer",
        })
    }

    /// Walks the heap and keeps the used blocks whose neighbours in a list point back at them.
    fn linked_blocks(&self) -> Result<(LinkedBlocks, BlockTotals, Walk)> {
        let memory = self.dump.memory;
        // While sweeping, the block before the cursor has been freed already and may hold anything.
        let is_sweeping = self.collector.state == Some(CollectorState::Sweeping);
        let cursor = self.collector.cursor.filter(|_| is_sweeping);
        let mut found = LinkedBlocks::default();
        let mut totals = BlockTotals::default();
        let mut visited = 0usize;
        let known = || KnownBlocks::read(memory, self.allocator, self.collector);
        let walk = walk_blocks(memory, self.allocator, known, |block, info| {
            visited += 1;
            if visited.is_multiple_of(CHECK_INTERVAL) {
                self.control.check()?;
            }
            totals.add_block(info);
            if info.is_free() {
                return Ok(());
            }
            let is_object = ObjectHeader::read(memory, block).is_some_and(|header| {
                header.is_linked(memory, block)
                    || (cursor == Some(block) && header.is_linked_forward(memory, block))
            });
            if is_object {
                found.addresses.push(block.0);
                found.sizes.push(info.block_size());
            }
            Ok(())
        })?;
        if self.collector.list_heads.is_none() {
            let members = list_members(memory, self.allocator.first_block, &found.addresses);
            found.keep_where(members);
        }
        Ok((found, totals, walk))
    }

    /// Holds what was found against the collector's own count.
    fn check_total(&mut self, blocks: &mut LinkedBlocks, total: u64) {
        if blocks.total_size() != total {
            // Raw memory that looks linked: two blocks that point at each other are in no list for
            // that.
            let known = KnownBlocks::read(self.dump.memory, self.allocator, self.collector);
            if let Some(members) = known.objects {
                blocks.keep(&members);
            }
        }
        let walk = blocks.total_size();
        if walk != total {
            self.warnings.push(Warning::TotalMismatch {
                collector: total,
                walk,
            });
        }
    }
}

fn push(
    table: &mut ObjectTable,
    payload: Address,
    header: ObjectHeader,
    shallow_size: u32,
    slots: &mut ClassSlots<'_>,
) {
    if header.is_pinned() {
        table.pinned.push(ObjectIndex(table.addresses.len() as u32));
    }
    table.addresses.push(payload.0);
    table.class_slots.push(slots.slot_of(header.class_id));
    table.shallow_sizes.push(shallow_size);
}

/// The blocks that hold managed objects.
#[derive(Default)]
struct LinkedBlocks {
    addresses: Vec<u32>,
    sizes: Vec<u32>,
}

impl LinkedBlocks {
    fn total_size(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    fn keep(&mut self, members: &[u32]) {
        let is_member = |block: &u32| members.binary_search(block).is_ok();
        self.keep_where(self.addresses.iter().map(is_member).collect());
    }

    fn keep_where(&mut self, keep: Vec<bool>) {
        for column in [&mut self.addresses, &mut self.sizes] {
            let mut keep = keep.iter();
            column.retain(|_| keep.next().is_some_and(|&keep| keep));
        }
    }
}

/// Gives every id that occurs a dense number.
struct ClassSlots<'c> {
    known: &'c Classes<'c>,
    by_id: HashMap<ClassId, u32>,
    classes: Vec<HeapClass>,
    last: Option<(ClassId, u32)>,
}

impl<'c> ClassSlots<'c> {
    fn new(known: &'c Classes<'c>) -> Self {
        Self {
            known,
            by_id: HashMap::new(),
            classes: Vec::new(),
            last: None,
        }
    }

    fn slot_of(&mut self, id: ClassId) -> u32 {
        // Neighbours in memory are often of one class.
        let slot = match self.last {
            Some((last_id, slot)) if last_id == id => slot,
            _ => *self.by_id.entry(id).or_insert_with(|| {
                self.classes.push(HeapClass {
                    id,
                    class: self.known.describe(id),
                    count: 0,
                });
                self.classes.len() as u32 - 1
            }),
        };
        self.last = Some((id, slot));
        self.classes[slot as usize].count += 1;
        slot
    }
}
