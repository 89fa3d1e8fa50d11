//! Reports: cells that add up exactly, on random heaps and on large ones, and bounded sizes on all.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::any_plan;
use crate::support::forge::{Forge, Shape, Size};
use crate::support::random_heap::build;
use crate::support::{Class, Scene, ask, ask_with, open};
use engine::Control;
use engine::questions::{LoadedHeap, Question};

/// The body of a report, with its texts put back.
fn report(heap: &LoadedHeap, before: Option<&LoadedHeap>) -> Value {
    let mut answer = ask_with(heap, before, json!({ "question": "report" }));
    let strings = answer["strings"].take();
    let mut body = answer["body"].take();
    put_back(&mut body, strings.as_array().unwrap());
    body
}

fn put_back(value: &mut Value, strings: &[Value]) {
    match value {
        Value::String(number) => *value = strings[number.parse::<usize>().unwrap()].clone(),
        Value::Array(values) => values.iter_mut().for_each(|value| put_back(value, strings)),
        Value::Object(entries) => {
            let values = entries.iter_mut().map(|(_, value)| value);
            values.for_each(|value| put_back(value, strings));
        }
        _ => {}
    }
}

fn numbers(column: &Value) -> Vec<u64> {
    let values = column.as_array().unwrap().iter();
    values.map(|value| value.as_u64().unwrap()).collect()
}

/// Checks that the cells are parts of each other and add up to the live bytes; returns how deep they are.
fn check_cells(heap: &LoadedHeap, cells: &Value) -> usize {
    let [parents, counts, shallow, retained] =
        ["parent", "count", "shallowSize", "retainedSize"].map(|name| numbers(&cells[name]));
    assert!(parents.len() <= 5000, "{} cells", parents.len());
    assert_eq!(cells["kind"][0], "heap");
    assert_eq!(retained[0], heap.heap().live_size);
    let mut below = vec![0; parents.len()];
    let mut has_parts = vec![false; parents.len()];
    let mut depths = vec![0; parents.len()];
    for cell in 1..parents.len() {
        let parent = parents[cell] as usize;
        assert!(
            parent < cell,
            "a cell comes after the one that it is a part of"
        );
        below[parent] += retained[cell];
        has_parts[parent] = true;
        depths[cell] = depths[parent] + 1;
        assert!(counts[cell] > 0 && shallow[cell] <= retained[cell]);
        let kind = cells["kind"][cell].as_str().unwrap();
        assert_eq!(kind == "rest", cells["address"][cell].is_null());
        assert_eq!(kind == "rest", cells["className"][cell].is_null());
        assert_eq!(kind == "object", counts[cell] == 1 && kind != "rest");
    }
    for cell in 0..parents.len() {
        if has_parts[cell] {
            assert_eq!(shallow[cell] + below[cell], retained[cell], "cell {cell}");
        }
    }
    depths.into_iter().max().unwrap()
}

