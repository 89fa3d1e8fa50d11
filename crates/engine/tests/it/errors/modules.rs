//! Modules that are not whole, or none.

use super::*;

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
            "this is a gzip file, not a WebAssembly module: decompress it first, with gunzip",
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
        "program.wasm: the file is empty, so it is not a WebAssembly module: its writer was stopped, or the disk is full; pass the .wasm file that the dump was taken from",
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
        "program.wasm: the module has the component encoding: expected a core module; pass the .wasm file from which a tool made this component, such as the input of wasm-tools component new",
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
        "program.wasm: the module has a 64-bit memory: expected a 32-bit memory; compile for wasm32: clang and Rust without a target wasm64, Emscripten without -sMEMORY64",
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
