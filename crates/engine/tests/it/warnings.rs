//! Every warning that an analysis can give, with its whole text, and that sound heaps give none.

use crate::support::{
    ARRAY_BUFFER, Class, CollectorCode, DATA_END, HEAP_BASE, ModuleOptions, NULL, NeverCompiled,
    OBJECT, Object, PAGE, STRING, Scene, WasmGlobal, analyze, analyze_tolerating, encode_module,
    flags, live, warnings,
};
use engine::wasm::debug_info::{Producer, TRANSFORM};
use engine::{Control, Input, Program, Schedule, Tolerance, Warning};

/// One node, kept by a global.
fn small_scene() -> (Scene, Class, Object) {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let head = scene.object(node, 8);
    scene.global("assembly/index/head", node, head);
    (scene, node, head)
}

/// The one warning of a scene: its code and its text.
#[track_caller]
fn assert_warns(scene: &Scene, code: &str, text: &str) {
    let heap = scene.analyze();
    assert_eq!(warnings(&heap), [text]);
    assert_eq!(heap.warnings[0].code(), code);
}

#[test]
fn a_heap_with_everything_in_it_gives_no_warning() {
    let (mut scene, node, head) = small_scene();
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let map = scene.generic("~lib/map/Map<~lib/string/String,i64>", &[&node, &"i64"]);
    let tuple_class = scene.class("~lib/tuple/SmallTuple");
    let function_class = scene.class("~lib/function/Function<()=>void>");
    let view = scene.undescribed_class(flags::ARRAY_BUFFER_VIEW);
    let text = scene.object(STRING, 10);
    let array = scene.array(nodes, &[head]);
    let map = scene.entries(map, 1, &[text.0, 0, 7, 7, 0, 0]);
    scene.free_block(60);
    scene.raw(&[1, 2, 3]);
    let tuple = scene.object_of(tuple_class, &[array.0, map.0, 0b11, 0]);
    let function = scene.object_of(function_class, &[3, tuple.0]);
    let bytes = scene.object(ARRAY_BUFFER, 100);
    let view = scene.object_of(view, &[bytes.0, bytes.0, 100]);
    let list = scene.static_object(nodes, &[0, 0, 0, 0]);
    scene.foreign_pages(2);
    scene.object(OBJECT, 0);
    scene.global("assembly/index/callback", function_class, function);
    scene.global("assembly/index/list", nodes, list);
    scene.global("assembly/index/unknown", NeverCompiled, 17u32);
    scene.global("assembly/index/none", node, NULL);
    scene.global("assembly/index/number", "i32", 12345u32);
    scene.push_on_stack(view);
    scene.push_on_stack(12345u32);
    scene.pin(head);
    assert_eq!(warnings(&scene.analyze()), [""; 0]);
}

#[test]
fn an_empty_heap_gives_no_warning() {
    assert_eq!(warnings(&Scene::new().analyze()), [""; 0]);
}

#[test]
fn a_dump_without_global_values_causes_a_warning() {
    let (scene, ..) = small_scene();
    let heap = analyze(&scene.dump().without_globals(), &scene.module()).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the dump has no global values (the module has 8 mutable i32 globals): objects that only globals keep alive are missing from every number; write dumps with @warpo/heap-analyzer/capture"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_GLOBALS_MISSING");
}

#[test]
fn a_dump_of_version_1_is_one_without_global_values() {
    let (mut scene, node, _) = small_scene();
    let kept = scene.object(node, 8);
    scene.push_on_stack(kept);
    let module = scene.module();
    let without_values = analyze(&scene.dump().without_globals(), &module).unwrap();
    let version_1 = analyze(&scene.dump().of_version_1(), &module).unwrap();
    assert_eq!(live(&version_1), [kept]);
    assert_eq!(live(&version_1), live(&without_values));
    assert_eq!(warnings(&version_1), warnings(&without_values));
    assert_eq!(version_1.warnings[0].code(), "WARN_GLOBALS_MISSING");
}

