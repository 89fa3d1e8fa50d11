//! One word of a header in a sound dump is changed: no other numbers may result without a warning, except by the
//! changes that nothing in the dump contradicts. They are counted here by kind, and listed in SECURITY.md.
//!
//! The dumps are of real programs: a stock compiler's with names and without, while the collector marks and
//! sweeps, and WARPO's. `../headers/shelf.ts` is the source of `debug` and `release`. One object of each class
//! is changed; with the environment variable `HEADER_CHANGES`, all objects and every bit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::heap::Heap;
use engine::{Control, Error, Input, ObjectIndex, Program};
use flate2::read::GzDecoder;

/// The words of a header.
const WORDS: [&str; 5] = ["mmInfo", "next", "prev", "rtId", "rtSize"];

/// The bits that are changed in the short run: flags and colours, small sizes, and some high ones.
const BITS: [u32; 9] = [0, 1, 2, 3, 4, 5, 8, 16, 31];

/// Dumps with their modules, and the number of changes of each word that are silent in the short run.
const DUMPS: [(&str, &str, [u64; 5]); 7] = [
    (
        "tests/headers/debug.idle.dump.gz",
        "tests/headers/debug.wasm.gz",
        [0; 5],
    ),
    (
        "tests/headers/debug.sweeping.dump.gz",
        "tests/headers/debug.wasm.gz",
        [0; 5],
    ),
    (
        "tests/headers/release.sweeping.dump.gz",
        "tests/headers/release.wasm.gz",
        [0; 5],
    ),
    (
        "tests/headers/pins.marking.dump.gz",
        "tests/headers/pins.wasm.gz",
        [0; 5],
    ),
    (
        "__test__/samples/warpo-town/town.1.dump.gz",
        "__test__/samples/warpo-town/town.wasm.gz",
        [0; 5],
    ),
    (
        "__test__/samples/warpo-optimised/tiny-O1/tiny.1.dump.gz",
        "__test__/samples/warpo-optimised/tiny-O1/tiny.wasm.gz",
        [0; 5],
    ),
    (
        "__test__/samples/warpo-optimised/radical-O3/consts.2.dump.gz",
        "__test__/samples/warpo-optimised/radical-O3/consts.wasm.gz",
        [0; 5],
    ),
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
            (heap.address(object).0, class, sizes.0, sizes.1)
        };
        Self {
            total_size: heap.total_size,
            accounting: format!("{:?}", heap.accounting),
            live: heap.live_heap_objects().map(row).collect(),
        }
    }
}

/// The number of changes of one word by their results.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    errors: u64,
    warnings: u64,
    same: u64,
    silent: u64,
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
                .map(|&object| heap.address(object).0)
                .collect(),
            first_of_class: Vec::new(),
            class_ids: Vec::new(),
            bytes,
        };
        // All static objects and heap objects have a header, with the class id before the size.
        let id_of = |object| sound.word(heap.address(object).0 - 8);
        let mut firsts = BTreeMap::new();
        for &object in &objects {
            if heap.is_live_on_heap(object) {
                firsts
                    .entry(id_of(object))
                    .or_insert(heap.address(object).0);
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

    /// The values to which the word at this position of a header is changed.
    fn changes(&self, payload: u32, nth: usize, all: bool) -> BTreeSet<u32> {
        let block = payload - 20;
        let word = self.word(block + 4 * nth as u32);
        let bits = if all {
            (0..32).collect()
        } else {
            BITS.to_vec()
        };
        let mut changes: BTreeSet<_> = bits.into_iter().map(|bit| word ^ 1 << bit).collect();
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

/// Changes headers of a dump; returns the results by word.
fn results(dump: &str, module: &str, all: bool) -> [Counts; 5] {
    let wasm = unzipped(module);
    let input = Input {
        name: "module",
        bytes: &wasm[..],
    };
    let program = Program::read(input, &Control::default()).unwrap();
    let heap = analyze(&program, &unzipped(dump)).unwrap();
    let (numbers, said) = (Numbers::new(&heap), messages(&heap));
    assert!(
        !said.iter().any(|text| text.contains("may be wrong")),
        "{dump}: {said:?}"
    );
    let mut sound = Sound::new(unzipped(dump), &heap);
    let payloads = if all {
        sound.objects.clone()
    } else {
        sound.first_of_class.clone()
    };
    let mut results = [Counts::default(); 5];
    for payload in payloads {
        for (nth, counts) in results.iter_mut().enumerate() {
            let address = payload - 20 + 4 * nth as u32;
            let before = sound.word(address);
            for value in sound.changes(payload, nth, all) {
                sound.set_word(address, value);
                match analyze(&program, &sound.bytes) {
                    Err(_) => counts.errors += 1,
                    Ok(heap) if !messages(&heap).is_subset(&said) => counts.warnings += 1,
                    Ok(heap) if Numbers::new(&heap) == numbers => counts.same += 1,
                    Ok(_) => {
                        counts.silent += 1;
                        println!(
                            "{dump}: {} at {address:#x}: {before:#x} to {value:#x}",
                            WORDS[nth]
                        );
                    }
                }
            }
            sound.set_word(address, before);
        }
    }
    for (word, counts) in WORDS.iter().zip(&results) {
        println!("{dump}: {word}: {counts:?}");
    }
    results
}

#[test]
#[ignore = "the silent changes have not been counted yet: the zeros in DUMPS are placeholders"]
fn a_changed_header_is_noticed_unless_its_class_has_an_equal_shape() {
    let all = std::env::var_os("HEADER_CHANGES").is_some();
    let mut found = Vec::new();
    let mut allowed = Vec::new();
    for (dump, module, silent) in DUMPS {
        let results = results(dump, module, all).map(|counts| counts.silent);
        if all {
            // Sizes and links are noticed in all objects.
            found.push([results[0], results[1], results[2], 0, 0]);
            allowed.push([0; 5]);
        } else {
            found.push(results);
            allowed.push(silent);
        }
    }
    assert_eq!(found, allowed);
}
