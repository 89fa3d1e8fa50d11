//! Writes a heap from its first block to its last, as the runtime would have left it.

use super::super::dump_file::MemoryImage;
use super::super::{
    ARRAY_BUFFER, Class, FREE, LEFT_FREE, LIST_HEADS, OBJECT_HEADER, Object, PAGE, TAIL_OFFSET,
    block_payload, first_block_behind, first_block_of_region,
};
use super::random::Random;
use super::{Blocks, Truth};

/// The bytes of the block of an object of this size.
pub const fn block_size(size: u32) -> u32 {
    raw_block_size(size + OBJECT_HEADER - 4)
}

/// The bytes of a block with this payload.
const fn raw_block_size(payload: u32) -> u32 {
    block_payload(payload) + 4
}

/// The head of the list that all objects are in. The order of its members is that of allocation,
/// unless said otherwise.
pub const LIST: u32 = LIST_HEADS[0];

/// A heap under construction.
pub struct HeapWriter<'m> {
    memory: MemoryImage<'m>,
    allocator: u32,
    /// The address of the next block; past `u32::MAX` when a memory of 4 GiB is full.
    next: u64,
    /// Whether the block in front of that is free: its flag for the next block.
    left_flag: u32,
    /// Numbers to fill the heap with.
    pub random: Random,
    truth: Truth,
    records: bool,
}

/// An `Array` and its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    pub object: Object,
    buffer: Object,
}

impl<'m> HeapWriter<'m> {
    pub fn new(memory: MemoryImage<'m>, allocator: u32, seed: u64, records: bool) -> Self {
        let mut heap = Self {
            memory,
            allocator,
            next: first_block_behind(allocator).into(),
            left_flag: 0,
            random: Random::new(seed),
            truth: Truth::default(),
            records,
        };
        for head in LIST_HEADS {
            heap.memory.link(head, &[], 0);
        }
        heap
    }

    /// The next object to be allocated.
    pub fn next_object(&self) -> Object {
        Object(self.next as u32 + OBJECT_HEADER)
    }

    /// Allocates an object that the root will reach.
    #[inline]
    pub fn object(&mut self, class: Class, size: u32) -> Object {
        self.truth.live.add(block_size(size).into());
        self.appended(class, size)
    }

    /// Allocates an object that the root will not reach.
    #[inline]
    pub fn garbage(&mut self, class: Class, size: u32) -> Object {
        self.truth.garbage.add(block_size(size).into());
        self.appended(class, size)
    }

    /// Adds an object at the end of the list, as the collector does.
    #[inline]
    fn appended(&mut self, class: Class, size: u32) -> Object {
        let block = self.next as u32;
        let last = self.memory.peek(LIST + 8);
        self.memory.poke(last + 4, block);
        self.memory.poke(LIST + 8, block);
        self.block_of_object(class, size, last, LIST)
    }

    /// Allocates a live object that has its place between these two of the list; the blocks may not
    /// be there yet.
    pub fn object_between(
        &mut self,
        class: Class,
        size: u32,
        [previous, next]: [u32; 2],
    ) -> Object {
        self.truth.live.add(block_size(size).into());
        let block = self.next as u32;
        if previous == LIST {
            self.memory.poke(LIST + 4, block);
        }
        if next == LIST {
            self.memory.poke(LIST + 8, block);
        }
        self.block_of_object(class, size, previous, next)
    }

    #[inline]
    fn block_of_object(&mut self, class: Class, size: u32, previous: u32, next: u32) -> Object {
        let info = self.block_info(size + OBJECT_HEADER - 4);
        let block = self.take(info);
        let header = [info, next, previous, class.id, size];
        self.memory.poke_words(block, header);
        Object(block + OBJECT_HEADER)
    }

    /// Allocates memory that is no object. Returns the address of its first word.
    pub fn raw(&mut self, payload: u32) -> u32 {
        self.truth.raw.add(raw_block_size(payload).into());
        let info = self.block_info(payload);
        let block = self.take(info);
        self.memory.poke(block, info);
        block + 4
    }

    /// Leaves a block free. Another free block must not touch it.
    pub fn free(&mut self, payload: u32) {
        assert_eq!(self.left_flag, 0, "two free blocks in a row");
        let payload = block_payload(payload);
        self.truth.free.add(u64::from(payload) + 4);
        let block = self.take(payload);
        self.memory.poke(block, payload | FREE);
        self.memory.poke(block + payload, block);
        self.memory.add_to_free_list(self.allocator, block, payload);
        self.left_flag = LEFT_FREE;
    }

