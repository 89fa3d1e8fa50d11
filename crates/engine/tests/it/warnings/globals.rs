//! Warnings about the values of global variables, and about variables as roots.

use super::{assert_warns, small_scene};
use crate::support::{
    Class, CollectorCode, ModuleOptions, Object, Scene, WasmGlobal, analyze, encode_module, live,
    warnings,
};

#[test]
fn a_dump_without_global_values_causes_a_warning() {
    let (scene, ..) = small_scene();
    let heap = analyze(&scene.dump().without_globals(), &scene.module()).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the dump has no global values (the module has 8 mutable i32 globals): objects that only globals keep alive are missing from every number"
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
            "the module has no debug information, and its collector's code cannot be read: every global that holds an object, and every static object that may be a root, counts as a root, so too many objects may count as live",
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