#[test]
fn a_dump_without_global_values_still_has_immutable_globals_as_roots() {
    let (mut scene, node, _) = small_scene();
    let kept = scene.object(node, 8);
    scene
        .globals
        .push(WasmGlobal::constant("assembly/index/first", kept.0));
    let index = scene.globals.len() as u32 - 1;
    scene.describe_global("assembly/index/first", node, Some(index));
    let heap = analyze(&scene.dump().without_globals(), &scene.module()).unwrap();
    assert_eq!(live(&heap), [kept]);
}

#[test]
fn a_global_that_nothing_locates_is_named() {
    let (mut scene, node, _) = small_scene();
    scene.describe_global("assembly/index/lost", node, None);
    assert_warns(
        &scene,
        "WARN_GLOBAL_UNKNOWN",
        "the value of global assembly/index/lost is not known (the module does not say which of its globals it is, or the host supplied it): objects that only this global keeps alive are missing",
    );
}

#[test]
fn a_constant_that_the_host_supplied_is_named() {
    let (mut scene, node, _) = small_scene();
    let mut imported = WasmGlobal::constant("assembly/host/config", 0);
    imported.imported = true;
    scene.globals.insert(0, imported);
    for global in &mut scene.description.globals {
        global.global_index = global.global_index.map(|index| index + 1);
    }
    scene.describe_global("assembly/host/config", node, None);
    assert_warns(
        &scene,
        "WARN_GLOBAL_UNKNOWN",
        "the value of global assembly/host/config is not known (the module does not say which of its globals it is, or the host supplied it): objects that only this global keeps alive are missing",
    );
}

#[test]
fn a_global_that_should_hold_a_reference_but_does_not_is_named() {
    let (mut scene, node, head) = small_scene();
    scene.global("assembly/index/broken", node, head.0 + 4);
    assert_warns(
        &scene,
        "WARN_GLOBAL_NOT_AN_OBJECT",
        "global assembly/index/broken should hold a reference, but 0x6654 is not the address of an object: is this the module that the dump was taken from?",
    );
}

#[test]
fn a_constant_that_is_left_in_the_debug_information_alone_is_named() {
    let (mut scene, node, _) = small_scene();
    scene.describe_global("assembly/index/folded", node, None);
    scene.description.globals[1].constant_value = Some(0x44);
    assert_warns(
        &scene,
        "WARN_GLOBAL_NOT_AN_OBJECT",
        "global assembly/index/folded should hold a reference, but 0x44 is not the address of an object: is this the module that the dump was taken from?",
    );
}

#[test]
fn without_any_evidence_of_roots_every_global_and_static_object_that_may_be_one_is_one() {
    let (mut scene, node, head) = small_scene();
    let kept_by_static = scene.object(node, 8);
    scene.static_object(Class::undescribed(node.id), &[kept_by_static.0, 0]);
    let module = encode_module(&scene.globals, &[], &ModuleOptions::default());
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the module has no debug information, and its collector's code cannot be read: every global that holds an object, and every static object that may be a root, counts as a root, so too many objects may count as live; compile with --debug",
            "the module does not describe the class with runtime id 4 (2 object(s)): every word of them counts as a possible reference, so too many objects may count as live"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_ROOTS_UNKNOWN");
    assert_eq!(live(&heap), [head, kept_by_static]);
}

/// A scene of an optimised build: a static object that nothing in the debug information refers to, and the heap
/// object that it keeps.
fn optimised_scene() -> (Scene, Object, Object) {
    let (mut scene, node, _) = small_scene();
    scene
        .globals
        .retain(|global| !global.name.starts_with("~lib/shared/"));
    for global in &mut scene.description.globals {
        global.global_index = global.global_index.map(|index| index - 1);
    }
    let kept = scene.object(node, 8);
    let holder = scene.static_object(node, &[kept.0, 0]);
    (scene, holder, kept)
}

const ROOTS_INCOMPLETE: &str = "the build is optimised, so the debug information may leave out constant globals, and the collector's code cannot be read: every static object that may be a root counts as a root, so too many objects may count as live; pass the module with its code";

#[test]
fn before_a_first_collection_static_objects_of_an_optimised_build_that_refer_to_the_heap_are_roots()
{
    let (scene, _, kept) = optimised_scene();
    let heap = scene.analyze();
    assert!(live(&heap).contains(&kept));
    assert_eq!(warnings(&heap), [ROOTS_INCOMPLETE]);
    assert_eq!(heap.warnings[0].code(), "WARN_ROOTS_INCOMPLETE");
}

