//! Every error that bad input can cause, with its whole text: people act on the text, so it is as
//! much a part of the interface as the code.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{
    DATA_END, DumpFile, FIRST_BLOCK, HEAP_BASE, ModuleOptions, PAGE, Scene, TAIL_POINTER,
    WasmGlobal, analyze, analyze_bytes, encode_module, live,
};
use engine::dumps::{Dump, DumpError};
use engine::heap::Heap;
use engine::{Control, Error, Input, Program, Schedule};

/// Two linked nodes.
fn small_scene() -> Scene {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let (first, second) = (scene.object(node, 8), scene.object(node, 8));
    scene.set(first, 0, second);
    scene.global("assembly/index/head", node, first);
    scene
}

/// Asserts that an analysis failed, with this code and this text.
#[track_caller]
fn assert_fails(
    analysis: impl FnOnce() -> Result<Heap, Error> + Send + 'static,
    code: &str,
    text: &str,
) {
    // On another thread, so that an analysis that never ends fails the test and does not block it.
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(analysis().map(drop)));
    let result = receiver.recv_timeout(Duration::from_secs(120));
    let error = result.expect("an end").unwrap_err();
    assert_eq!(error.to_string(), text);
    assert_eq!(error.code(), code);
}

/// Asserts that the small dump is refused after this change.
#[track_caller]
fn assert_dump_fails(spoil: impl FnOnce(&mut DumpFile), code: &str, text: &str) {
    let scene = small_scene();
    let mut dump = scene.dump();
    spoil(&mut dump);
    let module = scene.module();
    assert_fails(move || analyze(&dump, &module), code, text);
}

#[track_caller]
fn assert_module_fails(module: &[u8], code: &str, text: &str) {
    let module = module.to_vec();
    assert_fails(move || analyze(&small_scene().dump(), &module), code, text);
}

// The dump's container.

#[test]
fn a_dump_that_ends_in_its_magic_is_truncated() {
    for length in 0..4 {
        assert_dump_fails(
            |dump| dump.bytes.truncate(length),
            "ERR_DUMP_TRUNCATED",
            &format!(
                "heap.dump: the dump ends at byte {length}, but the magic \"ASHD\" needs bytes 0 to 4: the file is truncated; capture the dump again"
            ),
        );
    }
}

#[test]
fn a_dump_that_ends_in_its_header_is_truncated() {
    for length in [4, 5, 8, 20, 23] {
        assert_dump_fails(
            |dump| dump.bytes.truncate(length),
            "ERR_DUMP_TRUNCATED",
            &format!(
                "heap.dump: the dump ends at byte {length}, but the header needs bytes 0 to 24: the file is truncated; capture the dump again"
            ),
        );
    }
}

#[test]
fn a_dump_that_ends_in_its_global_values_is_truncated() {
    let end = small_scene().dump().memory_start();
    for length in [24, 25, end - 1] {
        assert_dump_fails(
            |dump| dump.bytes.truncate(length),
            "ERR_DUMP_TRUNCATED",
            &format!(
                "heap.dump: the dump ends at byte {length}, but the global values (count at offset 20) needs bytes 24 to {end}: the file is truncated; capture the dump again"
            ),
        );
    }
}

#[test]
fn more_global_values_than_the_file_holds_are_refused() {
    let length = small_scene().dump().bytes.len();
    assert_dump_fails(
        |dump| dump.set_header(20, u32::MAX),
        "ERR_DUMP_TRUNCATED",
        &format!(
            "heap.dump: the dump ends at byte {length}, but the global values (count at offset 20) needs bytes 24 to 17179869204: the file is truncated; capture the dump again"
        ),
    );
}

#[test]
fn a_dump_that_ends_in_its_memory_never_passes_silently() {
    let scene = small_scene();
    let (whole, module) = (scene.dump(), scene.module());
    for length in (whole.memory_start()..whole.bytes.len()).step_by(97) {
        match analyze_bytes(&whole.bytes[..length], &module) {
            Err(error) => assert!(error.to_string().starts_with("heap.dump: "), "{error}"),
            Ok(heap) => assert!(!heap.warnings.is_empty(), "{length} bytes passed"),
        }
    }
}

#[test]
fn a_module_passed_as_dump_is_named_and_so_is_the_swap() {
    assert_dump_fails(
        |dump| dump.bytes[..4].copy_from_slice(b"\0asm"),
        "ERR_DUMP_MAGIC",
        "heap.dump: this is a WebAssembly module, not a heap dump: were the dump and the module swapped?",
    );
}

