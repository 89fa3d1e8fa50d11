//! A dump file that can still be changed, and the memory in it.

use std::ops::DerefMut;

/// Bytes of a dump in front of the global values.
pub const DUMP_HEADER: usize = 24;

/// A dump, in its own memory or in any other bytes.
#[derive(Clone, Debug)]
pub struct DumpFile<B = Vec<u8>> {
    /// The file.
    pub bytes: B,
}

impl DumpFile {
    /// A dump of an all-zero memory. Zeroed pages take no memory until they are written.
    pub fn new(memory_size: u64, globals: usize) -> Self {
        let bytes = vec![0; DumpFile::size(memory_size, globals) as usize];
        DumpFile { bytes }
    }

    /// The size of the file in bytes.
    pub fn size(memory_size: u64, globals: usize) -> u64 {
        (DUMP_HEADER + 4 * globals) as u64 + memory_size
    }

    /// The same dump from a writer that knows no globals.
    pub fn without_globals(&self) -> Self {
        let mut dump = self.clone();
        dump.bytes.drain(DUMP_HEADER..self.memory_start());
        dump.set_header(20, 0);
        dump
    }

    /// The same dump in version 1 of the format, which has no values of globals.
    pub fn of_version_1(&self) -> Self {
        let mut dump = self.without_globals();
        dump.set_header(4, 1);
        dump
    }
}

impl<B: DerefMut<Target = [u8]>> DumpFile<B> {
    /// Writes the beginning of the file, but for the addresses.
    pub fn write_header(&mut self, globals: &[u32]) {
        self.bytes[..4].copy_from_slice(b"ASHD");
        self.set_header(4, 2);
        self.set_header(20, globals.len() as u32);
        for (nth, &value) in globals.iter().enumerate() {
            self.set_header(DUMP_HEADER + 4 * nth, value);
        }
    }

    /// Sets the three addresses in the header.
    pub fn set_boundaries(&mut self, data_end: u32, heap_base: u32, stack_pointer: u32) {
        self.set_header(8, data_end);
        self.set_header(12, heap_base);
        self.set_header(16, stack_pointer);
    }

    /// Writes a word of the header, by its offset in the file.
    pub fn set_header(&mut self, offset: usize, word: u32) {
        MemoryImage(&mut self.bytes).poke(offset as u32, word);
    }

    /// Writes a word of the memory.
    pub fn poke(&mut self, address: u32, word: u32) {
        self.memory().poke(address, word);
    }

    /// Writes consecutive words of the memory.
    pub fn poke_all<'w>(&mut self, address: u32, words: impl IntoIterator<Item = &'w u32>) {
        let mut memory = self.memory();
        for (address, &word) in (address..).step_by(4).zip(words) {
            memory.poke(address, word);
        }
    }

    /// A word of the memory.
    pub fn peek(&self, address: u32) -> u32 {
        word_at(&self.bytes, self.memory_start() + address as usize)
    }

    /// The size of the memory.
    pub fn memory_size(&self) -> u64 {
        (self.bytes.len() - self.memory_start()) as u64
    }

    /// Where the memory begins in the file.
    pub fn memory_start(&self) -> usize {
        DUMP_HEADER + 4 * word_at(&self.bytes, 20) as usize
    }

    /// The memory.
    pub fn memory(&mut self) -> MemoryImage<'_> {
        let start = self.memory_start();
        MemoryImage(&mut self.bytes[start..])
    }
}

fn word_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap())
}

/// A linear memory, for writing large parts of it.
#[derive(Debug)]
pub struct MemoryImage<'m>(pub &'m mut [u8]);

impl MemoryImage<'_> {
    /// Writes a word.
    #[inline]
    pub fn poke(&mut self, address: u32, word: u32) {
        self.poke_words(address, [word]);
    }

    /// Writes consecutive words.
    #[inline]
    pub fn poke_words<const N: usize>(&mut self, address: u32, words: [u32; N]) {
        let start = address as usize;
        let places = self.0[start..start + 4 * N].chunks_exact_mut(4);
        for (place, word) in places.zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// A word.
    #[inline]
    pub fn peek(&self, address: u32) -> u32 {
        word_at(self.0, address as usize)
    }

    /// Puts a block in front of the free list for its size, as the allocator (TLSF) does.
    pub fn add_to_free_list(&mut self, allocator: u32, block: u32, payload_size: u32) {
        const LARGEST: u32 = (1 << 30) - 4;
        let (first, second) = if payload_size < 256 {
            (0, payload_size >> 4)
        } else {
            let exponent = payload_size.min(LARGEST).ilog2();
            let second = (payload_size.min(LARGEST) >> (exponent - 4)) ^ 16;
            (exponent - 7, second)
        };
        let first_level_map = self.peek(allocator) | 1 << first;
        self.poke(allocator, first_level_map);
        let second_level = allocator + 4 + 4 * first;
        self.poke(second_level, self.peek(second_level) | 1 << second);
        let head = allocator + 96 + 4 * (first * 16 + second);
        let next = self.peek(head);
        self.poke(head, block);
        self.poke(block + 4, 0);
        self.poke(block + 8, next);
        if next != 0 {
            self.poke(next + 4, block);
        }
    }

    /// Links these blocks to a circular list.
    pub fn link(&mut self, head: u32, members: &[u32], color: u32) {
        let mut previous = head;
        for &block in members.iter().chain([&head]) {
            let own_color = if previous == head { 0 } else { color };
            self.poke(previous + 4, block | own_color);
            self.poke(block + 8, previous);
            previous = block;
        }
    }
}
