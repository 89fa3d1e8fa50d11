//! The object table: one row per static object and per managed heap object, in address order,
//! as columns.

use std::collections::HashMap;

use super::accounting::BlockTotals;
use super::address_index::AddressIndex;
use crate::control::Control;
use crate::dump::Dump;
use crate::error::Result;
use crate::runtime::blocks::{Allocator, BlockInfo};
use crate::runtime::classes::{Classes, RuntimeClass};
use crate::runtime::collector::{Collector, CollectorState};
use crate::runtime::known_blocks::KnownBlocks;
use crate::runtime::objects::{ObjectHeader, payload_of};
use crate::runtime::regions::walk_blocks;
use crate::runtime::statics::static_objects;
use crate::units::{Address, ClassId, ObjectIndex};
use crate::warning::Warning;

/// A class that has objects in the dump.
#[derive(Debug)]
pub struct HeapClass {
    /// The runtime id.
    pub id: ClassId,
    /// Its name and layout.
    pub class: RuntimeClass,
    /// How many rows of the table are of this class, whether alive or not.
    pub count: u64,
}

/// All objects, alive or not. Static objects come first: they lie below the heap.
#[derive(Debug, Default)]
pub struct ObjectTable {
    /// Payload addresses, ascending.
    pub addresses: Vec<u32>,
    /// Positions in `classes`.
    pub class_slots: Vec<u32>,
    /// Block sizes in bytes; 0 for static objects, which take no heap space.
    pub shallow_sizes: Vec<u32>,
    /// The classes that occur.
    pub classes: Vec<HeapClass>,
    /// Pinned objects, ascending.
    pub pinned: Vec<ObjectIndex>,
    /// Finds an object by its address.
    pub index: AddressIndex,
}

impl ObjectTable {
    /// Finds all objects of a dump, and what the heap's other bytes are.
    ///
    /// # Errors
    /// [`Error::HeapCorrupt`](crate::Error::HeapCorrupt) if the blocks cannot be walked to the
    /// end of the heap.
    pub(super) fn read(
        dump: &Dump<'_>,
        allocator: Allocator,
        classes: &Classes<'_>,
        collector: &Collector,
        control: &Control,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Self, BlockTotals)> {
        let mut blocks = linked_blocks(dump, allocator, collector, control)?;
        if let Some(total) = collector.total.map(u64::from) {
            if blocks.total_size != total
                && let Some(members) = KnownBlocks::read(dump.memory, allocator, collector).objects
            {
                // Raw memory that looks linked: two blocks that point at each other are in no
                // list for that.
                blocks.keep(&members);
            }
            if blocks.total_size != total {
                warnings.push(Warning::TotalMismatch {
                    collector: total,
                    walk: blocks.total_size,
                });
            }
        }

        let mut table = Self::default();
        let mut slots = ClassSlots::new(classes);
        for (payload, header) in static_objects(dump) {
            table.push(payload, header, 0, &mut slots);
        }
        for (nth, &block) in blocks.addresses.iter().enumerate() {
            if nth % 4096 == 0 {
                control.check()?;
            }
            let block = Address(block);
            if let (Some(header), Some(payload)) =
                (ObjectHeader::read(dump.memory, block), payload_of(block))
            {
                table.push(payload, header, header.block.block_size(), &mut slots);
            }
        }
        table.classes = slots.classes;
        table.index = AddressIndex::new(&table.addresses);
        Ok((table, blocks.totals))
    }

    /// The bytes of all managed heap objects, alive or not.
    pub fn heap_bytes(&self) -> u64 {
        self.shallow_sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// How many objects there are, static ones included.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there is no object at all.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Whether the object takes heap space. The smallest block has 16 bytes.
    #[inline]
    pub fn is_on_heap(&self, object: ObjectIndex) -> bool {
        self.shallow_sizes[object.at()] != 0
    }

    /// The class of an object.
    #[inline]
    pub fn class_of(&self, object: ObjectIndex) -> &HeapClass {
        &self.classes[self.class_slots[object.at()] as usize]
    }

    fn push(
        &mut self,
        payload: Address,
        header: ObjectHeader,
        shallow_size: u32,
        slots: &mut ClassSlots<'_>,
    ) {
        if header.is_pinned() {
            self.pinned.push(ObjectIndex(self.addresses.len() as u32));
        }
        self.addresses.push(payload.0);
        self.class_slots.push(slots.slot_of(header.class_id));
        self.shallow_sizes.push(shallow_size);
    }
}

/// The blocks that hold managed objects.
struct LinkedBlocks {
    addresses: Vec<u32>,
    sizes: Vec<u32>,
    total_size: u64,
    totals: BlockTotals,
}

impl LinkedBlocks {
    fn keep(&mut self, members: &[u32]) {
        let is_member = |block: &u32| members.binary_search(block).is_ok();
        let mut kept = self.addresses.iter().map(is_member);
        self.sizes.retain(|_| kept.next().unwrap_or(false));
        self.addresses.retain(is_member);
        self.total_size = self.sizes.iter().map(|&size| u64::from(size)).sum();
    }
}

/// Walks the heap and keeps the used blocks whose neighbours in a list point back at them.
fn linked_blocks(
    dump: &Dump<'_>,
    allocator: Allocator,
    collector: &Collector,
    control: &Control,
) -> Result<LinkedBlocks> {
    let memory = dump.memory;
    // While sweeping, the block before the cursor has been freed already and may hold anything.
    let cursor = collector
        .cursor
        .filter(|_| collector.state == Some(CollectorState::Sweeping));
    let mut found = LinkedBlocks {
        addresses: Vec::new(),
        sizes: Vec::new(),
        total_size: 0,
        totals: BlockTotals::default(),
    };
    let mut visited = 0u32;
    let known = || KnownBlocks::read(memory, allocator, collector);
    let regions = walk_blocks(memory, allocator, known, |block, info: BlockInfo| {
        visited = visited.wrapping_add(1);
        if visited.is_multiple_of(4096) {
            control.check()?;
        }
        found.totals.add_block(info);
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
            found.total_size += u64::from(info.block_size());
        }
        Ok(())
    })?;
    found.totals.add_regions(memory, allocator, &regions);
    Ok(found)
}

/// Gives every id that occurs a dense number.
struct ClassSlots<'c> {
    known: &'c Classes<'c>,
    by_id: HashMap<ClassId, u32>,
    classes: Vec<HeapClass>,
    last: (ClassId, u32),
}

impl<'c> ClassSlots<'c> {
    fn new(known: &'c Classes<'c>) -> Self {
        Self {
            known,
            by_id: HashMap::new(),
            classes: Vec::new(),
            last: (ClassId(0), u32::MAX),
        }
    }

    fn slot_of(&mut self, id: ClassId) -> u32 {
        // Neighbours in memory are often of one class.
        let slot = if self.last.0 == id && self.last.1 != u32::MAX {
            self.last.1
        } else {
            *self.by_id.entry(id).or_insert_with(|| {
                self.classes.push(HeapClass {
                    id,
                    class: self.known.describe(id),
                    count: 0,
                });
                self.classes.len() as u32 - 1
            })
        };
        self.last = (id, slot);
        self.classes[slot as usize].count += 1;
        slot
    }
}
