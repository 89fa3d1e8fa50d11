//! Memories of programs of C: the state and the blocks of an allocator, pointers, and damage to all of that.

use std::ops::Range;

use engine::Tolerance;

use crate::choices::Choices;
use crate::invariants;
use crate::targets::analyze_within;

const MEMORY: usize = 1 << 16;
pub const STATE: u32 = 1024;
pub const HEAP: u32 = 4096;
/// The most blocks of a heap.
const MOST: usize = 100;

/// A memory.
pub struct Image(Vec<u8>);

impl Default for Image {
    fn default() -> Self {
        Self(vec![0; MEMORY])
    }
}

impl Image {
    pub fn put(&mut self, at: u32, word: u32) {
        let at = at as usize;
        if let Some(place) = self.0.get_mut(at..at + 4) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn word(&self, at: u32) -> u32 {
        let bytes = self.0.get(at as usize..at as usize + 4);
        bytes.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    }

    /// dlmalloc of C with one segment. Returns where its blocks end, and the bytes of those that are used.
    pub fn dlmalloc(&mut self, choices: &mut Choices<'_>) -> (u32, Vec<Range<u32>>) {
        let mut blocks = Vec::new();
        let base = HEAP + 8;
        let mut at = base;
        let mut is_previous_used = 1;
        for _ in 0..choices.below(MOST) {
            let size = 16 + 16 * choices.below(8) as u32;
            // Two free chunks never follow each other.
            let is_used = u32::from(choices.below(3) > 0 || is_previous_used == 0);
            self.put(at + 4, size | is_used << 1 | is_previous_used);
            if is_used == 0 {
                self.put(at + size, size);
            } else {
                self.put(at + 8, choices.below(MEMORY) as u32);
                blocks.push(at + 8..at + 4 + size);
            }
            is_previous_used = is_used;
            at += size;
        }
        if is_previous_used == 0 {
            self.put(at + 4, 16 | 2);
            blocks.push(at + 8..at + 20);
            at += 16;
        }
        let top_size = 1024;
        self.put(at + 4, top_size | 1);
        self.put(at + top_size + 4, 56);
        self.put(STATE + 12, top_size);
        self.put(STATE + 24, at);
        self.put(STATE + 448, base);
        self.put(STATE + 452, at + top_size + 56 - base);
        (at, blocks)
    }

    /// emmalloc with up to three root blocks.
    fn emmalloc(&mut self, choices: &mut Choices<'_>) -> u32 {
        let (mut at, mut next) = (HEAP, 0);
        for _ in 0..1 + choices.below(3) {
            let root = at;
            let mut add = |image: &mut Self, size: u32, flag: u32| {
                image.put(at, size);
                image.put(at + size - 4, size | flag);
                at += size;
            };
            add(self, 16 + 4 * choices.below(2) as u32, 0);
            for _ in 0..choices.below(MOST / 3) {
                let size = 16 + 8 * choices.below(8) as u32;
                add(self, size, u32::from(choices.below(3) == 0));
            }
            add(self, 16, 0);
            self.put(root + 4, next);
            self.put(root + 8, at);
            next = root;
            at += 64;
        }
        self.put(STATE, next);
        at
    }
}

/// A module that the linker of C wrote, with a stack below its static data, or without a name.
/// It has these sections beside.
pub fn module(is_named: bool, more: &[(&str, &[u8])]) -> Vec<u8> {
    use wasm_encoder::{
        ConstExpr, CustomSection, GlobalSection, GlobalType, MemorySection, MemoryType, Module,
        NameMap, NameSection, ValType,
    };
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let mut globals = GlobalSection::new();
    let ty = GlobalType {
        val_type: ValType::I32,
        mutable: true,
        shared: false,
    };
    globals.global(ty, &ConstExpr::i32_const(STATE as i32));
    let mut module = Module::new();
    module.section(&memories).section(&globals);
    if is_named {
        let mut map = NameMap::new();
        map.append(0, "__stack_pointer");
        let mut names = NameSection::new();
        names.globals(&map);
        module.section(&names);
    } else {
        module.section(&CustomSection {
            name: "no names".into(),
            data: (&[][..]).into(),
        });
    }
    for (name, bytes) in more {
        module.section(&CustomSection {
            name: (*name).into(),
            data: (*bytes).into(),
        });
    }
    module.finish()
}

/// A dump of a memory whose stack begins at an address.
pub fn dump_of(image: &Image, stack: u32) -> Vec<u8> {
    let mut dump = b"ASHD".to_vec();
    for word in [2, 0, 0, stack, 1, stack] {
        dump.extend_from_slice(&u32::to_le_bytes(word));
    }
    dump.extend_from_slice(&image.0);
    dump
}

/// The input makes a heap and damages it. Whatever is found, the blocks lie in the memory and have roots.
pub fn native(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut image = Image::default();
    let end = match choices.below(2) {
        0 => image.dlmalloc(&mut choices).0,
        _ => image.emmalloc(&mut choices),
    };
    image.put(STATE - 8, choices.below(MEMORY) as u32);
    for _ in 0..choices.below(8) {
        let at = match choices.below(4) {
            0 => STATE + 4 * choices.below(120) as u32,
            _ => HEAP + 4 * choices.below((end - HEAP) as usize / 4 + 512) as u32,
        };
        let word = choices.number(image.word(at));
        image.put(at, word);
    }
    let is_named = choices.below(2) == 0;
    let stack = choices.below(STATE as usize + 1) as u32;
    let dump = dump_of(&image, stack);
    let wasm = module(is_named, &[]);
    if let Ok(heap) = analyze_within(&dump, &wasm, Tolerance::default()) {
        assert!(heap.live_size <= MEMORY as u64);
        assert!(heap.total_size.unwrap_or(0) <= MEMORY as u64);
        assert!(heap.garbage().next().is_none(), "a block without a root");
        invariants::check(heap);
    }
}
