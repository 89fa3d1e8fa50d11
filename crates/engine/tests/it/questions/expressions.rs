//! Expressions of `find`: what they mean, and what is refused.

use serde_json::{Value, json};

use super::objects::string;
use crate::support::{
    ARRAY_BUFFER, Class, Object, STRING, Scene, ask, ask_with, open as open_with,
};
use engine::Control;
use engine::questions::{self, LoadedHeap, Question};

/// Five sessions, of which the last has no note, in an array that a global refers to; and a class without fields.
struct Sessions {
    heap: LoadedHeap,
    sessions: Vec<Object>,
}

fn scene() -> (Scene, Vec<Object>) {
    let mut scene = Scene::new();
    let session = scene.class("assembly/index/Session");
    scene.field(session, "open", 0, "bool");
    scene.field(session, "key", 4, "i32");
    scene.field(session, "size", 8, "u32");
    scene.field(session, "note", 12, STRING);
    scene.field(session, "next", 16, session);
    let mut sessions = Vec::new();
    for nth in 0..5u32 {
        let note = match nth {
            4 => Object(0),
            nth => string(&mut scene, &format!("guest {}", nth / 2)),
        };
        let next = sessions.last().copied().unwrap_or(Object(0));
        sessions.push(scene.object_of(session, &[nth % 2, nth, 100 + nth, note.0, next.0]));
    }
    let empty = scene.class("assembly/index/Empty");
    let empty = scene.object(empty, 4);
    scene.global("assembly/index/empty", "u32", empty);
    let all = scene.generic("~lib/array/Array<assembly/index/Session>", &[&session]);
    let all = scene.array(all, &sessions);
    scene.global("assembly/index/sessions", session, all);
    let order = scene.generic("~lib/array/Array<i32>", &[&"i32"]);
    let buffer = scene.object_of(ARRAY_BUFFER, &[1, 3, 9]);
    let order = scene.object_of(order, &[buffer.0, buffer.0, 12, 3]);
    scene.global("assembly/index/plateOrder", session, order);
    scene.global("assembly/index/empty", session, empty);
    (scene, sessions)
}

fn open() -> Sessions {
    let (scene, sessions) = scene();
    Sessions {
        heap: scene.open(),
        sessions,
    }
}

impl Sessions {
    fn find(&self, condition: &str) -> Value {
        let question = json!({
            "question": "find", "class": "assembly/index/Session", "where": condition,
        });
        ask(&self.heap, question)
    }

    /// The numbers of the sessions that are found, ascending.
    fn found(&self, condition: &str) -> Vec<usize> {
        let answer = self.find(condition);
        let objects = answer["objects"].as_array().unwrap();
        let mut found: Vec<usize> = objects
            .iter()
            .map(|object| {
                let address = object["address"].as_u64().unwrap() as u32;
                self.sessions
                    .iter()
                    .position(|session| session.0 == address)
                    .unwrap()
            })
            .collect();
        found.sort_unstable();
        found
    }

    fn error(&self, condition: &str) -> (String, String) {
        error(
            &self.heap,
            json!({ "question": "find", "class": "*Session", "where": condition }),
        )
    }
}

fn error(heap: &LoadedHeap, question: Value) -> (String, String) {
    let question: Question = serde_json::from_value(question).unwrap();
    let error = questions::ask(heap, &question, None, &Control::default()).unwrap_err();
    (error.code().to_owned(), error.to_string())
}

#[test]
fn fields_built_in_values_and_globals_mean_what_the_documentation_says() {
    let sessions = open();
    for (condition, expected) in [
        ("open == false", &[0, 2, 4][..]),
        ("!open", &[0, 2, 4]),
        ("this.key >= 3 || this.key < 1", &[0, 3, 4]),
        ("key * 2 + 1 == 7", &[3]),
        ("key % 2 == 1 && key / 2 == 1", &[3]),
        ("key == 2.0", &[2]),
        ("-key < -2.5", &[3, 4]),
        ("note == \"guest 1\"", &[2, 3]),
        (
            "this.note.startsWith('guest') && note.endsWith('0')",
            &[0, 1],
        ),
        ("note.contains('est 1')", &[2, 3]),
        ("note == null", &[4]),
        ("note < 'guest 1'", &[0, 1]),
        ("note < 'guest'", &[]),
        ("note > 'guest'", &[0, 1, 2, 3]),
        ("note <= 'guest 00'", &[0, 1]),
        ("note in ['guest 1', 'g', 'guest 11']", &[2, 3]),
        ("note in ['guest']", &[]),
        ("this.size == 103", &[3]),
        ("note.size() == 7", &[0, 1, 2, 3]),
        ("next.next.key == 1", &[3]),
        ("next.note == note", &[1, 3]),
        ("next == null ? true : next.open", &[0, 2, 4]),
        ("key in [1, 4]", &[1, 4]),
        ("!(this.key in plateOrder)", &[0, 2, 4]),
        ("this in sessions", &[0, 1, 2, 3, 4]),
        ("next in sessions", &[1, 2, 3, 4]),
        ("className == 'assembly/index/Session'", &[0, 1, 2, 3, 4]),
        (
            "shallowSize > 0 && retainedSize >= shallowSize",
            &[0, 1, 2, 3, 4],
        ),
        ("has(this.next) && has(this.next.note)", &[1, 2, 3, 4]),
        ("has(this.other)", &[]),
        ("this[\"key\"] == 0", &[0]),
        // One side that decides suffices.
        ("note.contains('1') || true", &[0, 1, 2, 3, 4]),
    ] {
        assert_eq!(sessions.found(condition), expected, "{condition}");
    }
    let third = sessions.sessions[2].0;
    assert_eq!(sessions.found(&format!("address == {third:#x}")), [2]);
    assert_eq!(sessions.found(&format!("next == {third}")), [3]);
}

