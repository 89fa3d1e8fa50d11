//! Warnings about dumps that may be of another build or of another run.

use super::{assert_warns, small_scene};
use crate::support::{
    ARRAY_BUFFER, DATA_END, HEAP_BASE, ModuleOptions, Object, PAGE, STRING, WasmGlobal, analyze,
    analyze_tolerating, live, warnings,
};
use engine::{Control, Input, Program, Schedule, Tolerance};

#[test]
fn a_stack_pointer_that_its_global_contradicts_is_said() {
    let (mut scene, ..) = small_scene();
    scene.push_on_stack(0u32);
    let mut dump = scene.dump();
    dump.set_header(16, HEAP_BASE);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "__stack_pointer at offset 16 is 0x6008, but its global has the value 0x6004 in the same dump: the value in the header was used, so the objects that the stack keeps alive may be wrong; check the writer of the dump"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_STACK_POINTER_DISPUTED");
}

#[test]
fn a_stack_pointer_that_is_not_aligned_is_said() {
    let (scene, ..) = small_scene();
    let mut dump = scene.dump();
    dump.set_header(16, HEAP_BASE - 2);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "__stack_pointer at offset 16 is 0x6006, expected a multiple of 4: the objects that the stack keeps alive may be wrong; check the writer of the dump"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_STACK_POINTER_UNALIGNED");
}

#[test]
fn a_memory_of_fewer_or_more_pages_than_the_module_allows_is_said() {
    let (scene, ..) = small_scene();
    for limits in [(2, 3), (0, 0)] {
        let module = scene.module_with(&ModuleOptions {
            memory_limits: Some(limits),
            ..ModuleOptions::default()
        });
        let heap = analyze(&scene.dump(), &module).unwrap();
        let (minimum, maximum) = limits;
        assert_eq!(
            warnings(&heap),
            [format!(
                "the memory in the dump has 1 page(s) of 64 KiB, but the module's memory has {minimum} to {maximum}: the dump is truncated, or was taken from another module"
            )]
        );
        assert_eq!(heap.warnings[0].code(), "WARN_MEMORY_OUTSIDE_LIMITS");
    }
}

#[test]
fn a_second_dump_with_a_smaller_memory_is_said_to_be_swapped_or_of_another_run() {
    let (mut scene, ..) = small_scene();
    let small = scene.dump();
    scene.object(ARRAY_BUFFER, PAGE);
    let large = scene.dump();
    let wasm = scene.module();
    let program = Program::read(input("program.wasm", &wasm), &Control::default()).unwrap();
    let both = |before: &[u8], after: &[u8]| {
        let [before, after] = [before, after].map(|dump| input("x.dump", dump));
        let both = program.analyze_both(before, after, Schedule::OneByOne, &Control::default());
        warnings(&both.unwrap().1)
    };
    assert_eq!(both(&small.bytes, &large.bytes), [""; 0]);
    let said = both(&large.bytes, &small.bytes);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains("a memory never shrinks, so the dumps are swapped"),
        "{said:?}"
    );
}

#[test]
fn a_string_literal_that_the_program_overwrote_causes_a_warning() {
    let (mut scene, _, head) = small_scene();
    let literals = [0x61, 0x62, 0x63].map(|letter| scene.static_object(STRING, &[letter]));
    let written = scene.dump();
    let data = written.bytes[written.memory_start()..].to_vec();
    let module = scene.module_with(&ModuleOptions {
        data: vec![(0, data[..DATA_END as usize].to_vec())],
        ..ModuleOptions::default()
    });
    let mut dump = scene.dump();
    dump.poke(literals[1].0, 0x78);
    let heap = analyze(&dump, &module).unwrap();
    assert_eq!(live(&heap), [head]);
    assert_eq!(
        warnings(&heap),
        [format!(
            "1 string literal(s) in static memory differ from the module, the first at {:#x}: the program may have overwritten its static data; if it does not do that, the dump was taken from another build of the module, and every number and name may be wrong",
            literals[1].0
        )]
    );
    dump.poke(literals[0].0, 0x78);
    let error = analyze(&dump, &module).unwrap_err();
    assert_eq!(error.code(), "ERR_MODULE_MISMATCH");
}

