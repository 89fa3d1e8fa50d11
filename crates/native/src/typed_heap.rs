//! A heap of blocks with what is known of their types, and the memory in which their contents are.

use std::collections::HashMap;
use std::sync::Arc;

use base::error::Result;
use base::units::ObjectIndex;
use heap::{Facts, Heap};

use crate::allocator::Allocator;
use crate::dump_memory::{DumpMemory, WindowReader};
use crate::types::{BlockClasses, ClassLayout, ContainerUse};

/// What the source of a heap needs beside the heap.
#[derive(Default)]
pub(crate) struct NativeShapes {
    /// What is known of the types of blocks. Its classes are the first of the heap.
    pub(crate) types: BlockClasses,
    /// By reference: the number of its word in its block.
    pub(crate) words: Vec<u32>,
    /// What the addresses of blocks are multiples of; 0 if that is not known.
    pub(crate) alignment: u32,
    /// Bytes of the stack that are in use.
    pub(crate) stack_size: u32,
}

/// The heap of one dump.
pub(crate) struct NativeSource {
    pub(crate) heap: Arc<Heap>,
    pub(crate) facts: Facts,
    pub(crate) allocator: Allocator,
    pub(crate) shapes: NativeShapes,
    pub(crate) memory: DumpMemory,
    /// The used bytes of buffers of containers whose elements begin at the start.
    used: HashMap<ObjectIndex, u32>,
}

impl NativeSource {
    pub(crate) fn new(
        heap: Arc<Heap>,
        program: u64,
        allocator: Allocator,
        shapes: NativeShapes,
        memory: DumpMemory,
    ) -> Self {
        let uses = shapes.types.uses.iter();
        let mut used = HashMap::new();
        for found in uses.filter(|found| found.is_from_start) {
            // A slice may have a part of what a list has.
            let most: &mut u32 = used.entry(found.buffer).or_default();
            *most = found.used.max(*most);
        }
        Self {
            used,
            facts: crate::facts::facts(program, !shapes.types.classes.is_empty()),
            heap,
            allocator,
            shapes,
            memory,
        }
    }

    pub(crate) fn heap(&self) -> &Heap {
        &self.heap
    }

    pub(crate) fn memory(&self) -> &DumpMemory {
        &self.memory
    }

    /// By class slot, as far as types are known.
    pub(crate) fn classes(&self) -> &[ClassLayout] {
        &self.shapes.types.classes
    }

    /// What is known of the type of an object.
    pub(crate) fn class(&self, object: ObjectIndex) -> Option<&ClassLayout> {
        let slot = self.heap.objects.class_slots[object.at()];
        self.classes().get(slot as usize)
    }

    /// The buffers of containers.
    pub(crate) fn uses(&self) -> &[ContainerUse] {
        &self.shapes.types.uses
    }

    /// The offset in its block of the reference at this position.
    pub(crate) fn offset_of(&self, position: u32) -> Option<u32> {
        self.shapes.words.get(position as usize)?.checked_mul(4)
    }

    /// The bytes before the first element of a block.
    pub(crate) fn base_of(&self, object: ObjectIndex) -> u32 {
        let bases = &self.shapes.types.bases;
        bases.get(&object.0).copied().unwrap_or(0)
    }

    /// The block that contains an address.
    pub(crate) fn block_around(&self, address: u32) -> Option<ObjectIndex> {
        let addresses = self.heap.objects.addresses.words();
        let after = addresses.partition_point(|&start| start <= address);
        let nth = after.checked_sub(1)?;
        let object = ObjectIndex(nth as u32);
        let end = u64::from(addresses[nth]) + u64::from(self.usable(object));
        (u64::from(address) < end).then_some(object)
    }

    /// The bytes of a block that the program may use.
    pub(crate) fn usable(&self, object: ObjectIndex) -> u32 {
        let size = self.heap.block_size(object);
        size.saturating_sub(self.allocator.overhead())
    }

    /// The bytes of a buffer that its container uses, if they are the first ones and it is known.
    pub(crate) fn used_of(&self, object: ObjectIndex) -> Option<u32> {
        self.used.get(&object).copied()
    }

    pub(crate) fn is_text(&self, object: ObjectIndex) -> bool {
        self.class(object).is_some_and(|class| class.is_text)
    }

    /// The bytes of a text: those that its container uses, or all of its block.
    pub(crate) fn text_of<'r>(
        &self,
        object: ObjectIndex,
        memory: &'r mut WindowReader<'_>,
    ) -> Result<&'r [u8]> {
        let usable = self.usable(object);
        let used = self.used_of(object).unwrap_or(usable);
        memory.read(self.heap.memory_address(object).0, used.min(usable))
    }
}
