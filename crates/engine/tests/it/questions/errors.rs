//! Questions that cannot be answered.

use serde_json::json;

use crate::support::{ARRAY_BUFFER, Scene, ask};
use engine::assemblyscript::InMemory;
use engine::questions::{LoadedHeap, Question};
use engine::{Control, Error, Input, Program};

fn refused(heap: &LoadedHeap, question: serde_json::Value) -> Error {
    let question: Question = serde_json::from_value(question).unwrap();
    engine::questions::ask(heap, &question, None, &Control::default()).unwrap_err()
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Session");
    let object = scene.object(node, 12);
    scene.global("assembly/index/root", node, object);
    scene.object(ARRAY_BUFFER, 12);
    scene
}

#[test]
fn an_address_without_an_object_names_the_nearest_ones() {
    let heap = scene().open();
    let error = refused(&heap, json!({ "question": "referrers", "address": 0 }));
    assert_eq!(error.code(), "ERR_NO_OBJECT");
    let message = error.to_string();
    assert!(
        message.starts_with("there is no object at address 0x0; the nearest objects are at 0x"),
        "{message}"
    );
    assert!(message.contains("(assembly/index/Session)"), "{message}");
}

#[test]
fn an_address_outside_the_memory_has_no_object() {
    let heap = scene().open();
    for address in [1 << 30, u32::MAX - 16, u32::MAX] {
        let error = refused(&heap, json!({ "question": "object", "address": address }));
        assert_eq!(error.code(), "ERR_NO_OBJECT");
    }
}

#[test]
fn a_class_that_is_not_there_names_the_most_similar_ones() {
    let heap = scene().open();
    for question in [
        json!({ "question": "paths", "class": "assembly/index/Sesion" }),
        json!({ "question": "find", "class": "assembly/index/Sesion" }),
    ] {
        let error = refused(&heap, question);
        assert_eq!(error.code(), "ERR_UNKNOWN_CLASS");
        let message = error.to_string();
        assert!(
            message.contains("most similar names are assembly/index/Session"),
            "{message}"
        );
    }
}

#[test]
fn questions_that_contradict_themselves_are_refused() {
    let heap = scene().open();
    for question in [
        json!({ "question": "paths" }),
        json!({ "question": "paths", "objects": [] }),
        json!({ "question": "paths", "objects": [32], "class": "*" }),
        json!({ "question": "paths", "newSince": true }),
        json!({ "question": "find", "limit": 0 }),
        json!({ "question": "suspects", "threshold": 0 }),
        json!({ "question": "suspects", "threshold": 1.5 }),
        json!({ "question": "unreachable", "limit": 0 }),
        json!({ "question": "unreachable", "maxNodes": 0 }),
    ] {
        let error = refused(&heap, question.clone());
        assert_eq!(error.code(), "ERR_INVALID_OPTION", "{question}");
    }
    let unknown = json!({ "question": "summary", "depth": 1 });
    assert!(serde_json::from_value::<Question>(unknown).is_err());
}

#[test]
fn a_dump_that_has_changed_is_an_error_where_its_contents_are_needed() {
    let scene = scene();
    let (dump, module) = (scene.dump(), scene.module());
    let control = Control::default();
    let [program, dump] =
        [("program.wasm", &module), ("heap.dump", &dump.bytes)].map(|(name, bytes)| Input {
            name,
            bytes: &bytes[..],
        });
    let program = Program::read(program, &control).unwrap();
    let heap = program
        .open(dump, Box::new(InMemory(&b"ASHD"[..])), &control)
        .unwrap();
    let object = heap.heap().live_heap_objects().next().unwrap();
    let address = heap.heap().memory_address(object).0;
    let error = refused(&heap, json!({ "question": "object", "address": address }));
    assert_eq!(error.code(), "ERR_DUMP_CHANGED");
    // Questions that need no contents are answered.
    assert_eq!(ask(&heap, json!({ "question": "dominators" }))["total"], 1);
}

#[test]
fn garbage_has_no_path() {
    let heap = scene().open();
    let objects = &heap.heap().objects;
    let garbage = objects.addresses.words()[objects.len() - 1];
    let answer = ask(&heap, json!({ "question": "paths", "objects": [garbage] }));
    assert_eq!(answer["state"], "garbage");
    assert_eq!(answer["path"], json!(null));
    assert_eq!(answer["freedByCuttingAll"], 0);
}
