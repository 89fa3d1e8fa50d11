//! Dumps that are not whole, or of no dump.

use super::*;

#[test]
fn an_empty_dump_is_called_empty() {
    assert_dump_fails(
        |dump| dump.bytes.clear(),
        "ERR_DUMP_TRUNCATED",
        "heap.dump: the file is empty: its writer was stopped, or the disk is full; capture the dump again",
    );
}

#[test]
fn a_dump_that_ends_in_its_magic_is_truncated() {
    for length in 1..4 {
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
