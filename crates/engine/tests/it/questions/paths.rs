//! Paths of known shapes: their texts, and the parts that they leave out.

use serde_json::{Value, json};

use super::objects::string;
use crate::support::{NULL, Object, STRING, Scene, ask};

fn path(scene: &Scene, object: Object) -> Value {
    let question = json!({ "question": "paths", "objects": [object.0] });
    ask(&scene.open(), question)
}

/// The labels of the steps after the first, with repetitions.
fn labels(answer: &Value) -> Vec<String> {
    let steps = answer["path"]["steps"].as_array().unwrap();
    let labels = steps.iter().skip(1);
    labels
        .map(|step| match step["repeat"].as_u64() {
            Some(1) => step["label"].as_str().unwrap().to_owned(),
            repeat => format!("{} ×{}", step["label"].as_str().unwrap(), repeat.unwrap()),
        })
        .collect()
}

#[test]
fn a_leak_is_named_by_global_field_and_index() {
    let mut scene = Scene::new();
    let listener = scene.class("assembly/server/PriceListener");
    let listeners = scene.generic(
        "~lib/array/Array<assembly/server/PriceListener>",
        &[&listener],
    );
    let feed = scene.class("assembly/server/PriceFeed");
    scene.field(feed, "listeners", 0, listeners);
    let [first, second] = [scene.object(listener, 44), scene.object(listener, 44)];
    let array = scene.array(listeners, &[first, second]);
    let feed_object = scene.object_of(feed, &[array.0]);
    scene.global("assembly/server/prices", feed, feed_object);
    let answer = path(&scene, second);
    assert_eq!(labels(&answer), ["listeners", "[1]"]);
    assert_eq!(
        answer["path"]["text"],
        "global assembly/server/prices > assembly/server/PriceFeed.listeners > \
         ~lib/array/Array<assembly/server/PriceListener>[*] > assembly/server/PriceListener"
    );
    assert_eq!(answer["path"]["stable"], true);
    assert_eq!(answer["freedByCutting"], 64);
    assert_eq!(
        answer["cut"],
        json!({
            "className": "~lib/array/Array<assembly/server/PriceListener>",
            "label": "[1]", "labelText": "[1]", "root": null, "freed": 64
        })
    );
    let other = path(&scene, first);
    assert_eq!(other["path"]["fingerprint"], answer["path"]["fingerprint"]);
}

#[test]
fn values_are_named_by_their_keys_and_keys_as_such() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let by_name = scene.generic(
        "~lib/map/Map<~lib/string/String,assembly/index/Node>",
        &[&STRING, &node],
    );
    let by_number = scene.generic("~lib/map/Map<i32,assembly/index/Node>", &[&"i32", &node]);
    let names = scene.generic("~lib/set/Set<~lib/string/String>", &[&STRING]);
    let key = string(&mut scene, "user:17");
    let [named, numbered] = [scene.object(node, 4), scene.object(node, 4)];
    let other = string(&mut scene, "b");
    let map = scene.entries(by_name, 1, &[key.0, named.0, 0]);
    let numbers = scene.entries(by_number, 2, &[41, NULL, 0, 42, numbered.0, 0]);
    let set = scene.entries(names, 1, &[other.0, 0]);
    scene.global("assembly/index/a", by_name, map);
    scene.global("assembly/index/b", by_number, numbers);
    scene.global("assembly/index/c", names, set);
    assert_eq!(labels(&path(&scene, named)), ["[\"user:17\"]"]);
    assert_eq!(labels(&path(&scene, key)), ["key [\"user:17\"]"]);
    assert_eq!(labels(&path(&scene, numbered)), ["[42]"]);
    assert_eq!(labels(&path(&scene, other)), ["member [\"b\"]"]);
}

#[test]
fn a_long_list_is_one_step_and_its_length_does_not_show_in_the_text() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let nodes: Vec<Object> = (0..1000).map(|_| scene.object(node, 4)).collect();
    for pair in nodes.windows(2) {
        scene.set(pair[0], 0, pair[1]);
    }
    scene.global("assembly/index/head", node, nodes[0]);
    let heap = scene.open();
    let ask_path = |nth: usize| {
        let question = json!({ "question": "paths", "objects": [nodes[nth].0] });
        ask(&heap, question)
    };
    let [near, far] = [ask_path(5), ask_path(999)];
    assert_eq!(labels(&near), ["next ×5"]);
    assert_eq!(labels(&far), ["next ×999"]);
    assert_eq!(
        near["path"]["text"],
        "global assembly/index/head > assembly/index/Node"
    );
    assert_eq!(near["path"]["text"], far["path"]["text"]);
}

