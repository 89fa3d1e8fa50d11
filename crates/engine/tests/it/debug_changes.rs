//! One byte of the debug information of a module is changed: no other numbers may result without a warning or an error.
//! The debug information may add and name; it takes nothing away that another source knows.
//!
//! The ordinary run makes a few of the changes, in modules of which none is silent. With the environment variable
//! `DEBUG_CHANGES`, every byte of a module is changed to several values: about every third of WARPO's, and every hundredth
//! of clang's.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::heap::Heap;
use engine::{Control, Error, Input, Program};
use flate2::read::GzDecoder;

/// A module and a dump of it.
struct Sample {
    /// The file of the module, without `.wasm.gz`.
    module: &'static str,
    /// The file of the dump, without `.dump.gz`.
    dump: &'static str,
    /// An ordinary run makes one of this many changes, or none.
    of_each_run: Option<usize>,
    /// A run that makes all makes one of this many.
    of_each_night: usize,
    /// How many changes are silent in a run that makes all, at most. An ordinary run has none.
    most_silent: usize,
}

const SAMPLES: [Sample; 5] = [
    // By `asc` with the project's transform: the collector's code can be read.
    Sample {
        module: "tests/debug_changes/asc",
        dump: "tests/debug_changes/asc",
        of_each_run: Some(37),
        of_each_night: 1,
        most_silent: 0,
    },
    // The collector's code is missing: only the debug information knows fields.
    Sample {
        module: SHAPES,
        dump: SHAPES,
        of_each_run: None,
        of_each_night: 1,
        most_silent: 159,
    },
    // The same, with long lists.
    Sample {
        module: LISTS,
        dump: LISTS,
        of_each_run: None,
        of_each_night: 1,
        most_silent: 120,
    },
    // By WARPO.
    Sample {
        module: "../../__test__/samples/warpo-town/town",
        dump: "../../__test__/samples/warpo-town/town.3",
        of_each_run: None,
        of_each_night: 3,
        most_silent: 126,
    },
    // By clang: types change no number.
    Sample {
        module: "../../__test__/samples/native/clang-14-O2/guest",
        dump: "../../__test__/samples/native/clang-14-O2/guest",
        of_each_run: Some(30_011),
        of_each_night: 97,
        most_silent: 0,
    },
];

const SHAPES: &str = "tests/debug_changes/shapes";
const LISTS: &str = "tests/debug_changes/lists";

/// Changes that took roots, fields or contents away in silence once: the module, and its bytes that change.
const SILENT_ONCE: [(&str, &[(usize, u8)]); 7] = [
    (SHAPES, &[(17_949, 0)]),
    (SHAPES, &[(17_959, 0)]),
    (SHAPES, &[(17_850, 0)]),
    (SHAPES, &[(17_852, 15)]),
    (SHAPES, &[(17_902, 0x29)]),
    (LISTS, &[(7205, 0), (7206, 0x80)]),
    ("tests/debug_changes/asc", &[(21_664, 0x6d)]),
];

