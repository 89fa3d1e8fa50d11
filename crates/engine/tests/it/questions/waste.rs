//! Waste of known heaps, and cases that simpler definitions get wrong.

use serde_json::{Value, json};

use crate::support::{
    ARRAY_BUFFER, ARRAY_BUFFER_VIEW, Class, NULL, Object, STRING, Scene, ask, flags,
};

fn waste(scene: &Scene) -> Value {
    ask(&scene.open(), json!({ "question": "waste" }))
}

/// The answer about a kind: the number of objects and of bytes.
fn kind<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let kinds = answer["kinds"].as_array().unwrap();
    kinds.iter().find(|kind| kind["kind"] == name).unwrap()
}

fn count_and_savings(answer: &Value, name: &str) -> (u64, u64) {
    let kind = kind(answer, name);
    let number = |key: &str| kind[key].as_u64().unwrap();
    (number("count"), number("savings"))
}

/// The words of a text of Latin letters.
fn text(text: &str) -> Vec<u32> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let pair = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair[1]) << 16;
    assert!(units.len().is_multiple_of(2), "a whole number of words");
    units.chunks(2).map(pair).collect()
}

/// A node with these references, held by a global.
fn hold(scene: &mut Scene, objects: &[Object]) -> Object {
    let holder = scene.class("assembly/index/Holder");
    let mut words = Vec::new();
    for (nth, object) in objects.iter().enumerate() {
        scene.field(holder, &format!("field{nth}"), nth as u32 * 4, holder);
        words.push(object.0);
    }
    let object = scene.object_of(holder, &words);
    scene.global("assembly/index/holder", holder, object);
    object
}

fn view_class(scene: &mut Scene) -> Class {
    let base = scene.class_with_id(
        "~lib/arraybuffer/ArrayBufferView",
        Some(ARRAY_BUFFER_VIEW.id),
    );
    scene.field(base, "buffer", 0, ARRAY_BUFFER);
    let class = scene.class("~lib/typedarray/Uint8Array");
    scene.inherit(class, base);
    scene.set_flags(class, flags::ARRAY_BUFFER_VIEW | flags::value_size(1));
    class
}

fn numbers_class(scene: &mut Scene) -> Class {
    scene.generic("~lib/array/Array<i32>", &[&"i32"])
}

#[test]
fn the_string_with_the_lowest_address_stays_and_its_copies_are_waste() {
    let mut scene = Scene::new();
    let [milk, other] = [text("milk"), text("bred")];
    let strings = [&milk, &other, &milk, &milk].map(|words| scene.object_of(STRING, words));
    hold(&mut scene, &strings);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "duplicate-strings"), (2, 64));
    let group = &kind(&answer, "duplicate-strings")["groups"][0];
    assert_eq!(
        group,
        &json!({
            "what": "\"milk\"",
            "count": 2,
            "savings": 64,
            "holders": [
                { "holder": "assembly/index/Holder.field2", "count": 1, "savings": 32 },
                { "holder": "assembly/index/Holder.field3", "count": 1, "savings": 32 },
            ],
        })
    );
}

#[test]
fn a_static_string_stays_whatever_refers_to_it() {
    let mut scene = Scene::new();
    let milk = text("milk");
    scene.static_object(STRING, &milk);
    let copy = scene.object_of(STRING, &milk);
    hold(&mut scene, &[copy]);
    assert_eq!(
        count_and_savings(&waste(&scene), "duplicate-strings"),
        (1, 32)
    );
}

#[test]
fn garbage_is_no_original_and_no_copy() {
    let mut scene = Scene::new();
    let milk = text("milk");
    scene.object_of(STRING, &milk);
    let live = scene.object_of(STRING, &milk);
    scene.object_of(STRING, &milk);
    hold(&mut scene, &[live]);
    assert_eq!(
        count_and_savings(&waste(&scene), "duplicate-strings"),
        (0, 0)
    );
}

#[test]
fn buffers_of_the_same_bytes_are_copies_but_not_static_arrays_of_another_class() {
    let mut scene = Scene::new();
    let [narrow, wide] = ["u16", "i32"].map(|element| {
        let name = format!("~lib/staticarray/StaticArray<{element}>");
        scene.generic(&name, &[&element])
    });
    let objects = [ARRAY_BUFFER, narrow, ARRAY_BUFFER, wide, narrow]
        .map(|class| scene.object_of(class, &[1, 2, 3]));
    hold(&mut scene, &objects);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "duplicate-buffers"), (2, 64));
    let groups = &kind(&answer, "duplicate-buffers")["groups"];
    let what = [&groups[0]["what"], &groups[1]["what"]];
    assert_eq!(
        what,
        [
            "~lib/arraybuffer/ArrayBuffer, 12 bytes: 01 00 00 00 02 00 00 00 …",
            "~lib/staticarray/StaticArray<u16>, length 6: [1, 0, 2, 0, 3, 0]",
        ]
    );
}

