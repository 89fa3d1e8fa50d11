//! One word of a header in a sound dump is changed: no other numbers may result without a warning, except by the
//! changes that nothing in the dump contradicts. They are counted here by kind, and listed in docs/numbers.md.
//!
//! The dumps are of real programs: a stock compiler's with names and without, while the collector marks and
//! sweeps, and WARPO's. `tests/headers/shelf.ts` is the source of `debug` and `release`. One object of each class
//! is changed: every fourth change, or with the environment variable `HEADER_CHANGES`, every change.
//!
//! The links of the allocator's free lists are no part of this: every number comes from the walk over the blocks. The
//! lists are read only to find a second region.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::heap::Heap;
use engine::{Control, Error, Input, ObjectIndex, Program};
use flate2::read::GzDecoder;

/// The words of a header.
const WORDS: [&str; 5] = ["mmInfo", "next", "prev", "rtId", "rtSize"];

/// The ordinary run makes every fourth change.
const SAMPLED: u64 = 4;

/// The bits that are changed: flags and colours, small sizes, and some high ones.
const BITS: [u32; 9] = [0, 1, 2, 3, 4, 5, 8, 16, 31];

/// The kinds of changes that may be silent, with their reasons: see [`allowed_kind`].
const KINDS: usize = 3;

/// A dump, and how many silent changes of each kind there are.
struct Sample {
    dump: &'static str,
    module: &'static str,
    /// Of the sampled changes.
    sampled: [u64; KINDS],
    /// Of all changes.
    silent: [u64; KINDS],
}

const SAMPLES: [Sample; 7] = [
    Sample {
        dump: "tests/headers/debug.idle.dump.gz",
        module: "tests/headers/debug.wasm.gz",
        sampled: [6, 0, 0],
        silent: [21, 0, 0],
    },
    Sample {
        dump: "tests/headers/debug.sweeping.dump.gz",
        module: "tests/headers/debug.wasm.gz",
        sampled: [6, 0, 0],
        silent: [21, 0, 0],
    },
    Sample {
        dump: "tests/headers/release.sweeping.dump.gz",
        module: "tests/headers/release.wasm.gz",
        sampled: [7, 0, 1],
        silent: [25, 0, 3],
    },
    Sample {
        dump: "tests/headers/pins.marking.dump.gz",
        module: "tests/headers/pins.wasm.gz",
        sampled: [1, 0, 0],
        silent: [4, 0, 0],
    },
    Sample {
        dump: "../../__test__/samples/warpo-town/town.1.dump.gz",
        module: "../../__test__/samples/warpo-town/town.wasm.gz",
        sampled: [4, 0, 0],
        silent: [20, 0, 0],
    },
    Sample {
        dump: "../../__test__/samples/warpo-optimised/tiny-O1/tiny.1.dump.gz",
        module: "../../__test__/samples/warpo-optimised/tiny-O1/tiny.wasm.gz",
        sampled: [0, 0, 0],
        silent: [0, 0, 0],
    },
    Sample {
        dump: "../../__test__/samples/warpo-optimised/radical-O3/consts.2.dump.gz",
        module: "../../__test__/samples/warpo-optimised/radical-O3/consts.wasm.gz",
        sampled: [4, 1, 0],
        silent: [12, 3, 0],
    },
];

/// Everything that a result says, without its warnings.
#[derive(PartialEq)]
struct Numbers {
    total_size: Option<u64>,
    accounting: String,
    /// Per live object: address, class, shallow size, retained size.
    live: Vec<(u32, String, u64, u64)>,
}

impl Numbers {
    fn new(heap: &Heap) -> Self {
        let row = |object: ObjectIndex| {
            let class = heap.objects.class_of(object).name.clone();
            let sizes = (heap.shallow_size(object), heap.retained_size(object));
            (heap.memory_address(object).0, class, sizes.0, sizes.1)
        };
        Self {
            total_size: heap.total_size,
            accounting: format!("{:?}", heap.accounting),
            live: heap.live_heap_objects().map(row).collect(),
        }
    }
}

/// The number of noticed changes of one word, and of those that change no number.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    errors: u64,
    warnings: u64,
    same: u64,
}

