//! Classes that the debug information leaves out, or describes in odd ways.

use super::{assert_keeps, node_class};
use crate::support::{
    ARRAY_BUFFER, ARRAY_BUFFER_VIEW, NeverCompiled, OBJECT, STRING, Scene, class_name, flags, live,
    warnings,
};

#[test]
fn the_fixed_classes_need_no_description() {
    let mut scene = Scene::new();
    let view_buffer = scene.object(ARRAY_BUFFER, 8);
    let objects = [
        scene.object(OBJECT, 0),
        scene.object(STRING, 8),
        scene.object_of(ARRAY_BUFFER_VIEW, &[view_buffer.0, view_buffer.0, 8]),
    ];
    for object in objects {
        scene.push_on_stack(object);
    }
    let heap = scene.analyze();
    let names = live(&heap)
        .into_iter()
        .map(|object| class_name(&heap, object));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "~lib/arraybuffer/ArrayBuffer",
            "~lib/object/Object",
            "~lib/string/String",
            "~lib/arraybuffer/ArrayBufferView"
        ]
    );
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn a_container_without_a_description_is_read_by_its_run_time_flags() {
    let managed = flags::VALUE_MANAGED | flags::value_size(4);
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let view = scene.undescribed_class(flags::ARRAY_BUFFER_VIEW);
    let array = scene.undescribed_class(flags::ARRAY | managed);
    let static_array = scene.undescribed_class(flags::STATIC_ARRAY | managed);
    let set = scene.undescribed_class(flags::SET | managed);
    let map = scene.undescribed_class(
        flags::MAP | flags::value_size(8) | flags::KEY_MANAGED | flags::key_size(4),
    );
    let [viewed, b, c, d, e] = [(); 5].map(|()| scene.object(node, 8));
    let roots = [
        scene.object_of(view, &[viewed.0, viewed.0, 8]),
        scene.array(array, &[b]),
        scene.object_of(static_array, &[c.0]),
        scene.entries(set, 1, &[d.0, 0]),
        scene.entries(map, 1, &[e.0, 0, 7, 7, 0, 0]),
    ];
    for root in roots {
        scene.push_on_stack(root);
    }
    let heap = scene.analyze();
    let found = live(&heap);
    for (target, what) in [
        (viewed, "view"),
        (b, "array"),
        (c, "static array"),
        (d, "set"),
        (e, "map"),
    ] {
        assert!(found.contains(&target), "{what}");
    }
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(class_name(&heap, roots[0]), format!("Class#{}", view.id));
}

#[test]
fn numbers_in_a_container_without_a_description_are_no_references() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let array = scene.undescribed_class(flags::STATIC_ARRAY | flags::value_size(4));
    let not_kept = scene.object(node, 8);
    let root = scene.object_of(array, &[not_kept.0]);
    assert_keeps(&mut scene, root, &[]);
}

#[test]
fn a_pointer_free_class_refers_to_nothing_even_if_its_description_says_so() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    scene.set_flags(node, flags::POINTER_FREE);
    let not_kept = scene.object(node, 8);
    let root = scene.object_of(node, &[not_kept.0]);
    assert_keeps(&mut scene, root, &[]);
}

