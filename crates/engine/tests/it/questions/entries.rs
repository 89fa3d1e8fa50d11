//! Pages of the entries of containers.

use serde_json::{Value, json};

use super::objects::string;
use crate::support::{ARRAY_BUFFER, Object, STRING, Scene, ask};
use engine::Control;
use engine::questions::{self, LoadedHeap, Question};

/// The offset of the number of a map's entries without the deleted ones.
const COUNT: u32 = 20;

fn page(heap: &LoadedHeap, object: Object, entries: u64, offset: u64) -> Value {
    let question = json!({
        "question": "object", "address": object.0, "entries": entries, "offset": offset,
    });
    ask(heap, question)["entries"].clone()
}

/// The plain values of a page.
fn values(page: &Value) -> Vec<Value> {
    let entries = page["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|one| one["value"]["value"].clone())
        .collect()
}

#[test]
fn pages_of_an_array_continue_each_other_and_end() {
    let mut scene = Scene::new();
    let numbers = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let words: Vec<u32> = (0..1000).collect();
    let buffer = scene.object_of(ARRAY_BUFFER, &words);
    // The first three are shifted away.
    let array = scene.object_of(numbers, &[buffer.0, buffer.0 + 12, 3988, 997]);
    let heap = scene.open();
    let mut all = Vec::new();
    for offset in (0..1200).step_by(100) {
        let page = page(&heap, array, 100, offset);
        assert_eq!(
            (&page["total"], &page["kind"]),
            (&json!(997), &json!("elements"))
        );
        all.extend(values(&page));
    }
    assert_eq!(all, (3..1000).map(Value::from).collect::<Vec<_>>());
    let last = page(&heap, array, 2, 996);
    assert_eq!(last["entries"][0]["name"], "[996]");
    assert_eq!(last["entries"][0]["index"], 996);
    assert_eq!(
        values(&page(&heap, array, 1, u64::MAX)),
        Vec::<Value>::new()
    );
}

#[test]
fn elements_that_the_buffer_does_not_have_are_not_listed() {
    let mut scene = Scene::new();
    let numbers = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[1, 2, 3, 4]);
    let array = scene.object_of(numbers, &[buffer.0, buffer.0, u32::MAX, u32::MAX]);
    let outside = scene.object_of(numbers, &[buffer.0, 0, 16, 4]);
    let heap = scene.open();
    assert_eq!(values(&page(&heap, array, 1000, 0)), [1, 2, 3, 4]);
    assert_eq!(page(&heap, outside, 10, 0)["total"], 0);
}

#[test]
fn deleted_entries_of_a_map_do_not_count() {
    let mut scene = Scene::new();
    let map = scene.generic("~lib/map/Map<~lib/string/String,i32>", &[&STRING, &"i32"]);
    let key = string(&mut scene, "user:17");
    // Entries are key, value, and the next one with a mark.
    let mut words = Vec::new();
    for nth in 0..100 {
        words.extend([key.0, nth, u32::from(nth % 3 == 0)]);
    }
    let map = scene.entries(map, 100, &words);
    scene.write(map.0 + COUNT, &[66]);
    let heap = scene.open();
    let left: Vec<Value> = (0..100u32)
        .filter(|nth| nth % 3 != 0)
        .map(Value::from)
        .collect();
    for (offset, limit) in [(0, 1000), (0, 7), (7, 7), (60, 7), (66, 1), (1 << 60, 1)] {
        let page = page(&heap, map, limit as u64, offset as u64);
        assert_eq!(page["total"], 66);
        let end = left.len().min(offset + limit);
        assert_eq!(values(&page), left[offset.min(end)..end]);
    }
    let first = page(&heap, map, 1, 1)["entries"][0].clone();
    assert_eq!((&first["index"], &first["name"]), (&json!(1), &Value::Null));
    let held = json!({
        "value": "\"user:17\"", "address": key.0, "addressText": format!("{:#x}", key.0),
        "className": "~lib/string/String",
    });
    assert_eq!(first["key"], held);
}

#[test]
fn a_map_whose_counts_are_wrong_lists_what_its_buffer_has() {
    for (used, count) in [(2, 0), (2, 2), (3, 3), (u32::MAX, u32::MAX), (u32::MAX, 0)] {
        let mut scene = Scene::new();
        let map = scene.generic("~lib/map/Map<i32,i32>", &[&"i32", &"i32"]);
        let map = scene.entries(map, used, &[1, 5, 0, 2, 6, 0]);
        scene.write(map.0 + COUNT, &[count]);
        let heap = scene.open();
        let page = page(&heap, map, 10, 0);
        assert_eq!(values(&page), [5, 6]);
        assert_eq!(page["total"], 2);
    }
}

#[test]
fn a_deleted_entry_is_not_listed_even_if_the_map_counts_it() {
    let mut scene = Scene::new();
    let map = scene.generic("~lib/map/Map<i32,i32>", &[&"i32", &"i32"]);
    let map = scene.entries(map, 3, &[1, 5, 0, 2, 6, 1, 3, 7, 0]);
    let page = page(&scene.open(), map, 10, 0);
    assert_eq!(values(&page), [5, 7]);
    assert_eq!(page["total"], 2);
}

#[test]
fn a_set_has_values_and_no_keys() {
    let mut scene = Scene::new();
    let set = scene.generic("~lib/set/Set<i32>", &[&"i32"]);
    let set = scene.entries(set, 2, &[7, 0, 8, 0]);
    let heap = scene.open();
    let page = page(&heap, set, 10, 0);
    assert_eq!(page["kind"], "set");
    assert_eq!(values(&page), [7, 8]);
    assert_eq!(page["entries"][0]["key"], Value::Null);
}

#[test]
fn only_containers_have_entries_and_only_if_asked() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let numbers = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let node = scene.object(node, 8);
    let array = scene.object_of(numbers, &[0, 0, 0, 0]);
    let heap = scene.open();
    assert_eq!(page(&heap, node, 10, 0), Value::Null);
    assert_eq!(page(&heap, array, 10, 0)["total"], 0);
    let unasked = ask(&heap, json!({ "question": "object", "address": array.0 }));
    assert_eq!(unasked.get("entries"), None);
    for entries in [0, 1001] {
        let question = json!({ "question": "object", "address": array.0, "entries": entries });
        let question: Question = serde_json::from_value(question).unwrap();
        let error = questions::ask(&heap, &question, None, &Control::default()).unwrap_err();
        assert_eq!(error.code(), "ERR_INVALID_OPTION");
    }
}