#[test]
fn files_of_other_kinds_passed_as_dump_are_named() {
    for (start, named) in [
        (&b"\x1f\x8b\x08\0"[..], "a gzip file"),
        (b"\x28\xb5\x2f\xfd", "a zstd file"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"<!DOCTYPE html>", "an HTML page"),
        (b"<html>", "an HTML page"),
        (b"(module", "WebAssembly text"),
        (b";; text", "WebAssembly text"),
        (b"{\"snapshot\":", "JSON text"),
    ] {
        let error = Dump::parse(start).unwrap_err();
        assert_eq!(error.code(), "ERR_DUMP_MAGIC");
        let expected = format!("this is {named}, not a heap dump: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn a_file_of_an_unknown_kind_is_no_dump() {
    assert_dump_fails(
        |dump| dump.bytes[..4].copy_from_slice(b"\x7fELF"),
        "ERR_DUMP_MAGIC",
        "heap.dump: not a heap dump: expected \"ASHD\" at offset 0, found \"\\u{7f}ELF\"; capture a dump of the running program",
    );
}

#[test]
fn another_version_of_the_format_is_refused() {
    assert_dump_fails(
        |dump| dump.set_header(4, 3),
        "ERR_DUMP_VERSION",
        "heap.dump: dump format version 3 at offset 4: expected version 2; write the dump with a version 2 writer",
    );
}

#[test]
fn a_boundary_outside_the_memory_is_refused() {
    let fields = [("__data_end", 8), ("__heap_base", 12)];
    for (name, offset) in fields {
        assert_dump_fails(
            |dump| dump.set_header(offset, PAGE + 1),
            "ERR_DUMP_BOUNDARY",
            &format!(
                "heap.dump: {name} at offset {offset} is 0x10001, but the memory in this dump has 65536 bytes: expected {name} inside it; the dump is damaged or truncated"
            ),
        );
    }
}

#[test]
fn static_data_above_the_heap_base_is_refused() {
    assert_dump_fails(
        |dump| dump.set_header(8, HEAP_BASE + 4),
        "ERR_DUMP_BOUNDARY_ORDER",
        "heap.dump: __data_end at offset 8 is 0x600c, which is above __heap_base at offset 12, 0x6008: expected __data_end at or below it, because static data and the shadow stack are below the heap; the dump is damaged, or its writer swapped the fields",
    );
}

#[test]
fn a_stack_pointer_at_or_above_the_heap_base_is_an_empty_stack() {
    let mut scene = small_scene();
    let node = scene.class("assembly/index/OnStack");
    let object = scene.object(node, 8);
    scene.push_on_stack(object);
    for stack_pointer in [HEAP_BASE, HEAP_BASE + 4, PAGE, u32::MAX - 3] {
        scene.set_global("~lib/memory/__stack_pointer", stack_pointer);
        let mut dump = scene.dump();
        dump.set_header(16, stack_pointer);
        let heap = analyze(&dump, &scene.module()).unwrap();
        assert!(!live(&heap).contains(&object), "{stack_pointer:#x}");
    }
}

#[test]
fn a_dump_without_memory_is_an_empty_heap() {
    let scene = Scene::new();
    let mut dump = scene.dump();
    let length = dump.memory_start();
    dump.bytes.truncate(length);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert_eq!((heap.total_size, heap.live_size), (Some(0), 0));
}

#[test]
fn a_stack_that_ran_out_is_no_error() {
    let scene = small_scene();
    let mut dump = scene.dump();
    dump.set_header(16, DATA_END - 8);
    assert!(analyze(&dump, &scene.module()).is_ok());
}

#[test]
fn a_file_of_more_than_four_gibibytes_of_memory_is_no_dump() {
    // Only the first page of it is ever touched.
    let mut bytes = vec![0; 24 + (1 << 32) + 1];
    bytes[..8].copy_from_slice(b"ASHD\x02\0\0\0");
    let error = Dump::parse(&bytes).unwrap_err();
    assert_eq!(error.code(), "ERR_DUMP_TOO_LARGE");
    assert_eq!(
        error.to_string(),
        "the memory in this dump has 4294967297 bytes: expected at most 4 GiB, the most that a wasm32 memory can hold; capture the dump again"
    );
}

// The module.

#[test]
fn a_dump_passed_as_module_is_named_and_so_is_the_swap() {
    assert_module_fails(
        b"ASHD\x02\0\0\0",
        "ERR_MODULE",
        "program.wasm: this is a heap dump, not a WebAssembly module: were the dump and the module swapped?",
    );
}

#[test]
fn files_of_other_kinds_passed_as_module_are_named() {
    for (start, text) in [
        (
            &b"\x1f\x8b\x08\0"[..],
            "this is a gzip file, not a WebAssembly module: decompress it first",
        ),
        (
            b"<!doctype html>",
            "this is an HTML page, not a WebAssembly module: if it was downloaded, the server sent a page instead of the file",
        ),
        (
            b"(module)",
            "this is WebAssembly text, not a WebAssembly module: pass the binary (.wasm) instead of the text (.wat)",
        ),
        (
            b"\x7fELF",
            "not a WebAssembly module: expected \"\\0asm\" at offset 0, found \"\\u{7f}ELF\"; pass the .wasm file that the dump was taken from",
        ),
    ] {
        assert_module_fails(start, "ERR_MODULE", &format!("program.wasm: {text}"));
    }
}

#[test]
fn an_empty_module_file_is_refused() {
    assert_module_fails(
        b"",
        "ERR_MODULE",
        "program.wasm: the file is empty, so it is not a WebAssembly module: pass the .wasm file that the dump was taken from",
    );
}

#[test]
fn a_truncated_module_never_passes_silently() {
    let scene = small_scene();
    // A module may end after any section, so the required section comes last.
    let mut sections = scene.debug_sections();
    sections.rotate_left(1);
    let whole = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    for length in 0..whole.len() {
        match analyze(&scene.dump(), &whole[..length]) {
            Ok(heap) => assert!(!heap.warnings.is_empty(), "{length} bytes passed"),
            Err(error) => assert!(
                ["ERR_MODULE", "ERR_MODULE_MISMATCH", "ERR_DEBUG_INFO"].contains(&error.code()),
                "{length}: {error}"
            ),
        }
    }
}

#[test]
fn a_component_is_not_a_module() {
    assert_module_fails(
        b"\0asm\x0d\0\x01\0",
        "ERR_MODULE_KIND",
        "program.wasm: the module has the component encoding: expected a core module, before a tool made a component from it; pass the .wasm file that the AssemblyScript or WARPO compiler wrote",
    );
}

#[test]
fn a_module_with_a_64_bit_memory_is_refused() {
    let options = ModuleOptions {
        memory64: true,
        ..ModuleOptions::default()
    };
    assert_module_fails(
        &small_scene().module_with(&options),
        "ERR_MODULE_KIND",
        "program.wasm: the module has a 64-bit memory: expected a 32-bit memory (wasm32); pass the .wasm file that the AssemblyScript or WARPO compiler wrote",
    );
}

#[test]
fn debug_information_without_its_abbreviations_is_refused() {
    let scene = small_scene();
    let mut sections = scene.debug_sections();
    sections.retain(|(name, _)| *name != "debug_abbrev");
    let module = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    let error = analyze(&scene.dump(), &module).unwrap_err();
    assert_eq!(error.code(), "ERR_DEBUG_INFO");
    assert_eq!(
        error.to_string(),
        "program.wasm: cannot read the debug information at offset 0x0 of section debug_info: invalid abbreviation code: 1; compile the module again"
    );
}

#[test]
fn debug_information_that_ends_early_is_refused_with_the_place() {
    let scene = small_scene();
    let mut sections = scene.debug_sections();
    sections[0].1.truncate(30);
    let module = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    assert_module_fails(
        &module,
        "ERR_DEBUG_INFO",
        "program.wasm: cannot read the debug information at offset 0x0 of section debug_info: unexpected end of input; compile the module again",
    );
}

#[test]
fn an_entry_with_an_unknown_abbreviation_is_refused_with_the_place() {
    let scene = small_scene();
    let mut sections = scene.debug_sections();
    // After the unit's header (11 bytes) comes the unit, then its first child.
    sections[0].1[16] = 0x7b;
    let module = encode_module(&scene.globals, &sections, &ModuleOptions::default());
    assert_module_fails(
        &module,
        "ERR_DEBUG_INFO",
        "program.wasm: cannot read the debug information at offset 0x10 of section debug_info: invalid abbreviation code: 123; compile the module again",
    );
}

#[test]
fn a_dump_of_another_build_is_refused() {
    let scene = small_scene();
    let mut other = scene.clone();
    other
        .globals
        .push(WasmGlobal::variable("assembly/index/new", 0));
    assert_fails(
        move || analyze(&scene.dump(), &other.module()),
        "ERR_MODULE_MISMATCH",
        &mismatch_text(
            "the dump has 8 global values (count at offset 20), but the module has 9 mutable i32 globals",
        ),
    );
}

fn mismatch_text(what: &str) -> String {
    format!(
        "heap.dump: the dump was taken from another module, or from another build of it: {what}; pass the module that was running"
    )
}

#[test]
fn a_dump_with_other_boundaries_is_refused() {
    assert_dump_fails(
        |dump| dump.set_header(8, DATA_END - 16),
        "ERR_MODULE_MISMATCH",
        &mismatch_text("__data_end is 0x3ff0 in the dump and 0x4000 in the module"),
    );
}

#[test]
fn a_dump_with_other_string_literals_is_refused() {
    let mut scene = small_scene();
    let literal = scene.static_object(crate::support::STRING, &[0x6100_6200]);
    let dump = scene.dump();
    let words = (literal.block()..literal.0 + 4)
        .step_by(4)
        .map(|at| dump.peek(at));
    let mut bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let module_with = |bytes: &[u8]| {
        scene.module_with(&ModuleOptions {
            data: vec![(literal.block(), bytes.to_vec())],
            ..ModuleOptions::default()
        })
    };
    assert!(analyze(&dump, &module_with(&bytes)).is_ok());
    bytes[20] ^= 1;
    let module = module_with(&bytes);
    assert_fails(
        move || analyze(&dump, &module),
        "ERR_MODULE_MISMATCH",
        &mismatch_text("the static data at 0x20 differs between dump and module"),
    );
}

#[test]
fn a_dump_that_knows_fewer_classes_is_refused() {
    assert_dump_fails(
        |dump| dump.poke(crate::support::RTTI_BASE, 3),
        "ERR_MODULE_MISMATCH",
        &mismatch_text(
            "class assembly/index/Node has id 4 in the module, but the dump has only 3 classes",
        ),
    );
}

#[test]
fn a_dump_whose_container_is_of_another_kind_is_refused() {
    let mut scene = small_scene();
    let list = scene.class("~lib/array/Array<i32>");
    scene.set_flags(list, crate::support::flags::MAP);
    assert_fails(
        move || scene.try_analyze(),
        "ERR_MODULE_MISMATCH",
        &mismatch_text(
            "class ~lib/array/Array<i32> (id 5) has type flags 0x10 in the dump, but a container of this kind has other flags",
        ),
    );
}

#[test]
fn a_dump_whose_roots_are_not_objects_is_refused() {
    let mut scene = small_scene();
    let node = crate::support::Class::undescribed(4);
    scene.global(
        "assembly/index/broken",
        crate::support::NeverCompiled,
        0x1234u32,
    );
    let module = scene.module_with_collector(&[(node, &[0])]);
    let dump = scene.dump();
    assert_fails(
        move || analyze(&dump, &module),
        "ERR_MODULE_MISMATCH",
        &mismatch_text(
            "the collector starts from global assembly/index/broken, which is 0x1234, but none of its lists has an object at this address (unless the dump was taken while the collector moved it)",
        ),
    );
}

#[test]
fn a_dump_with_objects_of_classes_that_there_are_not_is_refused() {
    assert_dump_fails(
        |dump| dump.poke(FIRST_BLOCK + 12, 99),
        "ERR_MODULE_MISMATCH",
        &mismatch_text("there are objects with class id 99 on the heap, but only 5 classes"),
    );
}

// The heap.

const CORRUPT_ADVICE: &str =
    "; capture the dump again; if the error remains, look for code that writes outside its objects";

#[test]
fn a_block_with_an_impossible_size_is_refused() {
    // All ones; not 12 more than a multiple of 16; past the end; 2 GiB and more; back to itself.
    for header in [0xffff_ffff, 0x20, 0x1fffc, 0x8000_000c, 0xffff_fffc, 8, 4] {
        assert_dump_fails(
            |dump| dump.poke(FIRST_BLOCK, header),
            "ERR_HEAP_CORRUPT",
            &format!(
                "heap.dump: the heap is corrupt at address {FIRST_BLOCK:#x}: found a block header of {header:#x} ({} bytes), expected a block whose size is 12 more than a multiple of 16 and that ends inside the heap{CORRUPT_ADVICE}",
                header & !3
            ),
        );
    }
}

#[test]
fn a_tail_pointer_outside_the_heap_is_refused() {
    for tail in [PAGE, PAGE - 3, u32::MAX, FIRST_BLOCK - 16] {
        assert_dump_fails(
            |dump| dump.poke(TAIL_POINTER, tail),
            "ERR_HEAP_CORRUPT",
            &format!(
                "heap.dump: the heap is corrupt at address {tail:#x}: found the allocator's tail pointer there, but the heap reaches from {FIRST_BLOCK:#x} to 0x10000, expected a tail inside the heap (was the dump cut short?){CORRUPT_ADVICE}"
            ),
        );
    }
}

#[test]
fn a_heap_that_looks_unused_but_has_objects_is_refused() {
    let scene = small_scene();
    let total = scene.total();
    assert_dump_fails(
        |dump| dump.poke(TAIL_POINTER, 0),
        "ERR_HEAP_CORRUPT",
        &format!(
            "heap.dump: the heap is corrupt at address {FIRST_BLOCK:#x}: found an allocator that was never used, although the collector counts {total} bytes of objects, expected the allocator's tail pointer{CORRUPT_ADVICE}"
        ),
    );
}

#[test]
fn a_region_that_ends_before_the_tail_without_another_one_is_refused() {
    assert_dump_fails(
        |dump| dump.poke(FIRST_BLOCK, 0),
        "ERR_HEAP_CORRUPT",
        &format!(
            "heap.dump: the heap is corrupt at address {FIRST_BLOCK:#x}: found the end of a region and no further region, expected regions up to the one that the allocator's tail pointer names{CORRUPT_ADVICE}"
        ),
    );
}

#[test]
fn a_missing_region_in_a_memory_full_of_lookalikes_is_refused() {
    let mut scene = small_scene();
    let foreign = scene.foreign_pages(1600);
    // Chains of plausible blocks that start on every page, run into each other and never end well.
    for page in 0..1600 {
        let start = foreign + page * PAGE;
        for block in (start + 12..start + PAGE).step_by(32) {
            scene.write(block, &[28]);
        }
    }
    scene.class("assembly/index/Other");
    let mut dump = scene.dump();
    let tail = dump.peek(TAIL_POINTER);
    dump.poke(tail - 16, 0);
    dump.poke(TAIL_POINTER, tail - 16);
    let address = foreign - 4;
    let text = format!(
        "heap.dump: the heap is corrupt at address {address:#x}: found the end of a region and no further region, expected regions up to the one that the allocator's tail pointer names{CORRUPT_ADVICE}"
    );
    let module = scene.module();
    let error = analyze(&dump, &module).unwrap_err();
    assert_eq!(error.to_string(), text);
}

#[test]
fn arrays_that_share_one_buffer_do_not_fill_the_memory() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let one = scene.object(node, 8);
    let buffer = scene.object_of(crate::support::ARRAY_BUFFER, &[one.0; 4000]);
    for _ in 0..600 {
        scene.array_over(nodes, buffer, 4000);
    }
    let words = scene.dump().memory_size() / 4;
    assert_fails(
        move || scene.try_analyze(),
        "ERR_TOO_MANY_REFERENCES",
        &format!(
            "heap.dump: more than {words} references, which is more than the memory has words: several containers refer to the same buffer, so the heap is corrupt or the dump is of another module; capture the dump again and pass the .wasm file that was running"
        ),
    );
}

// Errors that no input causes.

#[test]
fn cancelled_work_is_aborted_without_a_file_name() {
    let scene = small_scene();
    let (dump, module) = (scene.dump(), scene.module());
    let program = Program::read(input("program.wasm", &module), &Control::default()).unwrap();
    let control = Control::default();
    control.cancel();
    let error = program
        .analyze(input("heap.dump", &dump.bytes), &control)
        .unwrap_err();
    assert_eq!(error.to_string(), "the analysis was aborted");
    assert_eq!(error.code(), "ABORT_ERR");
}

#[test]
fn of_two_wrong_dumps_the_first_is_named() {
    let scene = small_scene();
    let module = scene.module();
    let program = Program::read(input("program.wasm", &module), &Control::default()).unwrap();
    let error = program
        .analyze_both(
            input("before.dump", b"ASHD"),
            input("after.dump", b"AS"),
            Schedule::SideBySide,
            &Control::default(),
        )
        .unwrap_err();
    assert!(error.to_string().starts_with("before.dump: "), "{error}");
}

#[test]
fn an_error_is_never_named_after_two_files() {
    let error = Error::from(DumpError::Version { found: 1 })
        .in_file("inner")
        .in_file("outer");
    assert!(
        error.to_string().starts_with("inner: dump format"),
        "{error}"
    );
}

fn input<'a>(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
    Input { name, bytes }
}