fn unzipped(path: &str) -> Vec<u8> {
    let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn analyze(program: &Program<'_>, dump: &[u8]) -> Result<Heap, Error> {
    let input = Input {
        name: "dump",
        bytes: dump,
    };
    program.analyze(input, &Control::default())
}

fn messages(heap: &Heap) -> BTreeSet<String> {
    heap.warnings.iter().map(ToString::to_string).collect()
}

/// A sound dump, of which one word at a time is changed.
struct Sound {
    bytes: Vec<u8>,
    memory_at: usize,
    /// The payloads of the objects on the heap.
    objects: Vec<u32>,
    /// Of these, the first of each class.
    first_of_class: Vec<u32>,
    class_ids: Vec<u32>,
}

impl Sound {
    fn new(bytes: Vec<u8>, heap: &Heap) -> Self {
        let objects = (0..heap.objects.len() as u32).map(ObjectIndex);
        let objects: Vec<_> = objects
            .filter(|&object| heap.objects.is_on_heap(object))
            .collect();
        let global_count = u32::from_le_bytes(bytes[20..24].try_into().unwrap());
        let mut sound = Self {
            memory_at: 24 + 4 * global_count as usize,
            objects: objects
                .iter()
                .map(|&object| heap.memory_address(object).0)
                .collect(),
            first_of_class: Vec::new(),
            class_ids: Vec::new(),
            bytes,
        };
        // All static objects and heap objects have a header, with the class id before the size.
        let id_of = |object| sound.word(heap.memory_address(object).0 - 8);
        let mut firsts = BTreeMap::new();
        for &object in &objects {
            if heap.is_live_on_heap(object) {
                firsts
                    .entry(id_of(object))
                    .or_insert(heap.memory_address(object).0);
            }
        }
        let class_ids: BTreeSet<_> = (0..heap.objects.len() as u32)
            .map(|object| id_of(ObjectIndex(object)))
            .collect();
        sound.first_of_class = firsts.into_values().collect();
        sound.class_ids = class_ids.into_iter().collect();
        sound
    }

    fn word(&self, address: u32) -> u32 {
        let at = self.memory_at + address as usize;
        let bytes = self.bytes.get(at..at + 4).unwrap_or(&[0; 4]);
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    fn set_word(&mut self, address: u32, word: u32) {
        let at = self.memory_at + address as usize;
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    /// Whether the object in this block is pinned, and no other object is.
    fn is_only_pinned(&self, block: u32) -> bool {
        let link = self.word(block + 4);
        link & 3 == 3 && link & !3 == self.word(block + 8)
    }

    /// The values to which the word at this position of a header is changed.
    fn changes(&self, payload: u32, nth: usize) -> BTreeSet<u32> {
        let block = payload - 20;
        let word = self.word(block + 4 * nth as u32);
        let mut changes: BTreeSet<_> = BITS.into_iter().map(|bit| word ^ 1 << bit).collect();
        changes.extend([word.wrapping_add(16), word.wrapping_sub(16), 0]);
        let other = self.objects[payload as usize / 16 % self.objects.len()] - 20;
        match nth {
            // The block after it is swallowed.
            0 => {
                let next = block + 4 + (word & !3);
                changes.insert(word + 4 + (self.word(next) & !3));
            }
            1 => changes.extend([self.word(block + 8) | word & 3, other | word & 3]),
            2 => changes.extend([self.word(block + 4) & !3, other]),
            3 => changes.extend(&self.class_ids),
            _ => {}
        }
        changes.remove(&word);
        changes
    }
}

/// Reads a sample: its program, and the dump with its result.
fn with_sample<T>(
    Sample { dump, module, .. }: &Sample,
    run: impl FnOnce(&Program<'_>, &Heap, Sound) -> T,
) -> T {
    let wasm = unzipped(module);
    let input = Input {
        name: "module",
        bytes: &wasm[..],
    };
    let program = Program::read(input, &Control::default()).unwrap();
    let bytes = unzipped(dump);
    let heap = analyze(&program, &bytes).unwrap();
    assert!(
        !messages(&heap)
            .iter()
            .any(|text| text.contains("may be wrong")),
        "{dump}: {:?}",
        messages(&heap)
    );
    let sound = Sound::new(bytes, &heap);
    run(&program, &heap, sound)
}

/// The kind of a silent change of the word at this position of a header, if it is one that nothing contradicts.
fn allowed_kind(sound: &Sound, payload: u32, nth: usize, value: u32) -> Option<usize> {
    let block = payload - 20;
    match nth {
        // Another class: the object has a possible size of that class, and what refers to it, a variable or an
        // object, has no declared type that excludes the class. A sound program can have such an object.
        3 => Some(0),
        // Another size in the same block, of a class whose objects have no fixed size.
        4 => {
            let block_payload = sound.word(block) & !3;
            (value + 16 <= block_payload && value < sound.word(block + 16)).then_some(1)
        }
        // The only pinned object, if the list heads have no names: only the object itself says that it is pinned,
        // and that the block before it ends there.
        1 => (sound.is_only_pinned(block) && value & !3 == sound.word(block + 4) & !3).then_some(2),
        0 => {
            let next = block + 4 + (sound.word(block) & !3);
            sound.is_only_pinned(next).then_some(2)
        }
        _ => None,
    }
}

/// Changes headers of a dump; returns the number of silent changes by kind.
fn silent_changes(sample: &Sample, all: bool) -> [u64; KINDS] {
    let name = sample.dump;
    with_sample(sample, |program, heap, mut sound| {
        let (numbers, said) = (Numbers::new(heap), messages(heap));
        let mut silent = [0; KINDS];
        let mut noticed = [Counts::default(); 5];
        let mut made = 0;
        for payload in sound.first_of_class.clone() {
            for (nth, counts) in noticed.iter_mut().enumerate() {
                let address = payload - 20 + 4 * nth as u32;
                let before = sound.word(address);
                for value in sound.changes(payload, nth) {
                    made += 1;
                    if !all && made % SAMPLED != 0 {
                        continue;
                    }
                    sound.set_word(address, value);
                    let result = analyze(program, &sound.bytes);
                    sound.set_word(address, before);
                    match result {
                        Err(_) => counts.errors += 1,
                        Ok(heap) if !messages(&heap).is_subset(&said) => counts.warnings += 1,
                        Ok(heap) if Numbers::new(&heap) == numbers => counts.same += 1,
                        Ok(_) => {
                            let kind = allowed_kind(&sound, payload, nth, value);
                            let word = WORDS[nth];
                            let change = format!(
                                "{name}: {word} at {address:#x}: {before:#x} to {value:#x}"
                            );
                            silent[kind.expect(&change)] += 1;
                        }
                    }
                }
            }
        }
        println!("{name}: silent {silent:?}");
        for (word, counts) in WORDS.iter().zip(&noticed) {
            println!("{name}: {word}: {counts:?}");
        }
        silent
    })
}

#[test]
fn a_changed_header_is_noticed_unless_nothing_contradicts_it() {
    let all = std::env::var_os("HEADER_CHANGES").is_some();
    let found: Vec<_> = SAMPLES
        .iter()
        .map(|sample| silent_changes(sample, all))
        .collect();
    let expected = SAMPLES.map(|sample| if all { sample.silent } else { sample.sampled });
    assert_eq!(found, expected);
}

/// The control: what programs and the collector do to a header is no contradiction.
#[test]
fn a_changed_colour_or_a_string_that_was_made_smaller_is_no_contradiction() {
    for sample in &SAMPLES {
        with_sample(sample, |program, heap, mut sound| {
            let (numbers, said) = (Numbers::new(heap), messages(heap));
            let mut changed = 0;
            for payload in sound.first_of_class.clone() {
                let block = payload - 20;
                let (next, size) = (sound.word(block + 4), sound.word(block + 16));
                if next & 3 < 2 {
                    sound.set_word(block + 4, next ^ 1);
                    changed += 1;
                }
                if sound.word(block + 12) == 2 && size > 2 {
                    sound.set_word(block + 16, size - 2);
                    changed += 1;
                }
            }
            let heap = analyze(program, &sound.bytes).unwrap();
            assert!(changed > 0, "{}", sample.dump);
            assert_eq!(messages(&heap), said, "{}", sample.dump);
            assert!(Numbers::new(&heap) == numbers, "{}", sample.dump);
        });
    }
}