    /// Simulates a call of `memory.grow` by other code: the allocator's next region begins after these pages,
    /// which are full of numbers.
    pub fn foreign_pages(&mut self, pages: u32) {
        let start = (self.next + 4).next_multiple_of(PAGE.into());
        self.close_region(start);
        let end = start as u32 + pages * PAGE;
        self.fill_with_numbers(start as u32, pages * PAGE);
        self.next = first_block_of_region(end).into();
        self.truth.gaps += u64::from(pages * PAGE);
        self.truth.overhead += self.next - u64::from(end);
    }

    #[inline]
    fn block_info(&self, payload: u32) -> u32 {
        block_payload(payload) | self.left_flag
    }

    #[inline]
    fn take(&mut self, info: u32) -> u32 {
        let block = self.next as u32;
        self.next += u64::from(info & !(FREE | LEFT_FREE)) + 4;
        self.left_flag = 0;
        block
    }

    /// Writes one free block for the rest of a region, and ends the region.
    fn close_region(&mut self, end: u64) {
        let tail = (end - 4) as u32;
        if self.next < u64::from(tail) {
            self.free(tail - self.next as u32 - 4);
        }
        self.memory.poke(tail, self.left_flag);
        self.memory.poke(self.allocator + TAIL_OFFSET, tail);
        self.left_flag = 0;
        self.truth.overhead += 4;
    }

    /// Ends the heap with the memory.
    pub fn finish(mut self) -> Truth {
        let end = self.memory.0.len() as u64;
        self.close_region(end);
        self.truth
    }

    // Contents.

    /// Writes a word of an object that is no reference.
    #[inline]
    pub fn set(&mut self, object: Object, offset: u32, word: u32) {
        self.memory.poke(object.0 + offset, word);
    }

    /// Lets one object refer to another, by the word at an offset.
    #[inline]
    pub fn refer(&mut self, from: Object, offset: u32, to: Object) {
        self.refer_at(from, from.0 + offset, to);
    }

    /// Lets one object refer to another, by the word at an address.
    #[inline]
    pub fn refer_at(&mut self, from: Object, address: u32, to: Object) {
        self.memory.poke(address, to.0);
        if self.records {
            self.truth.references.push((from, to));
        }
    }

    /// Allocates an `Array` of this length, whose elements are still null.
    pub fn array(&mut self, class: Class, length: u32) -> Array {
        let object = self.object(class, 16);
        let buffer = self.object(ARRAY_BUFFER, 4 * length);
        self.refer(object, 0, buffer);
        let words = [buffer.0, 4 * length, length];
        self.memory.poke_words(object.0 + 4, words);
        Array { object, buffer }
    }

    /// Sets an element.
    #[inline]
    pub fn element(&mut self, array: Array, nth: u32, to: Object) {
        self.refer_at(array.object, array.buffer.0 + 4 * nth, to);
    }

    /// Fills memory with the letters of a text.
    pub fn fill_with_text(&mut self, address: u32, bytes: u32) {
        for at in (address..address + bytes).step_by(8) {
            let letters = (self.random.next() & 0x000f_000f_000f_000f) + 0x0061_0061_0061_0061;
            let words = [letters as u32, (letters >> 32) as u32];
            match address + bytes - at {
                ..=4 => self.memory.poke(at, words[0]),
                _ => self.memory.poke_words(at, words),
            }
        }
    }

    /// Fills memory, by the word, with any numbers.
    pub fn fill_with_numbers(&mut self, address: u32, bytes: u32) {
        for at in (address..address + bytes).step_by(4) {
            let number = self.random.next() as u32;
            self.memory.poke(at, number);
        }
    }

    /// Makes raw memory look like an object of a class: the header is correct, but no neighbour refers back.
    pub fn disguise(&mut self, raw: u32, class: Class) {
        let last = self.memory.peek(LIST + 8);
        self.memory.poke_words(raw, [last, last, class.id, 8]);
    }

    // The known facts.

    /// Stores the retained size of an object.
    pub fn knows(&mut self, object: Object, retained: u64) {
        self.truth.retained.push((object, retained));
    }

    /// The live objects so far.
    pub fn live(&self) -> Blocks {
        self.truth.live
    }
}
