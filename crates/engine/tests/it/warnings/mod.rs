//! Every warning that an analysis can give, with its whole text, and that sound heaps give none.

mod damage;
mod descriptions;
mod globals;
mod other_builds;

use crate::support::{
    ARRAY_BUFFER, Class, NULL, NeverCompiled, OBJECT, Object, STRING, Scene, flags, warnings,
};

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
