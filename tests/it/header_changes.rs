//! One word of a header in a sound dump is changed: no other number may result without a warning, except by the
//! changes that no evidence contradicts. Each of these has its reason in [`allowed`].
//!
//! The dumps are of real programs, in several builds, some in the middle of a cycle of the collector. A folder of
//! other dumps is examined with every changed bit: see `HEADER_CHANGES` below.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use warpo_heap_analyzer::heap::Heap;
use warpo_heap_analyzer::{Control, Input, ObjectIndex, Program};

/// The words of a header.
const WORDS: [&str; 5] = ["mmInfo", "next", "prev", "rtId", "rtSize"];

/// Everything that a result says, without its warnings.
#[derive(PartialEq)]
struct Numbers {
    total_size: u64,
    accounting: String,
    /// Per live object: address, class, shallow size, retained size.
    live: Vec<(u32, String, u64, u64)>,
}

impl Numbers {
    fn of(heap: &Heap) -> Self {
        let row = |object: ObjectIndex| {
            let class = heap.objects.class_of(object).name.clone();
            let sizes = (heap.shallow_size(object), heap.retained_size(object));
            (heap.address(object).0, class, sizes.0, sizes.1)
        };
        Self {
            total_size: heap.total_size.unwrap(),
            accounting: format!("{:?}", heap.accounting),
            live: heap.live_heap_objects().map(row).collect(),
        }
    }
}

/// The results of all changes of one kind.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Counts {
    errors: u64,
    warnings: u64,
    same: u64,
    silent: u64,
}

struct Examined<'a> {
    program: Program<'a>,
    dump: Vec<u8>,
    memory_at: usize,
    numbers: Numbers,
    warnings: Vec<String>,
    /// Payloads of heap objects.
    objects: Vec<u32>,
    class_count: u32,
}

impl<'a> Examined<'a> {
    /// `None` if the dump cannot be read or has warnings that leave the numbers in doubt.
    fn new(dump: &[u8], wasm: &'a [u8]) -> Option<Self> {
        let control = Control::default();
        let program = Program::read(
            Input {
                name: "module",
                bytes: wasm,
            },
            &control,
        )
        .ok()?;
        let heap = program
            .analyze(
                Input {
                    name: "dump",
                    bytes: dump,
                },
                &control,
            )
            .ok()?;
        let word = |at: usize| u32::from_le_bytes(dump[at..at + 4].try_into().unwrap());
        let memory_at = 24 + 4 * word(20) as usize;
        let class_ids = heap.objects.addresses.iter();
        let class_ids = class_ids.map(|&payload| word(memory_at + payload as usize - 8));
        let objects = (0..heap.objects.len() as u32).map(ObjectIndex);
        let objects = objects.filter(|&object| heap.objects.is_on_heap(object));
        Some(Self {
            dump: dump.to_vec(),
            memory_at,
            numbers: Numbers::of(&heap),
            warnings: heap.warnings.iter().map(ToString::to_string).collect(),
            class_count: class_ids.max()? + 1,
            objects: objects.map(|object| heap.address(object).0).collect(),
            program,
        })
    }

    fn word(&self, address: u32) -> u32 {
        let at = self.memory_at + address as usize;
        u32::from_le_bytes(self.dump[at..at + 4].try_into().unwrap())
    }

    /// The values to which the word at `nth` of a header is changed, each with the kind of the change.
    fn changes(&self, nth: usize, payload: u32, all_bits: bool) -> Vec<(&'static str, u32)> {
        let word = self.word(payload - 20 + 4 * nth as u32);
        let bits: &[u32] = if all_bits {
            &[
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23, 24, 25, 26, 27, 28, 29, 30, 31,
            ]
        } else {
            &[0, 1, 2, 3, 4, 5, 6, 8, 16, 31]
        };
        let mut changes: Vec<_> = bits.iter().map(|bit| ("bit", word ^ 1 << bit)).collect();
        changes.push(("+16", word.wrapping_add(16)));
        changes.push(("-16", word.wrapping_sub(16)));
        changes.push(("zero", 0));
        match nth {
            0 => {
                // The block of the next one, swallowed.
                let next = payload - 20 + 4 + (word & !3);
                if (next as usize + 4) < self.dump.len() - self.memory_at {
                    changes.push(("swallow", word + 4 + (self.word(next) & !3)));
                }
            }
            1 => changes.push(("swapped", self.word(payload - 12) | word & 3)),
            2 => changes.push(("swapped", self.word(payload - 16) & !3)),
            3 => changes.extend((0..self.class_count).map(|id| ("class", id))),
            _ => {}
        }
        if nth == 1 || nth == 2 {
            let other = self.objects[payload as usize / 16 % self.objects.len()] - 20;
            changes.push(("other object", other));
        }
        changes.retain(|&(_, changed)| changed != word);
        changes.dedup();
        changes
    }

