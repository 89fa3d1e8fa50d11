//! Bytes as a recipe: a heap, what is damaged in it, how the module comes. A recipe is much shorter than
//! what it makes, so a byte of it that changes changes something that matters.

use arbitrary::Unstructured;

use crate::support::random_heap::{Gap, Kind, Plan, Truth, build};
use crate::support::{DumpFile, FIRST_BLOCK, ModuleOptions, Scene};

/// A dump and its module, before or after damage.
pub struct Case {
    pub scene: Scene,
    pub dump: DumpFile,
    pub module: Vec<u8>,
}

/// Choices out of bytes; where they end, every choice is the first.
pub struct Recipe<'a>(Unstructured<'a>);

impl<'a> Recipe<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Unstructured::new(bytes))
    }

    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or_default()
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0.choose_index(limit).unwrap_or_default()
    }

    pub fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    /// A heap as a program leaves it, and the truth about it.
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

    /// Overwrites words of a dump: of the header, of the globals, of the heap.
    pub fn damage(&mut self, dump: &mut DumpFile) {
        let start = dump.memory_start();
        // The last block of these small heaps is free, and most of the memory.
        let end = start + FIRST_BLOCK as usize + 0x1000;
        while !self.is_at_end() {
            let place = match self.byte() {
                0..16 => 4 * self.below(6),
                16..48 => 24 + 4 * self.below(start / 4 - 6),
                48..80 => start + 4 * self.below(FIRST_BLOCK as usize / 4),
                80..96 => dump.bytes.len() - 4 - 4 * self.below(64),
                _ => {
                    let heap = start + FIRST_BLOCK as usize;
                    heap + 4 * self.below((end - heap) / 4)
                }
            };
            let Some(word) = dump.bytes.get(place..place + 4) else {
                continue;
            };
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            let other = |nth: usize| {
                let at = start + FIRST_BLOCK as usize + 4 * nth;
                let bytes = dump.bytes.get(at..at + 4);
                bytes.map_or(0, |bytes| {
                    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
                })
            };
            const REMARKABLE: [u32; 12] = [
                0,
                1,
                3,
                4,
                12,
                16,
                0x7fff_ffff,
                0x8000_0000,
                0xffff_ffec,
                0xffff_fff0,
                0xffff_fffc,
                u32::MAX,
            ];
            let word = match self.below(8) {
                0 => self.word(),
                1 => REMARKABLE[self.below(REMARKABLE.len())],
                2 => word ^ 1 << self.below(32),
                3 => word.wrapping_add(16 * u32::from(self.byte())),
                4 => word.wrapping_sub(16 * u32::from(self.byte())),
                5 => other(self.below(0x400)),
                6 => FIRST_BLOCK + 16 * u32::from(self.byte()),
                _ => FIRST_BLOCK + 20 + 16 * u32::from(self.byte()),
            };
            dump.bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Changes bytes of a module, and inserts and removes some.
    pub fn damage_bytes(&mut self, bytes: &mut Vec<u8>, edits: usize) {
        for _ in 0..edits {
            if bytes.is_empty() || self.is_at_end() {
                return;
            }
            let place = self.below(bytes.len());
            match self.below(4) {
                0 => bytes[place] ^= 1 << self.below(8),
                1 => bytes[place] = self.byte(),
                2 => bytes.insert(place, self.byte()),
                _ => _ = bytes.remove(place),
            }
        }
    }

    /// A heap that is as it should be: whatever is written into payloads, it stays one.
    pub fn sound_case(&mut self) -> (Case, Truth) {
        let (scene, truth) = self.heap();
        let dump = scene.dump();
        let module = self.module(&scene);
        (
            Case {
                scene,
                dump,
                module,
            },
            truth,
        )
    }
}
