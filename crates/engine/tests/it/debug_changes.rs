//! One byte of the debug information of a module is changed: no other numbers may result without a warning or an error.
//! The debug information may add and name; it takes nothing away that another source knows.
//!
//! The ordinary run changes a part of the bytes. With the environment variable `DEBUG_CHANGES`, every byte is changed to
//! several values.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::heap::Heap;
use engine::{Control, Error, Input, Program};
use flate2::read::GzDecoder;

/// An ordinary run makes one of this many changes.
const SAMPLED: usize = 37;

/// A module of `asc` with the project's transform, and a dump.
const SAMPLES: [(&str, &str); 1] = [("tests/debug_changes/asc", "tests/debug_changes/asc")];

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
            if wasm[at..at + length].starts_with(b"debug_") {
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

/// How many changes were made, and descriptions of the silent ones.
fn silent_changes((sample, dump): (&str, &str), all: bool) -> (usize, Vec<String>) {
    let mut wasm = unzipped(&format!("{sample}.wasm.gz"));
    let dump = unzipped(&format!("{dump}.dump.gz"));
    let sound = analyze(&wasm, &dump).unwrap();
    let (expected, said) = (numbers(&sound), messages(&sound));
    let (mut nth, mut made, mut silent) = (0, 0, Vec::new());
    for at in debug_bytes(&wasm) {
        let before = wasm[at];
        for value in changes(before) {
            nth += 1;
            if !all && nth % SAMPLED != 0 {
                continue;
            }
            made += 1;
            wasm[at] = value;
            let result = analyze(&wasm, &dump);
            wasm[at] = before;
            if let Ok(heap) = result
                && messages(&heap).is_subset(&said)
                && numbers(&heap) != expected
            {
                let live = heap.live_heap_objects().count();
                silent.push(format!(
                    "{sample}: byte {at} from {before:#x} to {value:#x}: {live} live objects, not {}",
                    expected.2.len()
                ));
            }
        }
    }
    (made, silent)
}

#[test]
fn a_changed_byte_of_the_debug_information_changes_no_number_in_silence() {
    let all = std::env::var_os("DEBUG_CHANGES").is_some();
    let mut silent = Vec::new();
    for sample in SAMPLES {
        let (made, found) = silent_changes(sample, all);
        println!("{}: {made} changes, {} silent", sample.0, found.len());
        silent.extend(found);
    }
    assert!(silent.is_empty(), "{} silent: {silent:#?}", silent.len());
}