/// What the objects and cells say about one object.
fn check_objects(heap: &LoadedHeap, cells: &Value) {
    for (nth, kind) in cells["kind"].as_array().unwrap().iter().enumerate() {
        if kind != "object" {
            continue;
        }
        let address = &cells["address"][nth];
        let object = ask(heap, json!({ "question": "object", "address": address }));
        for key in ["className", "shallowSize", "retainedSize"] {
            assert_eq!(object[key], cells[key][nth], "{key} of {address}");
        }
        let parent = cells["parent"][nth].as_u64().unwrap() as usize;
        if cells["kind"][parent] == "heap" {
            assert_eq!(object["dominator"], Value::Null);
        } else if cells["kind"][parent] == "object" {
            assert_eq!(object["dominator"]["address"], cells["address"][parent]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cells_and_classes_add_up_to_the_live_bytes(plans in prop::collection::vec(any_plan(), 1..60)) {
        let (scene, _) = build(&plans);
        let heap = scene.open();
        let body = report(&heap, None);
        check_cells(&heap, &body["cells"]);
        check_objects(&heap, &body["cells"]);
        let rows = body["classes"]["rows"].as_array().unwrap().iter();
        let shallow: u64 = rows.map(|row| row["shallowSize"].as_u64().unwrap()).sum();
        prop_assert_eq!(shallow, heap.heap().live_size);
    }

    #[test]
    fn the_parts_of_a_report_are_the_answers_to_questions(plans in prop::collection::vec(any_plan(), 1..25)) {
        let (scene, _) = build(&plans);
        let heap = scene.open();
        let body = report(&heap, Some(&heap));
        let part = |question: Value, keys: &[&str]| {
            let mut answer = ask(&heap, question);
            let entries = answer.as_object_mut().unwrap();
            entries.retain(|key, _| keys.contains(&key.as_str()));
            answer
        };
        let suspects = ["totalLiveSize", "threshold", "suspects"];
        prop_assert_eq!(&body["suspects"], &part(json!({ "question": "suspects" }), &suspects));
        let summary = ["totalHeapSize", "totalLiveSize", "accounting", "objects", "classes", "roots"];
        let summary = part(json!({ "question": "summary" }), &summary);
        prop_assert_eq!(&body["summary"], &summary);
        prop_assert_eq!(&body["comparison"]["before"], &summary);
        let waste = ["totalLiveSize", "totalSavings", "kinds", "headers"];
        prop_assert_eq!(&body["waste"], &part(json!({ "question": "waste" }), &waste));
        let asked = json!({ "question": "unreachable", "limit": 50, "maxNodes": 200 });
        let unreachable = part(asked, &["garbage", "raw", "nodes", "edges"]);
        for key in ["garbage", "raw", "nodes", "edges"] {
            prop_assert_eq!(&body["unreachable"][key], &unreachable[key]);
        }
        for detail in body["details"].as_array().unwrap() {
            let cell = detail["cell"].as_u64().unwrap() as usize;
            let address = &body["cells"]["address"][cell];
            let path = ask(&heap, json!({ "question": "paths", "objects": [address] }));
            prop_assert_eq!(&detail["cut"], &path["cut"]);
            prop_assert_eq!(&detail["path"]["root"], &path["path"]["root"]);
            prop_assert_eq!(&detail["path"]["steps"], &path["path"]["steps"]);
            let referrers = ask(&heap, json!({ "question": "referrers", "address": address, "limit": 5 }));
            prop_assert_eq!(&detail["referrers"], &referrers["referrers"]);
            prop_assert_eq!(&detail["referrerCount"], &referrers["total"]);
        }
        prop_assert_eq!(&body["comparison"]["rows"], &json!([]));
        prop_assert_eq!(&body["comparison"]["newPaths"]["count"], 0);
    }
}

#[test]
fn large_heaps_of_every_shape_have_bounded_cells_that_add_up() {
    for &shape in Shape::ALL {
        let forge = Forge::new(shape, Size::Objects(30_000), 1);
        let (dump, _) = forge.dump();
        let heap = open(&dump, &forge.module()).unwrap();
        let question = Question::Report {};
        let answer =
            engine::questions::ask(&heap, &question, Some(&heap), &Control::default()).unwrap();
        let bytes = serde_json::to_vec(&answer).unwrap().len();
        assert!(bytes < 3_000_000, "{}: {bytes} bytes", shape.name);
        let cells = &report(&heap, None)["cells"];
        let depth = check_cells(&heap, cells);
        assert!(
            depth <= 41,
            "{}: {depth} cells on top of each other",
            shape.name
        );
    }
}

#[test]
fn a_list_is_one_cell_with_the_objects_that_its_nodes_hold_below_it() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let text = scene.class("assembly/index/Text");
    scene.field(node, "text", 4, text);
    let nodes: Vec<_> = (0..1000).map(|_| scene.object(node, 8)).collect();
    for pair in nodes.windows(2) {
        scene.set(pair[0], 0, pair[1]);
        let text = scene.object(text, 28);
        scene.set(pair[0], 4, text);
    }
    scene.global("assembly/index/list", node, nodes[0]);
    let heap = scene.open();
    let cells = &report(&heap, None)["cells"];
    assert_eq!(check_cells(&heap, cells), 2);
    assert_eq!(cells["kind"][1], "chain");
    assert_eq!(cells["className"][1], "assembly/index/Node");
    assert_eq!(cells["address"][1], nodes[0].0);
    // The last two nodes are about equally large: the last one is no longer most of the one before.
    let in_chain = cells["count"][1].as_u64().unwrap();
    assert!((998..=1000).contains(&in_chain), "{in_chain}");
    let texts = numbers(&cells["count"])
        .into_iter()
        .zip(cells["className"].as_array().unwrap())
        .filter(|(_, name)| *name == "assembly/index/Text")
        .map(|(count, _)| count);
    assert_eq!(texts.sum::<u64>(), 999);
}

#[test]
fn long_names_of_many_classes_are_cut() {
    let mut scene = Scene::new();
    let array = scene.generic("~lib/array/Array<assembly/index/Thing>", &[]);
    let mut objects = Vec::new();
    for nth in 0..1500 {
        let class = scene.class(&format!("assembly/{nth}{}/Thing", "x".repeat(2000)));
        objects.push(scene.object(class, 8));
    }
    let all = scene.array(array, &objects);
    scene.global("assembly/index/all", Class::undescribed(4), all);
    let heap = scene.open();
    let answer = ask(&heap, json!({ "question": "report" }));
    let bytes = serde_json::to_vec(&answer["strings"]).unwrap().len();
    assert!(bytes < 250_000, "{bytes}");
    let body = report(&heap, None);
    check_cells(&heap, &body["cells"]);
    assert_eq!(body["classes"]["rows"].as_array().unwrap().len(), 1000);
    let rest = &body["classes"]["rest"];
    let shown = body["classes"]["rows"].as_array().unwrap().iter();
    let shown: u64 = shown.map(|row| row["shallowSize"].as_u64().unwrap()).sum();
    let live_size = heap.heap().live_size;
    assert_eq!(shown + rest["shallowSize"].as_u64().unwrap(), live_size);
}

#[test]
fn heaps_of_two_programs_have_no_common_report() {
    let mut scene = Scene::new();
    let before = scene.open();
    scene.class("assembly/index/New");
    let question = Question::Report {};
    let error =
        engine::questions::ask(&scene.open(), &question, Some(&before), &Control::default());
    assert_eq!(error.unwrap_err().code(), "ERR_MODULE_MISMATCH");
}