#[test]
fn a_field_of_a_class_that_was_never_compiled_may_be_a_reference() {
    let mut scene = Scene::new();
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "rare", 4, NeverCompiled);
    let kept = scene.object(OBJECT, 0);
    let root = scene.object_of(holder, &[0, kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn a_field_of_an_interface_keeps_an_object_of_any_class() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let interface = scene.class("assembly/index/Shape");
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "shape", 0, interface);
    let kept = scene.object(node, 8);
    let root = scene.object_of(holder, &[kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn a_field_of_an_unmanaged_class_is_no_reference() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let unmanaged = scene.class_with_id("assembly/index/Vector", Some(0));
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "vector", 0, unmanaged);
    let not_kept = scene.object(node, 8);
    let root = scene.object_of(holder, &[not_kept.0]);
    assert_keeps(&mut scene, root, &[]);
}

#[test]
fn an_object_with_id_0_is_an_object_whatever_unmanaged_classes_there_are() {
    let mut scene = Scene::new();
    let unmanaged = scene.class_with_id("assembly/index/Vector", Some(0));
    scene.field(unmanaged, "x", 0, NeverCompiled);
    scene.class_with_id("~lib/object/Object", Some(0));
    let object = scene.object(OBJECT, 4);
    scene.push_on_stack(object);
    assert_eq!(class_name(&scene.analyze(), object), "~lib/object/Object");
}

#[test]
fn a_field_of_type_object_is_a_reference_although_its_id_is_0() {
    let mut scene = Scene::new();
    let object = scene.class_with_id("~lib/object/Object", Some(0));
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "any", 0, object);
    let kept = scene.object(OBJECT, 4);
    let root = scene.object_of(holder, &[kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn classes_that_inherit_in_a_circle_have_the_fields_of_all() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let (first, second) = (scene.class("a/First"), scene.class("a/Second"));
    scene.inherit(first, second);
    scene.inherit(second, first);
    scene.field(first, "own", 0, node);
    scene.field(second, "inherited", 4, node);
    let (own, inherited) = (scene.object(node, 8), scene.object(node, 8));
    let root = scene.object_of(first, &[own.0, inherited.0]);
    assert_keeps(&mut scene, root, &[own, inherited]);
}

#[test]
fn a_class_ten_thousand_levels_deep_has_the_fields_of_the_first() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let first = scene.class_with_id("a/Level0", None);
    scene.field(first, "inherited", 0, node);
    let mut last = first;
    for level in 1..10_000 {
        let class = scene.class_with_id(&format!("a/Level{level}"), None);
        scene.inherit(class, last);
        last = class;
    }
    let leaf = scene.class("a/Leaf");
    scene.inherit(leaf, last);
    let kept = scene.object(node, 8);
    let root = scene.object_of(leaf, &[kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn of_two_base_classes_with_one_name_the_correct_one_is_inherited() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let wrong = scene.class("assembly/index/Base");
    let right = scene.class("assembly/index/Base");
    scene.field(wrong, "a", 0, node);
    scene.field(right, "b", 4, node);
    let derived = scene.class("assembly/index/Derived");
    scene.inherit(derived, right);
    let [not_kept, kept] = [(); 2].map(|()| scene.object(node, 8));
    let root = scene.object_of(derived, &[not_kept.0, kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn fields_that_overlap_are_all_followed() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let overlapping = scene.class("assembly/index/Overlapping");
    scene.field(overlapping, "first", 0, node);
    scene.field(overlapping, "second", 1, node);
    let root = scene.object(overlapping, 5);
    let kept = scene.object(node, 8);
    // The address of the static object is the upper part of the address of a heap object.
    let lower = |address: u32| (0x70..0x100).contains(&address);
    let fixed = loop {
        let fixed = scene.static_object(node, &[0, 0]);
        if lower(fixed.0) {
            break fixed;
        }
    };
    scene.set(fixed, 0, kept);
    let first = loop {
        let object = scene.object(node, 8);
        if object.0 >> 8 == fixed.0 {
            break object;
        }
    };
    scene.set(root, 0, first);
    assert_keeps(&mut scene, root, &[kept, first]);
}

#[test]
fn members_that_an_older_build_repeats_in_subclasses_are_followed_once() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let flattened = scene.class("assembly/index/Flattened");
    scene.field(flattened, "inherited", 0, node);
    scene.field(flattened, "own", 4, node);
    scene.inherit(flattened, node);
    let kept = scene.object(node, 8);
    let root = scene.object_of(flattened, &[kept.0, kept.0]);
    scene.push_on_stack(root);
    assert_eq!(scene.analyze().edges.len(), 2);
}
