//! Variables, the shadow stack, static and pinned objects.

use super::node_class;
use crate::support::{Scene, WasmGlobal, live};

#[test]
fn a_variable_without_a_location_is_found_by_its_name() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let variable = WasmGlobal::variable("assembly/index/head", kept.0);
    scene.globals.insert(4, variable);
    scene.describe_global("assembly/index/head", node, None);
    assert_eq!(live(&scene.analyze()), [kept]);
}

#[test]
fn imported_globals_and_globals_of_other_types_do_not_shift_the_values() {
    use wasm_encoder::ValType;
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let wide = WasmGlobal {
        ty: ValType::I64,
        ..WasmGlobal::variable("assembly/index/wide", 1)
    };
    let imported = WasmGlobal {
        imported: true,
        ..WasmGlobal::variable("assembly/host/counter", 5)
    };
    scene.globals.insert(0, wide);
    scene.globals.insert(0, imported);
    scene.global("assembly/index/head", node, kept);
    assert_eq!(live(&scene.analyze()), [kept]);
}

#[test]
fn a_static_object_is_followed_but_takes_no_space() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let fixed = scene.static_object(node, &[kept.0, 0]);
    scene.global("assembly/index/head", node, fixed);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [kept]);
    assert_eq!(heap.live_size, 32);
}

/// As in the middle of a sweep: the object before it was freed, and its memory is used again.
#[test]
fn a_static_object_is_followed_though_the_object_before_it_was_swept() {
    const HEADER: u32 = 20;
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let fixed = scene.static_object(node, &[kept.0, 0]);
    let next = scene.static_object(node, &[0, 0]);
    scene.write(fixed.0 - HEADER + 4, &[next.0 - HEADER, kept.0 - HEADER]);
    scene.write(next.0 - HEADER + 8, &[fixed.0 - HEADER]);
    scene.global("assembly/index/head", node, fixed);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [kept]);
    assert_eq!(heap.warnings, []);
}

#[test]
fn a_static_object_that_nothing_refers_to_keeps_nothing() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let not_kept = scene.object(node, 8);
    scene.static_object(node, &[not_kept.0, 0]);
    assert_eq!(live(&scene.analyze()), []);
}

#[test]
fn the_whole_shadow_stack_is_read_and_nothing_below_it() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let [outer, inner, popped] = [(); 3].map(|()| scene.object(node, 8));
    scene.push_on_stack(outer);
    scene.push_on_stack(inner);
    scene.write(crate::support::HEAP_BASE - 12, &[popped.0]);
    assert_eq!(live(&scene.analyze()), [outer, inner]);
}

#[test]
fn a_word_into_the_middle_of_an_object_keeps_nothing() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let object = scene.object(node, 40);
    scene.push_on_stack(object.0 + 16);
    scene.push_on_stack(object.block());
    assert_eq!(live(&scene.analyze()), []);
}

#[test]
fn pinned_objects_are_roots_wherever_they_are_in_their_list() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let [first, second, other, target] = [(); 4].map(|()| scene.object(node, 8));
    scene.set(second, 0, target);
    scene.pin(first);
    scene.pin(second);
    scene.pin(target);
    assert!(!live(&scene.analyze()).contains(&other));
    assert_eq!(live(&scene.analyze()), [first, second, target]);
}
