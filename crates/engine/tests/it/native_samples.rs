//! Dumps and modules of real programs of C, C++ and Rust about which something false was said once. What is right is known
//! from the programs: what they allocate, keep and leak.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::heap::{Heap, RootKind};
use engine::instrument::allocations::instrument_allocations;
use engine::instrument::{Boundaries, Boundary};
use engine::wasm::module::Module;
use engine::{Control, Input, ObjectIndex, Program, Result};

fn read(name: &str, file: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/samples/native-found");
    let packed = fs::read(folder.join(name).join(format!("{file}.gz"))).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn analyze(name: &str) -> Result<Heap> {
    let wasm = read(name, "m.wasm");
    let module = Input {
        name: "m.wasm",
        bytes: &wasm[..],
    };
    let dump = Input {
        name: "m.dump",
        bytes: read(name, "m.dump"),
    };
    Program::read(module, &Control::default())?.analyze(dump, &Control::default())
}

fn codes(heap: &Heap) -> Vec<&'static str> {
    heap.warnings.iter().map(|warning| warning.code()).collect()
}

/// The blocks, those that nothing refers to, and the entries to these.
fn blocks(heap: &Heap) -> (usize, u64, u64) {
    let unreferenced = heap.unreferenced.unwrap();
    (heap.objects.len(), unreferenced.count, unreferenced.entries)
}

#[test]
fn static_data_that_does_not_begin_at_a_word_has_roots() {
    let heap = analyze("unaligned-segment").unwrap();
    assert_eq!(blocks(&heap), (365, 0, 0));
    let roots = heap.roots.iter();
    assert_eq!(
        roots.filter(|&&(_, kind)| kind == RootKind::Global).count(),
        6
    );
}

#[test]
fn static_data_directly_behind_the_allocator_has_roots() {
    let heap = analyze("static-behind-allocator").unwrap();
    let (_, unreferenced, entries) = blocks(&heap);
    assert_eq!((unreferenced, entries), (150, 50));
}

#[test]
fn words_behind_the_objects_of_blocks_join_no_leaks() {
    let heap = analyze("slack").unwrap();
    // JavaScript keeps 150 trees of six nodes. In each tree, three blocks refer to each other. Only they lead to the others.
    let objects = (0..heap.objects.len() as u32).map(ObjectIndex);
    let sizes = objects.map(|object| heap.retained_size(object));
    let (large, small): (Vec<u64>, Vec<u64>) = sizes.partition(|&size| size > 3000);
    assert!(large.iter().all(|&size| size < 4500), "{large:?}");
    assert_eq!((large.len(), small.len()), (450, 1621));
}

#[test]
fn constants_of_rust_are_no_heap_base() {
    let heap = analyze("rust-constants").unwrap();
    assert_eq!(blocks(&heap).1, 150);
    let wasm = read("rust-constants", "m.wasm");
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    let found = Boundaries::of_module(&wasm, &module).unwrap();
    assert_eq!(found.heap_base, Boundary::Folded(0x10_0000));
}

#[test]
fn a_module_without_an_allocator_has_no_blocks_and_says_what_fills_its_memory() {
    for name in ["cjslexer", "xxhash"] {
        let heap = analyze(name).unwrap();
        assert_eq!(blocks(&heap), (0, 0, 0), "{name}");
        assert_eq!(codes(&heap), ["WARN_NO_ALLOCATOR"], "{name}");
    }
}

#[test]
fn another_allocator_is_named_if_it_is_known_and_nothing_is_called_corrupt() {
    for (name, expected) in [
        ("wee_alloc", "found wee_alloc in the module"),
        ("esmlexer", "word(s) in"),
    ] {
        let error = analyze(name).unwrap_err();
        assert_eq!(error.code(), "ERR_ALLOCATOR_UNKNOWN", "{name}: {error}");
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
}

#[test]
fn allocations_of_an_allocator_that_is_copied_into_its_callers_are_not_lost_in_silence() {
    let hooks = |name: &str| instrument_allocations(&read(name, "m.wasm"), false).map(|_| ());
    assert!(hooks("profile-default").is_ok());
    for name in ["profile-dlmalloc", "profile-lol"] {
        let error = hooks(name).unwrap_err();
        assert_eq!(error.code(), "ERR_ALLOCATOR_MISSING", "{name}: {error}");
    }
}