fn unzipped(path: &str) -> Vec<u8> {
    let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn analyze(wasm: &[u8], dump: &[u8]) -> Result<Heap, Error> {
    let input = |name, bytes| Input { name, bytes };
    let program = Program::read(input("module", wasm), &Control::default())?;
    program.analyze(input("dump", dump), &Control::default())
}

fn messages(heap: &Heap) -> BTreeSet<String> {
    heap.warnings.iter().map(ToString::to_string).collect()
}

/// What no byte of the debug information may change in silence: the live objects with their sizes, and the accounting.
fn numbers(heap: &Heap) -> (Option<u64>, String, Vec<(u64, u64, u64)>) {
    let rows = heap.live_heap_objects().map(|object| {
        let sizes = (heap.shallow_size(object), heap.retained_size(object));
        (heap.address(object).0, sizes.0, sizes.1)
    });
    (
        heap.total_size,
        format!("{:?}", heap.accounting),
        rows.collect(),
    )
}

fn leb(bytes: &[u8], at: &mut usize) -> usize {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

/// The positions of the contents of all debug sections.
fn debug_bytes(wasm: &[u8]) -> Vec<usize> {
    let (mut at, mut found) = (8, Vec::new());
    while at < wasm.len() {
        let id = wasm[at];
        at += 1;
        let size = leb(wasm, &mut at);
        let end = at + size;
        if id == 0 {
            let length = leb(wasm, &mut at);
            let name = &wasm[at..at + length];
            if name
                .strip_prefix(b".")
                .unwrap_or(name)
                .starts_with(b"debug_")
            {
                found.extend(at + length..end);
            }
        }
        at = end;
    }
    found
}

/// The values to which a byte is changed: small ones, which are often forms and tags, and one bit less or more.
fn changes(byte: u8) -> BTreeSet<u8> {
    let mut values = BTreeSet::from([0, 1, 0x13, 0x29, 0x7f, 0xff, byte.wrapping_add(4)]);
    values.extend((0..8).map(|bit| byte ^ 1 << bit));
    values.remove(&byte);
    values
}

/// What the changed module says of the dump, if that is other numbers without a warning or an error: the live objects.
fn silently_live(wasm: &[u8], dump: &[u8], sound: &Heap) -> Option<usize> {
    let heap = analyze(wasm, dump).ok()?;
    let is_silent = messages(&heap).is_subset(&messages(sound)) && numbers(&heap) != numbers(sound);
    is_silent.then(|| heap.live_heap_objects().count())
}

/// How many changes were made, and descriptions of the silent ones.
fn silent_changes(sample: &Sample, one_of: usize) -> (usize, Vec<String>) {
    let mut wasm = unzipped(&format!("{}.wasm.gz", sample.module));
    let dump = unzipped(&format!("{}.dump.gz", sample.dump));
    let sound = analyze(&wasm, &dump).unwrap();
    let expected = sound.live_heap_objects().count();
    let (mut nth, mut made, mut silent) = (0, 0, Vec::new());
    for at in debug_bytes(&wasm) {
        let before = wasm[at];
        for value in changes(before) {
            nth += 1;
            if nth % one_of != 0 {
                continue;
            }
            made += 1;
            wasm[at] = value;
            if let Some(live) = silently_live(&wasm, &dump, &sound) {
                silent.push(format!(
                    "{}: byte {at} from {before:#x} to {value:#x}: {live} live objects, not {expected}",
                    sample.module,
                ));
            }
            wasm[at] = before;
        }
    }
    (made, silent)
}

#[test]
fn a_changed_byte_of_the_debug_information_changes_no_number_in_silence() {
    let all = std::env::var_os("DEBUG_CHANGES").is_some();
    let mut silent = Vec::new();
    for sample in &SAMPLES {
        let one_of = if all {
            Some(sample.of_each_night)
        } else {
            sample.of_each_run
        };
        let Some(one_of) = one_of else {
            continue;
        };
        let (made, found) = silent_changes(sample, one_of);
        println!("{}: {made} changes, {} silent", sample.module, found.len());
        if found.len() > if all { sample.most_silent } else { 0 } {
            silent.extend(found);
        }
    }
    assert!(silent.is_empty(), "{} silent: {silent:#?}", silent.len());
}

#[test]
fn changes_that_were_silent_once_change_no_number_in_silence() {
    for (module, bytes) in SILENT_ONCE {
        let mut wasm = unzipped(&format!("{module}.wasm.gz"));
        let dump = unzipped(&format!("{module}.dump.gz"));
        let sound = analyze(&wasm, &dump).unwrap();
        for &(at, value) in bytes {
            assert_ne!(wasm[at], value, "{module}: byte {at}");
            wasm[at] = value;
        }
        let live = silently_live(&wasm, &dump, &sound);
        assert_eq!(live, None, "{module}: {bytes:?}");
    }
}