#[test]
fn large_contents_are_compared_to_their_end() {
    let mut scene = Scene::new();
    let mut words = vec![7; 400_000];
    let first = scene.object_of(ARRAY_BUFFER, &words);
    let second = scene.object_of(ARRAY_BUFFER, &words);
    words[399_999] = 8;
    let third = scene.object_of(ARRAY_BUFFER, &words);
    scene.grow_to(100);
    hold(&mut scene, &[first, second, third]);
    let (count, savings) = count_and_savings(&waste(&scene), "duplicate-buffers");
    assert_eq!(
        (count, savings),
        (1, (1_600_000u64 + 20).next_multiple_of(16))
    );
}

#[test]
fn the_buffer_of_an_array_is_no_copy_although_another_has_the_same_bytes() {
    let mut scene = Scene::new();
    let class = numbers_class(&mut scene);
    let arrays = [(); 2].map(|()| {
        let buffer = scene.object_of(ARRAY_BUFFER, &[1, 2, 3]);
        scene.object_of(class, &[buffer.0, buffer.0, 12, 3])
    });
    let plain = scene.object_of(ARRAY_BUFFER, &[1, 2, 3]);
    hold(&mut scene, &[arrays[0], arrays[1], plain]);
    assert_eq!(
        count_and_savings(&waste(&scene), "duplicate-buffers"),
        (0, 0)
    );
}

#[test]
fn three_empty_maps_are_empty_containers_and_their_equal_buffers_no_copies() {
    let mut scene = Scene::new();
    let class = scene.generic("~lib/map/Map<i32,i32>", &[&"i32", &"i32"]);
    let maps = [(); 3].map(|()| {
        let buckets = scene.object(ARRAY_BUFFER, 16);
        let entries = scene.object(ARRAY_BUFFER, 48);
        scene.object_of(class, &[buckets.0, 3, entries.0, 4, 0, 0])
    });
    hold(&mut scene, &maps);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "empty-containers"), (3, 3 * 176));
    assert_eq!(count_and_savings(&answer, "duplicate-buffers"), (0, 0));
    assert_eq!(count_and_savings(&answer, "entries"), (0, 0));
    assert_eq!(
        kind(&answer, "empty-containers")["groups"][0]["holders"][0]["holder"],
        "assembly/index/Holder.field0"
    );
}

#[test]
fn an_empty_view_of_a_used_buffer_is_waste_without_the_buffer() {
    let mut scene = Scene::new();
    let class = view_class(&mut scene);
    let buffer = scene.object(ARRAY_BUFFER, 1000);
    let used = scene.object_of(class, &[buffer.0, buffer.0, 1000]);
    let empty = scene.object_of(class, &[buffer.0, buffer.0, 0]);
    hold(&mut scene, &[used, empty]);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "empty-containers"), (1, 32));
    assert_eq!(count_and_savings(&answer, "views"), (0, 0));
}

#[test]
fn a_buffer_of_which_only_empty_views_are_left_belongs_to_them() {
    let mut scene = Scene::new();
    let class = view_class(&mut scene);
    let buffer = scene.object(ARRAY_BUFFER, 1000);
    let views = [0, 8].map(|start| scene.object_of(class, &[buffer.0, buffer.0 + start, 0]));
    hold(&mut scene, &views);
    let answer = waste(&scene);
    assert_eq!(
        count_and_savings(&answer, "empty-containers"),
        (2, 64 + 1024)
    );
    assert_eq!(count_and_savings(&answer, "views"), (0, 0));
}

#[test]
fn parts_of_a_buffer_that_several_views_use_count_together() {
    let mut scene = Scene::new();
    let class = view_class(&mut scene);
    let view = |scene: &mut Scene, buffer: Object, start: u32, length: u32| {
        scene.object_of(class, &[buffer.0, buffer.0 + start, length])
    };
    let [small, large] = [(); 2].map(|()| scene.object(ARRAY_BUFFER, 4096));
    let views = [
        // 120 bytes, because 20 are the same.
        view(&mut scene, small, 0, 60),
        view(&mut scene, small, 40, 80),
        // An eighth.
        view(&mut scene, large, 0, 256),
        view(&mut scene, large, 2048, 256),
    ];
    hold(&mut scene, &views);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "views"), (1, 4128 - 144));
    let group = &kind(&answer, "views")["groups"][0];
    assert_eq!(group["what"], "~lib/typedarray/Uint8Array");
    assert_eq!(
        group["holders"][0]["holder"],
        "assembly/index/Holder.field0"
    );
}