#[test]
fn after_a_collection_only_static_objects_in_the_collectors_lists_may_be_roots() {
    let (mut scene, holder, kept) = optimised_scene();
    let node = Class::undescribed(4);
    let garbage = scene.object(node, 8);
    scene.static_object(node, &[garbage.0, 0]);
    let mut dump = scene.dump();
    // A list of one, as the collector leaves it.
    let block = holder.0 - 20;
    dump.poke(block + 4, block | 1);
    dump.poke(block + 8, block);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert!(live(&heap).contains(&kept));
    assert!(!live(&heap).contains(&garbage));
}

#[test]
fn words_in_front_of_a_classs_own_fields_may_be_inherited_if_no_class_has_a_base() {
    let (mut scene, node, head) = small_scene();
    for global in &mut scene.description.globals {
        global.global_index = None;
    }
    let derived = scene.class("assembly/index/Derived");
    scene.field(derived, "own", 8, node);
    let inherited = scene.object(node, 8);
    let object = scene.object_of(derived, &[inherited.0, 0, 0]);
    scene.set(head, 0, object);
    let heap = scene.analyze();
    assert!(live(&heap).contains(&inherited));
    assert_eq!(heap.warnings.len(), 1);
    assert_eq!(heap.warnings[0].code(), "WARN_BASES_UNKNOWN");
}

