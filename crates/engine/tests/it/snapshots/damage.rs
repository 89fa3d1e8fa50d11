//! Snapshots that are cut, contradict themselves, or are no snapshots.

use super::{Snapshot, ask, classes, everything, export, opened, table, text};
use engine::Control;
use engine::questions::Question;
use engine::v8::SnapshotError;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn every_prefix_of_a_snapshot_is_an_error() {
    let mut snapshot = Snapshot::new();
    let text = snapshot.node("string", "caf\u{e9} \\ \u{1f600}", 32);
    snapshot.edge(1, "property", "text", text);
    let whole = snapshot.text();
    assert!(opened(whole.as_bytes()).is_ok());
    for end in 0..whole.len() {
        let Err(error) = opened(&whole.as_bytes()[..end]) else {
            panic!("the first {end} bytes are a snapshot");
        };
        assert!(error.code().starts_with("ERR_SNAPSHOT"), "{end}: {error}");
    }
}

/// The message of the error about a snapshot that was changed.
fn damaged(change: impl FnOnce(&mut Value)) -> String {
    let mut snapshot = Snapshot::new();
    let text = snapshot.node("string", "text", 32);
    snapshot.edge(1, "property", "text", text);
    let mut json = snapshot.json();
    change(&mut json);
    let error = opened(self::text(&json).as_bytes()).unwrap_err();
    assert_eq!(error.code(), "ERR_SNAPSHOT");
    error.to_string()
}

#[test]
fn numbers_that_contradict_each_other_are_errors_with_an_offset() {
    let cases: [(&str, Value, &str); 8] = [
        (
            "/nodes/0",
            json!(99),
            "the type of a node is 99: expected the number of one of node_types",
        ),
        (
            "/nodes/1",
            json!(99),
            "the name of a node is 99: expected the number of a string",
        ),
        (
            "/nodes/4",
            json!(9),
            "the edge_count of all nodes add up to 10, but the file has 2 edges",
        ),
        (
            "/edges/0",
            json!(7),
            "the type of an edge is 7: expected the number of one of edge_types",
        ),
        (
            "/edges/2",
            json!(7),
            "the to_node of an edge is 7: expected the index of a node",
        ),
        (
            "/edges/2",
            json!(600),
            "the to_node of an edge is 600: expected the index of a node",
        ),
        ("/edges/2", json!(-6), "expected a whole number"),
        (
            "/snapshot/node_count",
            json!(4),
            "node_count is 4, but the file has 3",
        ),
    ];
    for (place, value, expected) in cases {
        let message = damaged(|json| *json.pointer_mut(place).unwrap() = value);
        assert!(message.contains(expected), "{place}: {message}");
        assert!(message.contains("at offset "), "{message}");
    }
    let message = damaged(|json| json["nodes"][14] = json!(3));
    assert!(message.contains("nodes 1 and 2 have the id 3"), "{message}");
    let message = damaged(|json| json["nodes"][2] = json!(3));
    assert!(message.contains("nodes 0 and 1 have the id 3"), "{message}");
    let message = damaged(|json| {
        json["nodes"][3] = json!((1u64 << 53) - 1);
        json["nodes"][9] = json!((1u64 << 53) - 1);
    });
    assert!(message.contains("add up to"), "{message}");
    let message = damaged(|json| json["nodes"].as_array_mut().unwrap().truncate(17));
    assert!(
        message.contains("an array of 17 numbers: expected a multiple of 6"),
        "{message}"
    );
    let message = damaged(|json| json["nodes"] = json!(["a"]));
    assert!(message.contains("expected a number, found"), "{message}");
}

#[test]
fn text_that_is_no_json_or_says_something_twice_is_an_error() {
    let whole = Snapshot::new().text();
    assert!(opened(whole.as_bytes()).is_ok());
    let fields = "\"node_fields\":[\"type\",\"name\",";
    let cases = [
        ("\"edges\":[", "\"edges\":[0", "expected a whole number"),
        (
            "\"node_count\":",
            "\"node_count\":0",
            "expected a whole number",
        ),
        (
            fields,
            "\"node_fields\":[\"type\",\"type\",",
            "expected each field once",
        ),
        (
            fields,
            "\"node_fields\":[\"type\"],\"node_fields\":[\"type\",\"name\",",
            "expected one list of each kind",
        ),
    ];
    for (old, new, expected) in cases {
        assert!(whole.contains(old), "{old}: {whole}");
        let Err(error) = opened(whole.replacen(old, new, 1).as_bytes()) else {
            panic!("{new} was accepted");
        };
        assert!(error.to_string().contains(expected), "{new}: {error}");
    }
}