#[test]
fn objects_for_which_a_condition_has_no_value_are_counted() {
    let sessions = open();
    let answer = sessions.find("next.key >= 0");
    assert_eq!(answer["total"], 4);
    assert_eq!(
        answer["where"],
        json!({ "examined": 5, "withoutField": 1, "failed": [] })
    );
    let answer = sessions.find("note.startsWith('guest') && 6 / key >= 1");
    assert_eq!(answer["total"], 3);
    assert_eq!(
        answer["where"]["failed"],
        json!([
            { "reason": "a number is divided by zero", "count": 1 },
            { "reason": "null is in place of a value", "count": 1 },
        ])
    );
    let everything = json!({ "question": "find", "where": "open == false", "count": true });
    let answer = ask(&sessions.heap, everything);
    assert_eq!(
        (&answer["total"], &answer["objects"]),
        (&json!(3), &json!([]))
    );
    assert!(answer["where"]["withoutField"].as_u64().unwrap() > 3);
}

#[test]
fn groups_and_sums_are_those_of_the_objects() {
    let sessions = open();
    let question = json!({
        "question": "find", "class": "assembly/index/Session", "groupBy": "this.note", "sum": "shallow",
    });
    let answer = ask(&sessions.heap, question);
    let each = answer["sum"]["bytes"].as_u64().unwrap() / 5;
    assert_eq!(
        answer["groups"],
        json!({ "total": 3, "rows": [
            { "value": "guest 0", "text": "\"guest 0\"", "count": 2, "bytes": 2 * each },
            { "value": "guest 1", "text": "\"guest 1\"", "count": 2, "bytes": 2 * each },
            { "value": null, "text": "null", "count": 1, "bytes": each },
        ] })
    );
    assert_eq!(answer["objects"], json!([]));
    let question = json!({
        "question": "find", "class": "assembly/index/Session", "groupBy": "key > 2", "limit": 1,
    });
    let groups = &ask(&sessions.heap, question)["groups"];
    assert_eq!(
        groups,
        &json!({ "total": 2, "rows": [{ "value": false, "text": "false", "count": 3 }] })
    );
}

#[test]
fn what_an_object_retains_of_another_one_counts_once_in_a_sum() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    let mut last = Object(0);
    for _ in 0..4 {
        last = scene.object_of(node, &[last.0]);
    }
    scene.global("assembly/index/head", node, last);
    let heap = scene.open();
    let question = json!({ "question": "find", "class": "*Node", "sum": "retained" });
    let retained = ask(&heap, question.clone())["objects"][0]["retainedSize"].clone();
    assert_eq!(ask(&heap, question)["sum"]["bytes"], retained);
}

#[test]
fn with_an_earlier_heap_new_objects_can_be_told() {
    let before = open().heap;
    let (mut scene, _) = scene();
    let class = scene.class("assembly/index/Added");
    let added = scene.object(class, 4);
    scene.global("assembly/index/added", class, added);
    // Of one module: the earlier heap is the later one with this object as another class.
    let after = scene.open();
    let question = json!({ "question": "find", "where": "isNew", "count": true });
    let (code, message) = error(&after, question.clone());
    assert_eq!(code, "ERR_WHERE");
    assert!(message.contains("an earlier heap"), "{message}");
    assert_eq!(ask_with(&after, Some(&after), question.clone())["total"], 0);
    let question: Question = serde_json::from_value(question).unwrap();
    let error = questions::ask(&after, &question, Some(&before), &Control::default()).unwrap_err();
    assert_eq!(error.code(), "ERR_INVALID_OPTION");
}

#[test]
fn only_objects_that_an_earlier_heap_does_not_have_are_new() {
    let scene_with = |count: usize| {
        let mut scene = Scene::new();
        let node = scene.class("assembly/index/Node");
        scene.field(node, "next", 0, node);
        let mut last = Object(0);
        for _ in 0..count {
            last = scene.object_of(node, &[last.0]);
        }
        scene.global("assembly/index/last", node, last);
        scene
    };
    let scenes = [scene_with(3), scene_with(5)];
    let module = scenes[0].module();
    let [before, after] = scenes.map(|scene| open_with(&scene.dump(), &module).unwrap());
    let count = |heap, before, condition: &str| {
        let question = json!({ "question": "find", "where": condition, "count": true });
        ask_with(heap, Some(before), question)["total"].clone()
    };
    assert_eq!(count(&after, &before, "isNew"), 2);
    assert_eq!(count(&after, &before, "!isNew"), 3);
    assert_eq!(count(&after, &after, "isNew"), 0);
    assert_eq!(count(&before, &after, "isNew"), 0);
}