#[test]
fn additional_fields_in_the_code_are_not_a_dispute_if_no_class_has_a_base() {
    let (mut scene, node, head) = small_scene();
    for global in &mut scene.description.globals {
        global.global_index = None;
    }
    let index = scene.globals.len() as u32 - 1;
    let derived = scene.class("assembly/index/Derived");
    scene.field(derived, "own", 8, node);
    let [inherited, number] = [(); 2].map(|()| scene.object(node, 8));
    let object = scene.object_of(derived, &[inherited.0, number.0, 0]);
    scene.set(head, 0, object);
    let mut members = vec![vec![]; derived.id as usize + 1];
    members[3] = vec![0];
    members[node.id as usize] = vec![0];
    members[derived.id as usize] = vec![0, 8];
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![index],
            members,
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert!(live(&heap).contains(&inherited));
    assert!(!live(&heap).contains(&number));
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn a_tuple_without_debug_information_is_known_by_the_bitmap_that_its_visitor_follows() {
    let (mut scene, node, head) = small_scene();
    let tuple = Class::undescribed(scene.undescribed_class(0).id);
    let [kept, number] = [(); 2].map(|()| scene.object(node, 8));
    let object = scene.object_of(tuple, &[number.0, kept.0, 0b10, 0]);
    scene.set(head, 0, object);
    let mut members = vec![vec![]; tuple.id as usize + 1];
    members[3] = vec![0];
    members[node.id as usize] = vec![0];
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![scene.globals.len() as u32 - 1],
            members,
            tuples: vec![tuple.id],
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(live(&heap), [head, kept, object]);
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn a_global_of_function_type_is_no_root_and_no_dispute() {
    let (mut scene, node, head) = small_scene();
    let function = scene.class("~lib/function/Function<()=>void>");
    let environment = scene.object(node, 8);
    let callback = scene.object_of(function, &[0, environment.0]);
    scene.global("assembly/index/callback", function, callback);
    let index = scene.globals.len() as u32;
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![index - 2],
            members: vec![vec![], vec![], vec![], vec![0], vec![0], vec![4]],
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    for wasm in [module, scene.module()] {
        let heap = analyze(&scene.dump(), &wasm).unwrap();
        assert_eq!(live(&heap), [head]);
        assert_eq!(warnings(&heap), [""; 0]);
    }
}

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

#[test]
fn collector_code_that_agrees_with_the_debug_information_gives_no_warning() {
    let (scene, node, head) = small_scene();
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(live(&heap), [head]);
}

#[test]
fn a_global_that_only_the_debug_information_has_is_disputed() {
    let (mut scene, node, head) = small_scene();
    let unvisited = scene.object(node, 8);
    scene.global("assembly/index/other", node, unvisited);
    let members = vec![vec![], vec![], vec![], vec![0], vec![0]];
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![scene.globals.len() as u32 - 2],
            members,
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the debug information and the collector's code disagree about global assembly/index/other: it counts as a root, so too many objects may count as live; compile the module again if it was changed after compilation"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_GLOBAL_DISPUTED");
    assert_eq!(live(&heap), [head, unvisited]);
}

#[test]
fn a_class_whose_fields_the_collectors_code_does_not_visit_is_disputed() {
    let (mut scene, node, head) = small_scene();
    let [unvisited, visited] = [(); 2].map(|()| scene.object(node, 8));
    scene.set(head, 0, unvisited);
    scene.set(head, 4, visited);
    let module = scene.module_with_collector(&[(node, &[4])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the debug information and the collector's code name different reference fields of assembly/index/Node: all of them were followed, so too many objects may count as live; compile the module again if it was changed after compilation"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_CLASS_DISPUTED");
    assert_eq!(live(&heap), [head, unvisited, visited]);
}

/// A node whose field `other`, at offset 4, has this class. The collector visits only the field at 0. Beside it,
/// the object to which `other` refers.
fn unvisited_field(scene: &mut Scene, node: Class, head: Object, other: Class) -> Object {
    let held = scene.object(node, 8);
    scene.field(node, "other", 4, other);
    scene.set(head, 4, held);
    held
}

#[test]
fn an_unvisited_field_of_a_class_without_an_id_is_followed_and_no_dispute() {
    let (mut scene, node, head) = small_scene();
    let never_created = scene.class_with_id("assembly/index/NeverCreated", None);
    let held = unvisited_field(&mut scene, node, head, never_created);
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(live(&heap), [head, held]);
}

#[test]
fn an_unvisited_field_of_an_unmanaged_class_is_neither_followed_nor_a_dispute() {
    let (mut scene, node, head) = small_scene();
    let unmanaged = scene.class_with_id("assembly/index/Vector", Some(0));
    unvisited_field(&mut scene, node, head, unmanaged);
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(live(&heap), [head]);
}

#[test]
fn an_unvisited_field_of_a_tuple_is_followed_and_disputed_although_tuples_have_no_id() {
    let (mut scene, node, head) = small_scene();
    let tuple = scene.class_with_id("[assembly/index/Node,i32]", None);
    let held = unvisited_field(&mut scene, node, head, tuple);
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(heap.warnings[0].code(), "WARN_CLASS_DISPUTED");
    assert_eq!(live(&heap), [head, held]);
}

#[test]
fn an_id_of_several_classes_has_the_references_of_all_and_is_ambiguous() {
    let (mut scene, node, head) = small_scene();
    let rival = scene.class_with_id("assembly/index/Rival", Some(node.id));
    scene.field(rival, "other", 4, node);
    let [by_node, by_rival] = [(); 2].map(|()| scene.object(node, 8));
    scene.set(head, 0, by_node);
    scene.set(head, 4, by_rival);
    let id = node.id;
    let text = format!(
        "the debug information gives runtime id {id} to several classes: its objects are shown as assembly/index/Node, but may be assembly/index/Rival; the references of all these classes were followed, so too many objects may count as live"
    );
    assert_warns(&scene, "WARN_CLASS_AMBIGUOUS", &text);
    assert_eq!(live(&scene.analyze()), [head, by_node, by_rival]);
}

#[test]
fn variables_that_refer_to_another_class_than_the_declared_one_are_counted() {
    let (mut scene, node, _) = small_scene();
    let order = scene.class("assembly/index/Order");
    scene.field(order, "node", 0, node);
    let [first, second] = [(); 2].map(|()| scene.object(order, 4));
    scene.global("assembly/index/second", node, second);
    scene.global("assembly/index/first", node, first);
    assert_warns(
        &scene,
        "WARN_HEAP_INCONSISTENT",
        &format!(
            "variables that refer to an object of another class than the declared one: 2, the first at {:#x}: the heap was changed from outside, or the dump was taken while the allocator or the collector changed it, so every number may be wrong",
            second.0
        ),
    );
}

#[test]
fn a_variable_of_a_base_or_an_interface_may_refer_to_an_object_that_extends_it() {
    let (mut scene, node, _) = small_scene();
    let novel = scene.class("assembly/index/Novel");
    scene.field(novel, "pages", 8, "i32");
    scene.inherit(novel, node);
    let interface = scene.class("assembly/index/Readable");
    let object = scene.object(novel, 12);
    scene.global("assembly/index/asBase", node, object);
    scene.global("assembly/index/asInterface", interface, object);
    assert_eq!(warnings(&scene.analyze()), [""; 0]);
}

#[test]
fn contents_that_do_not_fit_name_the_first_object_and_count_all() {
    let (mut scene, node, head) = small_scene();
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[head.0; 4]);
    let arrays = [(); 3].map(|()| scene.array_over(nodes, buffer, 5));
    scene.global("assembly/index/a", nodes, arrays[2]);
    scene.global("assembly/index/b", nodes, arrays[1]);
    let text = format!(
        "the contents of 2 object(s) do not fit their buffers, the first is the ~lib/array/Array<assembly/index/Node> at {:#x}: references outside the buffers were not followed, so objects may be missing",
        arrays[1].0
    );
    assert_warns(&scene, "WARN_CONTENTS_DO_NOT_FIT", &text);
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
fn a_class_that_nothing_describes_is_counted() {
    let (mut scene, _, head) = small_scene();
    let unknown = Class::undescribed(77);
    let objects = [(); 2].map(|()| scene.object(unknown, 8));
    scene.set(head, 0, objects[0]);
    scene.set(objects[0], 4, objects[1]);
    assert_warns(
        &scene,
        "WARN_CLASS_UNKNOWN",
        "the module does not describe the class with runtime id 77 (2 object(s)): every word of them counts as a possible reference, so too many objects may count as live",
    );
}

#[test]
fn classes_that_nothing_describes_are_listed_by_id() {
    let (mut scene, ..) = small_scene();
    for id in [300, 99, 200] {
        let object = scene.object(Class::undescribed(id), 8);
        scene.push_on_stack(object);
    }
    let heap = scene.analyze();
    let ids = heap.warnings.iter().map(|warning| match warning {
        Warning::ClassUnknown { id, .. } => id.0,
        other => panic!("{other}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), [99, 200, 300]);
}

#[test]
fn a_total_that_the_walk_does_not_confirm_causes_a_warning() {
    let (mut scene, ..) = small_scene();
    scene.set_global("~lib/rt/itcms/total", 1000);
    assert_warns(
        &scene,
        "WARN_TOTAL_MISMATCH",
        "the collector counts 1000 bytes of managed objects, but 32 were found: the heap is damaged or was changed from outside, and some objects may be missing or wrong",
    );
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
fn a_module_without_names_hides_the_collector_and_that_is_no_reason_to_warn() {
    let (mut scene, ..) = small_scene();
    // Its debug information has the roots that optimisation removed.
    scene.description.producer = TRANSFORM.to_owned();
    let options = ModuleOptions {
        without_names: true,
        ..ModuleOptions::default()
    };
    let heap = analyze(&scene.dump(), &scene.module_with(&options)).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
}

/// Three objects in one list, in a module without names, so their expected number is not known.
struct Listed {
    scene: Scene,
    objects: [Object; 3],
}

impl Listed {
    fn new() -> Self {
        let mut scene = Scene::new();
        let class = scene.class("assembly/index/Node");
        // Raw memory, of zeros as so often, is in no list.
        scene.raw(&[0; 8]);
        let objects = [(); 3].map(|()| scene.object(class, 8));
        for (nth, object) in objects.into_iter().enumerate() {
            scene.describe_global(
                &format!("assembly/index/node{nth}"),
                class,
                Some(scene.globals.len() as u32),
            );
            scene.globals.push(WasmGlobal::variable("", object.0));
        }
        Self { scene, objects }
    }

    /// The warnings about the dump with these words of memory changed.
    fn warnings(&self, changes: &[(u32, u32)]) -> Vec<String> {
        let options = ModuleOptions {
            without_names: true,
            ..ModuleOptions::default()
        };
        let mut dump = self.scene.dump();
        for &(address, word) in changes {
            dump.poke(address, word);
        }
        let heap = analyze(&dump, &self.scene.module_with(&options)).unwrap();
        let broken = heap.warnings.iter();
        let broken = broken.filter(|warning| warning.code() == "WARN_LIST_BROKEN");
        broken.map(ToString::to_string).collect()
    }
}

#[test]
fn an_object_that_is_halfway_out_of_its_list_is_said_without_names() {
    let listed = Listed::new();
    let [first, second, third] = listed.objects;
    assert_eq!(listed.warnings(&[]), [""; 0]);
    // The first step of the collector: the next object refers back to the one before the removed object.
    assert_eq!(
        listed.warnings(&[(third.block() + 8, first.block())]),
        [format!(
            "the collector's lists are broken at 2 object(s), the first at {:#x}: the dump was taken while the collector changed them, or the heap was changed from outside, so objects may be missing",
            second.0
        )]
    );
}

#[test]
fn an_object_between_two_lists_is_said_without_names() {
    let listed = Listed::new();
    let [first, second, third] = listed.objects;
    let warnings = listed.warnings(&[
        (third.block() + 8, first.block()),
        (first.block() + 4, third.block()),
    ]);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains(&format!("1 object(s), the first at {:#x}", second.0)));
}

#[test]
fn the_next_object_to_be_swept_is_no_broken_list() {
    let mut listed = Listed::new();
    let [first, second, _] = listed.objects;
    // The object before it was freed, and its memory used again.
    let freed = [(first.block() + 4, 7), (first.block() + 8, 7)];
    assert_eq!(listed.warnings(&freed).len(), 1);
    listed
        .scene
        .globals
        .push(WasmGlobal::variable("", second.block()));
    assert_eq!(listed.warnings(&freed), [""; 0]);
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

#[test]
fn a_heap_that_is_read_up_to_its_damage_is_said_to_be_partial() {
    let (mut scene, node, head) = small_scene();
    let damaged = scene.object(node, 8);
    scene.object(node, 8);
    let mut dump = scene.dump();
    dump.poke(damaged.block(), 0xffff_ffff);
    let partial = Tolerance {
        damage: true,
        ..Tolerance::default()
    };
    let heap = analyze_tolerating(&dump.bytes, &scene.module(), partial).unwrap();
    let damage = heap
        .warnings
        .iter()
        .find(|warning| warning.code() == "WARN_PARTIAL");
    assert_eq!(
        damage.unwrap().to_string(),
        format!(
            "partial result: the heap is corrupt at address {:#x}: found a block header of 0xffffffff (4294967292 bytes), expected a block whose size is 12 more than a multiple of 16 and that ends inside the heap; capture the dump again; if the error remains, look for code that writes outside its objects; the heap after this address was not read, so its objects, and the objects that only they keep alive, are missing",
            damaged.block()
        )
    );
    assert!(heap.is_partial);
    assert_eq!(live(&heap), [head]);
}

fn input<'a>(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
    Input { name, bytes }
}

/// The text about two classes without names, by who wrote the debug information.
fn names_incomplete(debug_info_by: Producer) -> String {
    let class_name = "Class#7".to_owned();
    let warning = Warning::NamesIncomplete {
        class_name,
        count: 2,
        debug_info_by,
    };
    warning.to_string()
}

#[test]
fn without_debug_information_the_warning_about_names_advises_asc_to_add_it() {
    assert_eq!(
        names_incomplete(Producer::Nobody),
        "2 class(es) have no name, such as Class#7: no name of a function contains theirs, and the module has no debug information, which asc adds with --transform @warpo/heap-analyzer/asc-transform; no number is affected"
    );
}

#[test]
fn for_warpo_the_warning_about_names_says_which_classes_it_leaves_out_and_advises_no_option() {
    assert_eq!(
        names_incomplete(Producer::Warpo),
        "2 class(es) have no name, such as Class#7: WARPO left them out of the debug information, as it does with classes that are the type of no variable or field, and no name of a function contains theirs; no number is affected"
    );
}

#[test]
fn with_other_debug_information_the_warning_about_names_says_only_that_they_are_not_in_it() {
    for producer in [Producer::Transform, Producer::Other] {
        assert_eq!(
            names_incomplete(producer),
            "2 class(es) have no name, such as Class#7: the debug information does not describe them, and no name of a function contains theirs; no number is affected"
        );
    }
}
