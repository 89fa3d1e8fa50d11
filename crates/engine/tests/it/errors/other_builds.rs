//! Dumps of another build than the module.

use super::*;

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
