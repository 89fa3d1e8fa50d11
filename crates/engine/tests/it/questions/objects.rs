//! The contents of the heap: the summary, objects by class and contents, fields and previews, and dominated
//! objects.

use serde_json::{Value, json};

use crate::support::{ARRAY_BUFFER, NULL, Object, STRING, Scene, ask, ask_with};

/// A string object.
pub fn string(scene: &mut Scene, text: &str) -> Object {
    let units: Vec<u16> = text.encode_utf16().collect();
    let object = scene.object(STRING, units.len() as u32 * 2);
    let mut padded = units;
    padded.resize(padded.len().next_multiple_of(2), 0);
    let words: Vec<u32> = padded
        .chunks(2)
        .map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16)
        .collect();
    scene.write(object.0, &words);
    object
}

fn ask_object(scene: &Scene, address: u32) -> Value {
    ask(
        &scene.open(),
        json!({ "question": "object", "address": address }),
    )
}

#[test]
fn the_fields_of_an_object_have_names_types_and_values() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    scene.field(node, "count", 4, "i32");
    scene.field(node, "ratio", 8, "f64");
    scene.field(node, "name", 16, STRING);
    scene.field(node, "isOpen", 20, "bool");
    let name = string(&mut scene, "caf\u{e9}\n");
    let object = scene.object_of(node, &[NULL, u32::MAX, 0, 0x7ff0_0000, name.0, 1]);
    scene.global("assembly/index/root", node, object);
    let answer = ask_object(&scene, object.0);
    assert_eq!(
        answer["fields"],
        json!([
            { "name": "next", "type": "assembly/index/Node", "value": null, "address": null, "className": null },
            { "name": "count", "type": "i32", "value": -1, "address": null, "className": null },
            { "name": "ratio", "type": "f64", "value": "Infinity", "address": null, "className": null },
            { "name": "name", "type": "?", "value": "\"café\\n\"", "address": name.0, "className": "~lib/string/String" },
            { "name": "isOpen", "type": "bool", "value": true, "address": null, "className": null },
        ])
    );
    assert_eq!(
        answer["preview"],
        "{next: null, count: -1, ratio: Infinity, name: \"café\\n\", isOpen: true}"
    );
    assert_eq!(answer["state"], "live");
    assert_eq!(
        answer["roots"],
        json!([{ "kind": "global", "name": "assembly/index/root" }])
    );
}

#[test]
fn containers_are_previewed_by_length_capacity_and_first_elements() {
    let mut scene = Scene::new();
    let numbers = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let strings = scene.generic("~lib/array/Array<~lib/string/String>", &[&STRING]);
    let map = scene.generic("~lib/map/Map<~lib/string/String,i32>", &[&STRING, &"i32"]);
    let key = string(&mut scene, "user:17");
    let array = scene.array(strings, &[key]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[1, 2, u32::MAX, 9]);
    let few = scene.object_of(numbers, &[buffer.0, buffer.0, 16, 3]);
    let map = scene.entries(map, 2, &[key.0, 5, 0, key.0, 6, 1]);
    let heap = scene.open();
    let preview = |object: Object| {
        ask(&heap, json!({ "question": "object", "address": object.0 }))["preview"].clone()
    };
    assert_eq!(preview(key), "\"user:17\" (length 7)");
    assert_eq!(preview(array), "length 1, capacity 1: [\"user:17\"]");
    assert_eq!(preview(few), "length 3, capacity 4: [1, 2, -1]");
    assert_eq!(preview(map), "size 2, capacity 2: {\"user:17\" => 5, …}");
    assert_eq!(preview(buffer), "16 bytes");
}

#[test]
fn an_address_inside_an_object_stands_for_that_object_with_a_warning() {
    let mut scene = Scene::new();
    let object = scene.object(ARRAY_BUFFER, 40);
    let block = scene.raw(&[1, 2, 3, 4, 5, 6]);
    for inside in [object.0 - 20, object.0 + 1, object.0 + 40] {
        let answer = ask_object(&scene, inside);
        assert_eq!(answer["address"], object.0);
        assert_eq!(
            answer["warnings"][0]["code"], "WARN_ADDRESS_INSIDE",
            "{answer}"
        );
    }
    let answer = ask_object(&scene, block + 12);
    assert_eq!(answer["address"], block + 4);
    assert_eq!(answer["state"], "raw");
    assert_eq!(answer["className"], Value::Null);
    assert_eq!(ask_object(&scene, block + 100)["state"], "free");
}

#[test]
fn pages_of_thousands_of_children_continue_each_other_whatever_was_asked_between() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let arrays = [5_000, 6_000].map(|count| {
        let elements: Vec<Object> = (0..count)
            .map(|nth| scene.object(node, nth % 7 * 16))
            .collect();
        scene.array(nodes, &elements)
    });
    for array in arrays {
        scene.pin(array);
    }
    let heap = scene.open();
    let page = |parent: Object, offset: u64, limit: u64| -> Vec<Value> {
        let question = json!({ "question": "dominators", "address": parent.0, "offset": offset, "limit": limit });
        ask(&heap, question)["children"].as_array().unwrap().clone()
    };
    let [first, second] = arrays.map(|array| page(array, 0, 10_000));
    // The elements, and the array's own storage.
    assert_eq!([first.len(), second.len()], [5_001, 6_001]);
    assert!(first.is_sorted_by_key(|child| -child["retainedSize"].as_i64().unwrap()));
    for offset in [0, 2_490, 4_990] {
        let end = first.len().min(offset + 20);
        assert_eq!(page(arrays[0], offset as u64, 20), first[offset..end]);
        assert_eq!(
            page(arrays[1], offset as u64, 20),
            second[offset..offset + 20]
        );
    }
}

#[test]
fn a_heap_without_objects_has_empty_lists() {
    let heap = Scene::new().open();
    let found = ask(&heap, json!({ "question": "find" }));
    assert_eq!(
        [&found["total"], &found["objects"]],
        [&json!(0), &json!([])]
    );
    let new = json!({ "question": "paths", "newSince": true });
    let paths = ask_with(&heap, Some(&heap), new);
    assert_eq!([&paths["count"], &paths["tree"]], [&json!(0), &json!([])]);
}