#[test]
fn a_chain_of_alternating_classes_reads_like_its_first_round() {
    let mut scene = Scene::new();
    let [left, right] = ["assembly/a/Left", "assembly/a/Right"].map(|name| scene.class(name));
    scene.field(left, "right", 0, right);
    scene.field(right, "left", 0, left);
    let nodes: Vec<Object> = (0..400)
        .map(|nth| scene.object(if nth % 2 == 0 { left } else { right }, 4))
        .collect();
    for pair in nodes.windows(2) {
        scene.set(pair[0], 0, pair[1]);
    }
    scene.global("assembly/a/head", left, nodes[0]);
    let heap = scene.open();
    let text = |nth: usize| {
        let question = json!({ "question": "paths", "objects": [nodes[nth].0] });
        ask(&heap, question)["path"].clone()
    };
    assert_eq!(
        text(399)["text"],
        "global assembly/a/head > assembly/a/Left.right > assembly/a/Right"
    );
    assert_eq!(text(399)["text"], text(1)["text"]);
    assert_eq!(
        text(398)["text"],
        "global assembly/a/head > assembly/a/Left.right > assembly/a/Right.left > assembly/a/Left"
    );
    let steps = text(399)["steps"].as_array().unwrap().clone();
    let repeats = steps.iter().map(|step| step["repeat"].as_u64().unwrap());
    assert_eq!(repeats.sum::<u64>(), 400);
    assert_eq!(steps.last().unwrap()["address"], nodes[399].0);
    assert!(steps.len() < 100, "{}", steps.len());
}

#[test]
fn a_word_of_the_stack_does_not_hide_the_global_that_leaks() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let object = scene.object(node, 4);
    let holder = scene.object_of(node, &[object.0]);
    scene.global("assembly/index/leak", node, holder);
    scene.push_on_stack(object);
    let answer = path(&scene, object);
    assert_eq!(
        answer["path"]["root"],
        json!({ "kind": "global", "name": "assembly/index/leak" })
    );
    assert_eq!(answer["freedByCutting"], Value::Null);
    assert_eq!(answer["independentReferrers"]["total"], 2);
    assert_eq!(
        answer["independentReferrers"]["edges"][0]["root"],
        json!({ "kind": "stack", "name": "+0" })
    );
    assert_eq!(answer["cut"], Value::Null);
    assert_eq!(answer["freedAfterReturn"], 32);
}

#[test]
fn two_fields_of_one_holder_are_two_references() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "right", 0, node);
    scene.field(node, "left", 4, node);
    let object = scene.object(node, 8);
    let holder = scene.object_of(node, &[object.0, object.0]);
    scene.global("assembly/index/root", node, holder);
    let answer = path(&scene, object);
    assert_eq!(answer["independentReferrers"]["total"], 2);
    assert_eq!(answer["freedByCutting"], Value::Null);
    assert_eq!(
        labels(&answer),
        ["left"],
        "fields are in the order of their names"
    );
    assert_eq!(
        answer["cut"],
        Value::Null,
        "letting go of the holder frees twice as much"
    );
}

#[test]
fn a_path_of_many_steps_answers_without_walking_them() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "left", 0, node);
    scene.field(node, "right", 4, node);
    let nodes: Vec<Object> = (0..3000).map(|_| scene.object(node, 8)).collect();
    for (nth, pair) in nodes.windows(2).enumerate() {
        scene.set(pair[0], nth as u32 % 2 * 4, pair[1]);
    }
    scene.global("assembly/index/root", node, nodes[0]);
    let answer = path(&scene, nodes[2999]);
    let labels = labels(&answer);
    // A zigzag has no equal steps: those far away from the object are one.
    assert_eq!(labels.len(), 65);
    assert_eq!(labels[0], "… ×2935");
    assert_eq!(labels[64], "left");
}

#[test]
fn new_objects_have_merged_paths_by_class_too() {
    let scene_with = |count: usize| {
        let mut scene = Scene::new();
        let node = scene.class("assembly/index/Node");
        let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
        let objects: Vec<Object> = (0..count).map(|_| scene.object(node, 12)).collect();
        let buffer = scene.object_of(crate::support::ARRAY_BUFFER, &[NULL; 20]);
        scene.write(
            buffer.0,
            &objects.iter().map(|object| object.0).collect::<Vec<_>>(),
        );
        let array = scene.array_over(nodes, buffer, count as u32);
        scene.global("assembly/index/all", nodes, array);
        scene
    };
    let scenes = [scene_with(3), scene_with(5)];
    // One module, as it is when one program runs on.
    let module = scenes[0].module();
    let [before, after] = scenes.map(|scene| crate::support::open(&scene.dump(), &module).unwrap());
    let question = json!({ "question": "paths", "newSince": true, "class": "assembly/index/*" });
    let answer = crate::support::ask_with(&after, Some(&before), question);
    assert_eq!(answer["classes"], json!(["assembly/index/Node"]));
    assert_eq!(answer["count"], 2);
    assert_eq!(answer["tree"][0]["children"][0]["label"], "[*]");
    let none = crate::support::ask_with(
        &after,
        Some(&after),
        json!({ "question": "paths", "newSince": true }),
    );
    assert_eq!(none["count"], 0);
}

#[test]
fn fingerprints_of_names_that_are_not_from_the_source_are_not_stable() {
    let mut scene = Scene::new();
    let node = scene.undescribed_class(0);
    let leaf = scene.object_of(node, &[NULL]);
    let object = scene.object_of(node, &[leaf.0]);
    let static_object = scene.static_object(STRING, &[]);
    scene.push_on_stack(static_object);
    scene.global("assembly/index/root", node, object);
    assert_eq!(path(&scene, leaf)["path"]["stable"], false);
    assert_eq!(path(&scene, static_object)["path"]["stable"], true);
    assert_eq!(
        path(&scene, static_object)["path"]["text"],
        "stack > ~lib/string/String"
    );
}