/// The warning if the object at `object` cannot be of the class.
fn other_fields(object: Object, declared: u32) -> String {
    format!(
        "1 object(s) do not have the fields of their class, the first is the assembly/index/Order at {:#x}, whose fields take {declared} bytes in the debug information: the dump was probably taken from another build of the module, and then every number and name may be wrong",
        object.0
    )
}

#[test]
fn an_object_without_room_for_the_fields_of_its_class_is_of_another_build() {
    let (mut scene, node, _) = small_scene();
    let order = scene.class("assembly/index/Order");
    scene.field(order, "first", 0, node);
    scene.field(order, "number", 8, "u32");
    let object = scene.object(order, 8);
    scene.global("assembly/index/order", order, object);
    assert_warns(&scene, "WARN_FIELDS_DIFFER", &other_fields(object, 12));
}

#[test]
fn an_object_that_has_a_reference_after_the_fields_of_its_class_is_of_another_build() {
    let (mut scene, node, head) = small_scene();
    let order = scene.class("assembly/index/Order");
    scene.field(order, "first", 0, node);
    let object = scene.object(order, 8);
    scene.set(object, 4, head);
    scene.global("assembly/index/order", order, object);
    assert_warns(&scene, "WARN_FIELDS_DIFFER", &other_fields(object, 4));
}

#[test]
fn unused_space_after_the_fields_of_a_class_causes_no_warning() {
    let (mut scene, node, _) = small_scene();
    let order = scene.class("assembly/index/Order");
    scene.field(order, "first", 0, node);
    let object = scene.object(order, 64);
    scene.global("assembly/index/order", order, object);
    assert_eq!(warnings(&scene.analyze()), [""; 0]);
}

#[test]
fn contents_of_garbage_need_not_fit() {
    let (mut scene, node, head) = small_scene();
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[head.0; 4]);
    scene.array_over(nodes, buffer, 5);
    assert_eq!(warnings(&scene.analyze()), [""; 0]);
}

#[test]
fn a_memory_that_is_not_made_of_pages_causes_a_warning() {
    let (mut scene, ..) = small_scene();
    scene.grow_to(2);
    let mut dump = scene.dump();
    let file_size = dump.bytes.len();
    dump.bytes.extend_from_slice(&[0; 10]);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert_eq!(file_size, dump.bytes.len() - 10);
    assert_eq!(
        warnings(&heap),
        [
            "the memory in the dump has 131082 bytes, which is not a whole number of 64 KiB pages: the dump may be truncated"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_MEMORY_NOT_WHOLE_PAGES");
}

#[test]
fn every_warning_of_a_comparison_names_its_dump() {
    let (mut scene, ..) = small_scene();
    let sound = scene.dump();
    scene.set_global("~lib/rt/itcms/total", 1000);
    let strange = scene.dump();
    let module = scene.module();
    let program = Program::read(input("program.wasm", &module), &Control::default()).unwrap();
    let (before, after) = program
        .analyze_both(
            input("before.dump", &sound.bytes),
            input("after.dump", &strange.bytes),
            Schedule::SideBySide,
            &Control::default(),
        )
        .unwrap();
    assert_eq!(warnings(&before), [""; 0]);
    assert_eq!(
        warnings(&after),
        [
            "after.dump: the collector counts 1000 bytes of managed objects, but 32 were found: the heap is damaged or was changed from outside, and some objects may be missing or wrong"
        ]
    );
    assert_eq!(after.warnings[0].code(), "WARN_TOTAL_MISMATCH");
}

#[test]
fn a_module_that_is_used_by_force_is_said_not_to_fit() {
    let (scene, ..) = small_scene();
    let mut other = scene.clone();
    other
        .globals
        .push(WasmGlobal::variable("assembly/index/new", 0));
    let force = Tolerance {
        mismatch: true,
        ..Tolerance::default()
    };
    let heap = analyze_tolerating(&scene.dump().bytes, &other.module(), force).unwrap();
    assert_eq!(
        warnings(&heap)[0],
        "the dump was taken from another module, or from another build of it: the dump has 8 global values (count at offset 20), but the module has 9 mutable i32 globals; every number and name may be wrong"
    );
    assert_eq!(heap.warnings[0].code(), "WARN_MODULE_MISMATCH");
}

fn input<'a>(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
    Input { name, bytes }
}