    fn examine(&mut self, all_bits: bool, step: usize, results: &mut Results) {
        let control = Control::default();
        for payload in self.objects.clone().into_iter().step_by(step) {
            for (nth, name) in WORDS.into_iter().enumerate() {
                for (kind, value) in self.changes(nth, payload, all_bits) {
                    let at = self.memory_at + payload as usize - 20 + 4 * nth;
                    let before: [u8; 4] = self.dump[at..at + 4].try_into().unwrap();
                    self.dump[at..at + 4].copy_from_slice(&value.to_le_bytes());
                    let dump = Input {
                        name: "dump",
                        bytes: &self.dump[..],
                    };
                    let counts = results.counts.entry((name, kind)).or_default();
                    match self.program.analyze(dump, &control) {
                        Err(_) => counts.errors += 1,
                        Ok(heap) => {
                            let is_new = |warning: &String| !self.warnings.contains(warning);
                            if heap
                                .warnings
                                .iter()
                                .map(ToString::to_string)
                                .any(|text| is_new(&text))
                            {
                                counts.warnings += 1;
                            } else if Numbers::of(&heap) == self.numbers {
                                counts.same += 1;
                            } else {
                                counts.silent += 1;
                                let was = u32::from_le_bytes(before);
                                let find = |numbers: &Numbers| {
                                    numbers.live.iter().find(|row| row.0 == payload).cloned()
                                };
                                let (old, new) = (find(&self.numbers), find(&Numbers::of(&heap)));
                                writeln!(results.silent, "{name} {kind} {payload:#x}: {was:#x} to {value:#x}; {old:?} {new:?}").unwrap();
                            }
                        }
                    }
                    self.dump[at..at + 4].copy_from_slice(&before);
                }
            }
        }
    }
}

#[derive(Default)]
struct Results {
    counts: BTreeMap<(&'static str, &'static str), Counts>,
    silent: String,
}

fn unzipped(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    if path.extension().is_none_or(|extension| extension != "gz") {
        return bytes;
    }
    let mut text = Vec::new();
    GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
    text
}

/// The dumps in a folder, each with its module: `<name>.<n>.dump.gz` with `<name>.wasm.gz`.
fn samples(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(samples(&path));
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(stem) = name.strip_suffix(".dump.gz") {
            let module = stem.split('.').next().unwrap();
            let module = [".wasm.gz", ".wasm"].map(|end| folder.join(format!("{module}{end}")));
            if let Some(module) = module.into_iter().find(|module| module.exists()) {
                found.push((path, module));
            }
        }
    }
    found
}

#[test]
fn changed_headers() {
    let folder = std::env::var("HEADER_CHANGES").unwrap();
    let step = std::env::var("STEP").unwrap().parse().unwrap();
    let mut all = Results::default();
    for (dump, module) in samples(Path::new(&folder)) {
        let (dump_bytes, wasm) = (unzipped(&dump), unzipped(&module));
        let Some(mut examined) = Examined::new(&dump_bytes, &wasm) else {
            println!("{} refused", dump.display());
            continue;
        };
        for warning in &examined.warnings {
            println!("{}: {warning}", dump.display());
        }
        let mut results = Results::default();
        examined.examine(false, step, &mut results);
        println!(
            "{}: {} objects\n{}",
            dump.display(),
            examined.objects.len(),
            results.silent
        );
        for (key, counts) in results.counts {
            let sum = all.counts.entry(key).or_default();
            sum.errors += counts.errors;
            sum.warnings += counts.warnings;
            sum.same += counts.same;
            sum.silent += counts.silent;
        }
    }
    for (kind, counts) in all.counts {
        println!("{kind:?} {counts:?}");
    }
}