#[test]
fn the_offset_of_an_error_is_that_of_the_number() {
    let whole = Snapshot::new().text();
    let place = whole.find("\"edges\":[5,").unwrap() + "\"edges\":[".len();
    let changed = format!("{}9{}", &whole[..place], &whole[place + 1..]);
    let error = opened(changed.as_bytes()).err().unwrap();
    let Some(SnapshotError::Unreadable { offset, .. }) = error.own() else {
        panic!("{error}");
    };
    assert_eq!(*offset, place as u64, "{error}");
}

#[test]
fn arrays_of_many_pieces_keep_every_number() {
    // Rows of every length, so that pieces end at every place of a row.
    let mut snapshot = Snapshot::new();
    let count = 200_000u64;
    for nth in 0..count {
        let node = snapshot.node("object", "Node", 16 + nth % 12_345);
        snapshot.edges.push((1, 1, nth.into(), node));
    }
    let expected: u64 = (0..count).map(|nth| 16 + nth % 12_345).sum();
    let text = snapshot.text();
    assert!(text.len() > 4 << 20);
    let rows = classes(text.as_bytes());
    assert_eq!(rows[0], ("global".to_owned(), 1, 16, expected + 16));
    assert_eq!(rows[1], ("Node".to_owned(), count, expected, expected));
}

#[test]
fn a_negative_index_is_read_without_its_sign() {
    let mut snapshot = Snapshot::new();
    let node = snapshot.node("object", "Session", 32);
    snapshot.edge(1, "element", 6, node);
    let mut json = snapshot.json();
    let edges = json["edges"].as_array_mut().unwrap();
    let index = edges.len() - 2;
    assert_eq!(edges[index], 6);
    edges[index] = json!(-6);
    let heap = opened(text(&json).as_bytes()).unwrap();
    let referrers = ask(
        &heap,
        json!({ "question": "referrers", "address": 2 * node + 1 }),
    );
    assert_eq!(referrers["referrers"][0]["label"], "[6]");
}

#[test]
fn deep_nesting_needs_no_stack() {
    let deep = "[".repeat(1 << 20) + &"]".repeat(1 << 20);
    let whole = Snapshot::new().text();
    let changed = whole.replacen("\"nodes\"", &format!("\"trace_tree\":{deep},\"nodes\""), 1);
    assert!(opened(changed.as_bytes()).is_ok());
    let open_end = whole.replacen(
        "\"nodes\"",
        &format!("\"trace_tree\":{},\"nodes\"", "[".repeat(1 << 20)),
        1,
    );
    assert!(opened(open_end.as_bytes()).is_err());
}

#[test]
fn another_file_is_named() {
    for (bytes, expected) in [
        (&b"{\"a\":1}"[..], "this is not a heap snapshot of V8"),
        (b"{\"nodes\":[1]}", "expected \"snapshot\" before \"nodes\""),
        (b"[1, 2]", "not a heap snapshot of V8"),
        (
            b"\x1f\x8b\x08\x00",
            "this is a gzip file, not a heap snapshot of V8: decompress it first, with gunzip",
        ),
        (b"", "the file is empty"),
    ] {
        let error = opened(bytes).unwrap_err();
        assert_eq!(error.code(), "ERR_SNAPSHOT");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Bytes that matter in a snapshot.
const BYTES: &[u8] = b"0123456789,:[]{}\"\\ -utrue\n\xff\xed\xa0";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_damaged_snapshot_is_an_error_or_answers_all_questions(
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(BYTES), 0u8..3), 1..6),
    ) {
        let mut bytes = everything().text().into_bytes();
        for (place, byte, action) in edits {
            let place = place.index(bytes.len());
            match action {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => {
                    bytes.remove(place);
                }
            }
        }
        let heap = match opened(&bytes) {
            Ok(heap) => heap,
            Err(error) => {
                prop_assert!(error.code().starts_with("ERR_SNAPSHOT"), "{error}");
                return Ok(());
            }
        };
        let address = heap.heap().objects.addresses.words().first().copied().unwrap_or_default();
        for question in [
            json!({ "question": "summary" }),
            json!({ "question": "find", "contains": "t" }),
            json!({ "question": "object", "address": address }),
            json!({ "question": "referrers", "address": address }),
            json!({ "question": "dominators" }),
            json!({ "question": "suspects" }),
            json!({ "question": "waste" }),
            json!({ "question": "paths", "objects": [address] }),
        ] {
            let question: Question = serde_json::from_value(question).unwrap();
            if let Err(error) = engine::questions::ask(&heap, &question, Some(&heap), &Control::default()) {
                prop_assert_eq!(error.code(), "ERR_NO_OBJECT");
            }
        }
        engine::questions::place_table(&heap, &Control::default()).unwrap();
        for name in ["dump", "class", "path", "suspect", "waste", "object", "edge"] {
            export(&heap, table(name)).unwrap();
        }
    }
}