#[test]
fn what_does_not_compile_is_an_error_with_its_place() {
    let sessions = open();
    let mut wrong = Vec::new();
    for (condition, column, part) in [
        ("opne == false", 1, "opne, which is neither a field"),
        ("opne == false", 1, "such as open"),
        ("open == false && this.kye > 3", 23, "kye"),
        ("open == 'false'", 6, "a boolean and a text"),
        ("open + 1 > 2", 6, "a boolean and a number"),
        ("key", 1, "a number; expected a condition"),
        ("key > 1 / 0", 9, "divided by zero"),
        ("key > 1 ==", 11, ""),
        ("key > (1", 9, ""),
        ("note.matches('x')", 6, "the function matches"),
        ("sessions.all(s, s.open)", 1, ""),
        ("key in [key]", 9, "differs from object to object"),
        ("key in ['1']", 9, "a number and a text"),
        ("key in empty", 8, "whose members are not known"),
        ("isNew", 1, "isNew with one heap"),
        ("key == 9223372036854775808", 8, ""),
        ("[1, 2] == 3", 2, "a list"),
        ("{'a': 1} == 3", 1, "an object literal"),
        ("key == b'1'", 8, "bytes"),
        (
            "9223372036854775807 * 9223372036854775807 * 4.0 > key",
            21,
            "too large",
        ),
    ] {
        let (code, message) = sessions.error(condition);
        let start = format!("option where, character {column}: ");
        if code != "ERR_WHERE" || !message.starts_with(&start) || !message.contains(part) {
            wrong.push(format!("{condition}: {message}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let question = json!({ "question": "find", "groupBy": "kye" });
    assert!(
        error(&sessions.heap, question)
            .1
            .starts_with("option groupBy, character 1: ")
    );
}

#[test]
fn hostile_expressions_end_with_an_error() {
    let sessions = open();
    let mut hostile = vec![
        "(".repeat(4000),
        "!".repeat(4000),
        "-".repeat(4000),
        "[".repeat(4000),
        "{".repeat(4000),
        "a?".repeat(2000),
        "key+".repeat(1000) + "1 > 0",
        "this".to_owned() + &".next".repeat(800) + " == null",
        format!("key in [{}]", "1,".repeat(40_000)),
        "key == 1 || ".repeat(100_000),
        "\"".repeat(4001),
        "'\\u".to_owned(),
        "\u{0}".to_owned(),
        "`".to_owned(),
        "key ? : ".to_owned(),
        "has(has(has(this)))".to_owned(),
        "\u{1f600} == 1".to_owned(),
        "0x".to_owned(),
        "1e99999 > key".to_owned() + ")",
    ];
    hostile.push(" ".repeat(3000));
    for condition in hostile {
        let (code, message) = sessions.error(&condition);
        assert_eq!(code, "ERR_WHERE", "{message}");
        assert!(message.len() < 1500, "{message}");
    }
    // What is large but sound has an answer.
    let long = format!("key in [{}]", vec!["1"; 1900].join(","));
    assert_eq!(sessions.found(&long), [1]);
    assert_eq!(sessions.found(&vec!["key == 1"; 300].join(" || ")), [1]);
}

#[test]
fn containers_contain_their_keys_and_values() {
    let mut scene = Scene::new();
    let item = scene.class("assembly/index/Item");
    let names = scene.generic("~lib/array/Array<~lib/string/String>", &[&STRING]);
    let map = scene.generic(
        "~lib/map/Map<~lib/string/String,assembly/index/Item>",
        &[&STRING, &item],
    );
    let [apple, pear] = ["apple", "pear"].map(|text| string(&mut scene, text));
    let item = scene.object(item, 4);
    let array = scene.array(names, &[pear]);
    let map = scene.entries(map, 1, &[apple.0, item.0, 0]);
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "name", 0, STRING);
    scene.field(holder, "array", 4, names);
    scene.field(holder, "map", 8, names);
    let holder = scene.object_of(holder, &[apple.0, array.0, map.0]);
    scene.global("assembly/index/holder", NAMED, holder);
    let heap = scene.open();
    let found = |contains: &str| {
        let answer = ask(&heap, json!({ "question": "find", "contains": contains }));
        let objects = answer["objects"].as_array().unwrap().clone();
        let mut found: Vec<u32> = objects
            .iter()
            .map(|object| object["address"].as_u64().unwrap() as u32)
            .collect();
        found.sort_unstable();
        found
    };
    let sorted = |objects: &[Object]| {
        let mut found: Vec<u32> = objects.iter().map(|object| object.0).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found("app"), sorted(&[apple, map]));
    assert_eq!(found("ear"), sorted(&[pear, array]));
    assert_eq!(found("Item"), sorted(&[map]));
    assert_eq!(found("*Item"), sorted(&[map]));
    assert_eq!(found("plum"), sorted(&[]));
}

/// A class that no object has.
const NAMED: Class = Class::undescribed(0);
