//! Bytes as a recipe for a heap, a module, and damage to both. A recipe is much shorter than what it makes,
//! so a change of one byte changes something that matters.

use std::ops::{Deref, DerefMut};

use engine::dumps::HEADER_SIZE;
use engine::heap::views::Selection;
use engine::outputs::formats::TableOptions;

use crate::choices::Choices;
use crate::module_edits;
use crate::programs::{self, Program};
use crate::support::forge::{Forge, Shape, Size};
use crate::support::random_heap::{Gap, Kind, Plan, Truth, build};
use crate::support::{DumpFile, ModuleOptions, Scene};

/// A program and its dumps, before or after damage.
pub struct Case {
    pub dump: DumpFile,
    /// A later dump of the same run, where there is one.
    pub later: Option<DumpFile>,
    pub module: Vec<u8>,
    /// The scene and the expected result, if they are known.
    pub known: Option<(Scene, Truth)>,
}

/// The choices that make a case.
pub struct Recipe<'a>(Choices<'a>);

impl<'a> Deref for Recipe<'a> {
    type Target = Choices<'a>;

    fn deref(&self) -> &Choices<'a> {
        &self.0
    }
}

impl DerefMut for Recipe<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'a> Recipe<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Choices::new(bytes))
    }

    /// A heap as a program leaves it, and the expected result.
    pub fn heap(&mut self) -> (Scene, Truth) {
        const KINDS: [Kind; 8] = [
            Kind::Node,
            Kind::StaticNode,
            Kind::Text,
            Kind::Array,
            Kind::StaticArray,
            Kind::Map,
            Kind::Set,
            Kind::Tuple,
        ];
        const GAPS: [Gap; 4] = [Gap::Nothing, Gap::Free, Gap::Raw, Gap::ForeignPages];
        let mut foreign = 0;
        let plans: Vec<Plan> = (0..=self.below(32))
            .map(|_| {
                let kind = KINDS[self.below(KINDS.len())];
                let flags = self.byte();
                let before = GAPS[usize::from(flags >> 6)];
                // Foreign pages cost 128 KiB each.
                foreign += u32::from(matches!(before, Gap::ForeignPages));
                Plan {
                    kind,
                    targets: (0..flags & 7).map(|_| self.byte().into()).collect(),
                    roots: [3, 4, 5].map(|bit| flags >> bit & 1 == 1),
                    before: if foreign > 2 { Gap::Nothing } else { before },
                }
            })
            .collect();
        build(&plans)
    }

    /// The module of a scene, as one of several builds.
    pub fn module(&mut self, scene: &Scene) -> Vec<u8> {
        match self.below(4) {
            0 => scene.module(),
            1 => scene.module_with(&ModuleOptions {
                without_names: true,
                ..ModuleOptions::default()
            }),
            2 => scene.module_with_collector(&[]),
            _ => crate::support::encode_module(&scene.globals, &[], &ModuleOptions::default()),
        }
    }

    /// Part of a view, in one of these orders.
    pub fn selection<Sort: Copy>(&mut self, sorts: &[Sort]) -> Selection<Sort> {
        let sort = sorts[self.below(sorts.len())];
        let mut some = || self.byte().checked_sub(128).map(usize::from);
        Selection {
            sort,
            top: some(),
            instances: some(),
        }
    }

    /// How a table is drawn.
    pub fn table(&mut self) -> TableOptions {
        TableOptions {
            width: self.byte().checked_sub(64).map(usize::from),
            color: false,
            ascii_minus: false,
        }
    }

    /// Changes a dump in its important places: header, global values, static objects, stack, words of the
    /// allocator and of the collector, fields, and the size of the file.
    pub fn damage(&mut self, dump: &mut DumpFile) {
        let map = Map::of(dump);
        while !self.is_at_end() {
            let Some(place) = self.place(&map, dump) else {
                continue;
            };
            let Some(bytes) = dump.bytes.get(place..place + 4) else {
                continue;
            };
            let word = u32::from_le_bytes(bytes.try_into().unwrap());
            let word = self.value(word, &map, dump);
            dump.bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// The position of a word to change; `None` if bytes were added or removed instead.
    fn place(&mut self, map: &Map, dump: &mut DumpFile) -> Option<usize> {
        let start = map.memory_start;
        let block = self.block(map) as usize;
        Some(match self.byte() {
            0..16 => 4 * self.below(6),
            16..32 => HEADER_SIZE + 4 * self.below((start - HEADER_SIZE) / 4),
            32..56 => start + 4 * self.below(map.allocator as usize / 4),
            56..84 => start + map.allocator as usize + 4 * self.below(394),
            84..160 => start + block + 4 * self.below(5),
            160..224 => start + block + 20 + 4 * self.below(16),
            // The word before a block is the address of a free block in front of it.
            224..236 => start + block - 4,
            236..252 => dump.bytes.len().checked_sub(4 + 4 * self.below(64))?,
            252 => {
                let at = HEADER_SIZE + 4 * self.below(64);
                let end = dump.bytes.len().min(at + 4 * self.below(4));
                (at < end).then(|| dump.bytes.drain(at..end));
                return None;
            }
            253 => {
                let length = dump.bytes.len().saturating_sub(4096 * self.below(32));
                dump.bytes.truncate(length);
                return None;
            }
            254 => {
                dump.bytes
                    .resize(dump.bytes.len() + 4096 * self.below(32), 0);
                return None;
            }
            _ => {
                let at = dump.bytes.len().min(HEADER_SIZE);
                dump.bytes.splice(at..at, [0; 4]);
                return None;
            }
        })
    }

    /// A block; the position of the first block, if there is none.
    fn block(&mut self, map: &Map) -> u32 {
        let nth = self.below(map.blocks.len().max(1));
        map.blocks.get(nth).copied().unwrap_or(map.first_block)
    }

    /// The replacement for a word.
    fn value(&mut self, word: u32, map: &Map, dump: &DumpFile) -> u32 {
        let other = self.block(map);
        match self.below(10) {
            0 => word.wrapping_add(16 * u32::from(self.byte())),
            1 => word.wrapping_sub(16 * u32::from(self.byte())),
            2 => other,
            3 => other + 20,
            4 => other | 3,
            // A word of another block: its size, its links, its class.
            5 => {
                let at = map.memory_start + other as usize + 4 * self.below(6);
                let bytes = dump.bytes.get(at..at + 4);
                bytes.map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
            }
            6 => 16 * self.below(map.allocator as usize / 16) as u32,
            _ => self.number(word),
        }
    }

    /// An undamaged heap: a small random one, one of the forge, or one of a real program.
    pub fn sound_case(&mut self) -> Case {
        match self.below(4) {
            0 | 1 => {
                let (scene, truth) = self.heap();
                Case {
                    dump: scene.dump(),
                    later: None,
                    module: self.module(&scene),
                    known: Some((scene, truth)),
                }
            }
            2 => {
                let shape = Shape::ALL[self.below(Shape::ALL.len())];
                let objects = 1 + u64::from(self.byte());
                let forge = Forge::new(shape, Size::Objects(objects), self.byte().into());
                Case {
                    dump: forge.dump().0,
                    later: None,
                    module: self.build_of(&forge.module()),
                    known: None,
                }
            }
            _ => {
                let program = self.program();
                Case {
                    dump: program.before.clone(),
                    later: Some(program.after.clone()),
                    module: self.build_of(program.module),
                    known: None,
                }
            }
        }
    }

    /// A real program.
    pub fn program(&mut self) -> &'static Program {
        &programs::ALL[self.below(programs::ALL.len())]
    }

    /// A module with all its names and debug information, or without some.
    fn build_of(&mut self, module: &[u8]) -> Vec<u8> {
        let kind = self.below(4);
        module_edits::without(module, kind & 1 != 0, kind & 2 != 0)
    }
}

/// The important positions of an undamaged dump.
struct Map {
    memory_start: usize,
    allocator: u32,
    first_block: u32,
    /// The blocks of the first region.
    blocks: Vec<u32>,
}

impl Map {
    fn of(dump: &DumpFile) -> Self {
        let heap_base = u32::from_le_bytes(dump.bytes[12..16].try_into().unwrap());
        let allocator = heap_base.next_multiple_of(16);
        let mut blocks = Vec::new();
        let first_block = (allocator + 1572 + 4).next_multiple_of(16) - 4;
        let mut block = first_block;
        while u64::from(block) + 4 <= dump.memory_size() {
            let size = dump.peek(block) & !3;
            if size == 0 {
                break;
            }
            blocks.push(block);
            block += size + 4;
        }
        Self {
            memory_start: dump.memory_start(),
            allocator,
            first_block,
            blocks,
        }
    }
}