#[test]
fn a_buffer_that_a_view_and_an_array_share_is_left_alone() {
    let mut scene = Scene::new();
    let [view, array] = [view_class(&mut scene), numbers_class(&mut scene)];
    let buffer = scene.object(ARRAY_BUFFER, 4096);
    let objects = [
        scene.object_of(view, &[buffer.0, buffer.0 + 4000, 4]),
        scene.object_of(array, &[buffer.0, buffer.0, 4096, 1]),
    ];
    hold(&mut scene, &objects);
    let answer = waste(&scene);
    for kind in [
        "views",
        "array-capacity",
        "empty-containers",
        "duplicate-buffers",
    ] {
        assert_eq!(count_and_savings(&answer, kind), (0, 0), "{kind}");
    }
}

#[test]
fn a_buffer_that_a_root_holds_too_is_left_alone() {
    let mut scene = Scene::new();
    let array = numbers_class(&mut scene);
    let buffer = scene.object(ARRAY_BUFFER, 4096);
    let object = scene.object_of(array, &[buffer.0, buffer.0, 4096, 0]);
    hold(&mut scene, &[object]);
    scene.push_on_stack(buffer);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "empty-containers"), (1, 48));
    assert_eq!(count_and_savings(&answer, "array-capacity"), (0, 0));
}

#[test]
fn an_array_that_shrank_keeps_its_room() {
    let mut scene = Scene::new();
    let class = numbers_class(&mut scene);
    let buffer = scene.object(ARRAY_BUFFER, 4096);
    let array = scene.object_of(class, &[buffer.0, buffer.0, 4096, 3]);
    hold(&mut scene, &[array]);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "array-capacity"), (1, 4128 - 32));
    let group = &kind(&answer, "array-capacity")["groups"][0];
    assert_eq!(group["what"], "~lib/array/Array<i32>");
    assert_eq!(
        group["holders"][0]["holder"],
        "assembly/index/Holder.field0"
    );
}

#[test]
fn unused_and_deleted_entries_are_waste_and_the_others_are_not() {
    let mut scene = Scene::new();
    let class = scene.generic("~lib/map/Map<i32,i32>", &[&"i32", &"i32"]);
    let buckets = scene.object(ARRAY_BUFFER, 16);
    let entries = scene.object_of(ARRAY_BUFFER, &[1, 2, 0, 3, 4, 1, 5, 6, 0, 0, 0, 0]);
    let map = scene.object_of(class, &[buckets.0, 3, entries.0, 4, 3, 2]);
    hold(&mut scene, &[map]);
    assert_eq!(count_and_savings(&waste(&scene), "entries"), (1, 2 * 12));
}

#[test]
fn a_subclass_with_additional_fields_is_not_empty() {
    let mut scene = Scene::new();
    let base = numbers_class(&mut scene);
    let class = scene.class("assembly/index/Names");
    scene.inherit(class, base);
    scene.field(class, "owner", 16, class);
    let flags_of_base = flags::ARRAY | flags::value_size(4);
    scene.set_flags(class, flags_of_base);
    let buffer = scene.object(ARRAY_BUFFER, 32);
    let names = scene.object_of(class, &[buffer.0, buffer.0, 32, 0, NULL]);
    hold(&mut scene, &[names]);
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "empty-containers"), (0, 0));
    assert_eq!(count_and_savings(&answer, "array-capacity"), (1, 32));
}

#[test]
fn an_element_is_held_by_the_field_that_holds_its_array() {
    let mut scene = Scene::new();
    let strings = scene.generic("~lib/array/Array<~lib/string/String>", &[&STRING]);
    let milk = text("milk");
    let objects = [(); 3].map(|()| scene.object_of(STRING, &milk));
    let array = scene.array(strings, &objects);
    hold(&mut scene, &[array]);
    let answer = waste(&scene);
    let holders = &kind(&answer, "duplicate-strings")["groups"][0]["holders"];
    let expected =
        json!([{ "holder": "assembly/index/Holder.field0[*]", "count": 2, "savings": 64 }]);
    assert_eq!(holders, &expected);
}

#[test]
fn an_object_that_no_field_holds_is_held_by_its_root() {
    let mut scene = Scene::new();
    let milk = text("milk");
    let [_, global, _, pinned] = [(); 4].map(|()| {
        let object = scene.object_of(STRING, &milk);
        scene.push_on_stack(object);
        object
    });
    scene.global("assembly/index/name", STRING, global);
    // The stack comes before pinned objects.
    scene.pin(pinned);
    let answer = waste(&scene);
    let holders = &kind(&answer, "duplicate-strings")["groups"][0]["holders"];
    let expected = json!([
        { "holder": "stack", "count": 2, "savings": 64 },
        { "holder": "global assembly/index/name", "count": 1, "savings": 32 },
    ]);
    assert_eq!(holders, &expected);
}

#[test]
fn a_page_has_the_groups_that_it_names_and_the_last_holder_sums_up_the_rest() {
    let mut scene = Scene::new();
    let mut strings = Vec::new();
    for (text_of, copies) in [("ab", 4), ("cd", 3), ("ef", 2)] {
        strings.extend((0..copies).map(|_| scene.object_of(STRING, &text(text_of))));
    }
    hold(&mut scene, &strings);
    let heap = scene.open();
    let page = ask(
        &heap,
        json!({ "question": "waste", "limit": 1, "offset": 1 }),
    );
    let kind = kind(&page, "duplicate-strings");
    assert_eq!((&kind["total"], &kind["count"]), (&json!(3), &json!(6)));
    let expected = json!([{
        "what": "\"cd\"",
        "count": 2,
        "savings": 64,
        "holders": [
            { "holder": "assembly/index/Holder.field5", "count": 1, "savings": 32 },
            { "holder": "(1 more)", "count": 1, "savings": 32 },
        ],
    }]);
    assert_eq!(kind["groups"], expected);
    let headers = json!({
        "size": 200,
        "classes": [
            { "className": "~lib/string/String", "count": 9, "size": 180 },
            { "className": "(1 more)", "count": 1, "size": 20 },
        ],
    });
    assert_eq!(page["headers"], headers);
}

#[test]
fn containers_are_known_without_debug_information_by_their_flags() {
    let mut scene = Scene::new();
    let class = scene.undescribed_class(flags::MAP | flags::key_size(8) | flags::value_size(1));
    let array = scene.undescribed_class(flags::ARRAY | flags::value_size(8));
    let buckets = scene.object(ARRAY_BUFFER, 16);
    let entries = scene.object(ARRAY_BUFFER, 4 * 16);
    let map = scene.object_of(class, &[buckets.0, 3, entries.0, 4, 1, 1]);
    let buffer = scene.object(ARRAY_BUFFER, 64);
    let numbers = scene.object_of(array, &[buffer.0, buffer.0, 64, 2]);
    for object in [map, numbers] {
        scene.pin(object);
    }
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "entries"), (1, 3 * 16));
    assert_eq!(count_and_savings(&answer, "array-capacity"), (1, 96 - 48));
    let group = &kind(&answer, "array-capacity")["groups"][0];
    assert_eq!(group["what"], format!("Class#{}", array.id));
}

#[test]
fn objects_of_unknown_classes_cause_a_warning_and_their_buffers_are_not_copies() {
    let mut scene = Scene::new();
    let class = Class::undescribed(900);
    let buffers = [(); 2].map(|()| scene.object_of(ARRAY_BUFFER, &[1, 2, 3]));
    let unknown = scene.object_of(class, &[buffers[1].0]);
    scene.pin(buffers[0]);
    scene.pin(unknown);
    scene
        .globals
        .retain(|global| global.name != "~lib/rt/__rtti_base");
    let answer = waste(&scene);
    assert_eq!(count_and_savings(&answer, "duplicate-buffers"), (0, 0));
    let warnings = answer["warnings"].as_array().unwrap().iter();
    let codes: Vec<_> = warnings.map(|warning| &warning["code"]).collect();
    assert!(
        codes.contains(&&json!("WARN_CONTENTS_UNKNOWN")),
        "{codes:?}"
    );
}

#[test]
fn contents_that_do_not_fit_their_buffer_save_nothing() {
    let mut scene = Scene::new();
    let array = numbers_class(&mut scene);
    let map = scene.generic("~lib/map/Map<i32,i32>", &[&"i32", &"i32"]);
    let view = view_class(&mut scene);
    let buffers = [(); 4].map(|()| scene.object(ARRAY_BUFFER, 48));
    let [first, second, third, fourth] = buffers.map(|buffer| buffer.0);
    let objects = [
        scene.object_of(array, &[first, first, 48, 1000]),
        scene.object_of(map, &[second, 3, third, u32::MAX, u32::MAX, 0]),
        scene.object_of(view, &[fourth, fourth + 40, u32::MAX]),
        scene.object_of(view, &[fourth, fourth - 40, 8]),
        scene.object_of(array, &[NULL, NULL, 0, 0]),
        scene.object_of(array, &[first]),
    ];
    hold(&mut scene, &objects);
    let answer = waste(&scene);
    for kind in ["array-capacity", "entries", "views"] {
        assert_eq!(count_and_savings(&answer, kind), (0, 0), "{kind}");
    }
}

#[test]
fn a_heap_without_objects_wastes_nothing() {
    let answer = waste(&Scene::new());
    assert_eq!(answer["totalSavings"], 0);
    assert_eq!(answer["kinds"].as_array().unwrap().len(), 7);
}
