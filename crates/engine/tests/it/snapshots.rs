//! Heap snapshots of V8: small ones with known numbers, and damaged ones. Real ones are compared with DevTools in
//! `__test__/devtools/snapshots.test.ts`.

use std::sync::Arc;

use engine::heap::views::{ConstructorSort, ConstructorView, Selection};
use engine::outputs::exports::Export;
use engine::questions::{LoadedHeap, Question};
use engine::{Control, Error, Input, Result};
use engine::{analyze_snapshot as analyze, open_snapshot as open};
use proptest::prelude::*;
use serde_json::{Value, json};

const NODE_TYPES: [&str; 12] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
];
const EDGE_TYPES: [&str; 7] = [
    "context", "element", "property", "internal", "hidden", "shortcut", "weak",
];

/// A snapshot while it is made: nodes by type, name and size, and edges in the order of their sources.
#[derive(Default)]
struct Snapshot {
    nodes: Vec<(u64, String, u64)>,
    edges: Vec<(usize, u64, Value, usize)>,
}

impl Snapshot {
    /// A snapshot whose only user root is an object `global`, node 1.
    fn new() -> Self {
        let mut snapshot = Self::default();
        snapshot.node("synthetic", "", 0);
        snapshot.node("object", "global", 16);
        snapshot.edge(0, "shortcut", "1", 1);
        snapshot
    }

    fn node(&mut self, node_type: &str, name: &str, size: u64) -> usize {
        let node_type = NODE_TYPES
            .iter()
            .position(|name| *name == node_type)
            .unwrap();
        self.nodes.push((node_type as u64, name.to_owned(), size));
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: usize, edge_type: &str, name: impl Into<Value>, to: usize) {
        let edge_type = EDGE_TYPES
            .iter()
            .position(|name| *name == edge_type)
            .unwrap();
        self.edges.push((from, edge_type as u64, name.into(), to));
    }

    fn json(&self) -> Value {
        let mut strings: Vec<String> = Vec::new();
        let mut number = |text: &str| {
            let found = strings.iter().position(|string| string == text);
            found.unwrap_or_else(|| {
                strings.push(text.to_owned());
                strings.len() - 1
            })
        };
        let mut by_source = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            by_source[edge.0].push(edge);
        }
        let mut nodes = Vec::new();
        let mut edges = Vec::new();
        for (nth, (node_type, name, size)) in self.nodes.iter().enumerate() {
            let own = &by_source[nth];
            nodes.extend([*node_type, number(name) as u64, 2 * nth as u64 + 1, *size]);
            nodes.extend([own.len() as u64, 0]);
            for (_, edge_type, name, to) in own {
                let name = match name {
                    Value::String(name) => number(name) as u64,
                    index => index.as_u64().unwrap(),
                };
                edges.extend([*edge_type, name, 6 * *to as u64]);
            }
        }
        json!({
            "snapshot": {
                "meta": {
                    "node_fields": ["type", "name", "id", "self_size", "edge_count", "trace_node_id"],
                    "node_types": [NODE_TYPES, "string", "number", "number", "number", "number"],
                    "edge_fields": ["type", "name_or_index", "to_node"],
                    "edge_types": [EDGE_TYPES, "string_or_number", "node"],
                    "location_fields": ["object_index", "script_id", "line", "column"],
                },
                "node_count": self.nodes.len(),
                "edge_count": self.edges.len(),
            },
            "nodes": nodes,
            "edges": edges,
            "locations": [],
            "strings": strings,
        })
    }

    fn open(&self) -> LoadedHeap {
        opened(self.text().as_bytes()).unwrap()
    }

    /// In the order of V8: the part `snapshot` comes first.
    fn text(&self) -> String {
        text(&self.json())
    }
}

fn text(snapshot: &Value) -> String {
    let part = |key: &str| format!("{:?}:{}", key, snapshot[key]);
    let keys = ["snapshot", "nodes", "edges", "locations", "strings"];
    format!("{{{}}}", keys.map(part).join(",\n"))
}

fn opened(bytes: &[u8]) -> Result<LoadedHeap> {
    open(
        Input {
            name: "app.heapsnapshot",
            bytes,
        },
        &Control::default(),
    )
}

fn ask(heap: &LoadedHeap, question: Value) -> Value {
    let question: Question = serde_json::from_value(question).unwrap();
    let answer = engine::questions::ask(heap, &question, None, &Control::default()).unwrap();
    serde_json::to_value(&answer).unwrap()
}

/// By class: the count, and the sums of the shallow and the retained sizes.
fn classes(bytes: &[u8]) -> Vec<(String, u64, u64, u64)> {
    let heap = analyze(Input { name: "app", bytes }, &Control::default()).unwrap();
    let view = ConstructorView::new(
        Arc::new(heap),
        Selection::sorted(ConstructorSort::Retained),
        &Control::default(),
    )
    .unwrap();
    let rows = view.rows().iter();
    rows.map(|row| {
        let sums = (row.total_shallow_size, row.total_retained_size);
        (row.class_name.clone(), row.count, sums.0, sums.1)
    })
    .collect()
}

#[test]
fn each_of_thousands_of_classes_in_one_chain_retains_the_chain_after_its_first_object() {
    // More classes than there is room for in a table of the sets of classes above an object.
    const CLASSES: u64 = 2_100;
    const SIZE: u64 = 16;
    let mut snapshot = Snapshot::new();
    let mut last = 1;
    for nth in 0..2 * CLASSES {
        let node = snapshot.node("object", &format!("Class{:04}", nth % CLASSES), SIZE);
        snapshot.edge(last, "property", "next", node);
        last = node;
    }
    let bytes = snapshot.text();
    let input = Input {
        name: "app",
        bytes: bytes.as_bytes(),
    };
    let heap = analyze(input, &Control::default()).unwrap();
    let view = ConstructorView::new(
        Arc::new(heap),
        Selection::sorted(ConstructorSort::Retained),
        &Control::default(),
    )
    .unwrap();
    let sets = view.retained_set_sizes(&Control::default()).unwrap();
    let rows = view.rows().iter().zip(sets);
    let mut classes: Vec<(&str, u64)> = rows
        .map(|(row, set)| (row.class_name.as_str(), set))
        .filter(|(name, _)| name.starts_with("Class"))
        .collect();
    classes.sort_unstable();
    let found: Vec<u64> = classes.into_iter().map(|(_, set)| set).collect();
    let expected: Vec<u64> = (0..CLASSES).map(|nth| (2 * CLASSES - nth) * SIZE).collect();
    assert_eq!(found, expected);
}

#[test]
fn sizes_and_sums_of_more_than_4_gib_are_exact() {
    const HUGE: u64 = 5_000_000_000;
    let mut snapshot = Snapshot::new();
    let data = snapshot.node("native", "system / JSArrayBufferData", HUGE);
    let other = snapshot.node("native", "system / JSArrayBufferData", u64::from(u32::MAX));
    let holder = snapshot.node("object", "Holder", 32);
    snapshot.edge(1, "property", "holder", holder);
    snapshot.edge(holder, "property", "data", data);
    snapshot.edge(holder, "property", "other", other);
    let both = HUGE + u64::from(u32::MAX);
    assert_eq!(
        classes(snapshot.text().as_bytes()),
        [
            ("global".to_owned(), 1, 16, both + 48),
            ("Holder".to_owned(), 1, 32, both + 32),
            ("system / JSArrayBufferData".to_owned(), 2, both, both),
        ]
    );
    let heap = snapshot.open();
    let found = ask(&heap, json!({ "question": "find", "class": "*" }));
    let sizes: Vec<u64> = found["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object["retainedSize"].as_u64().unwrap())
        .collect();
    assert_eq!(sizes, [both + 48, both + 32, HUGE, u64::from(u32::MAX)]);
    let paths = ask(
        &heap,
        json!({ "question": "paths", "class": "system / JSArrayBufferData" }),
    );
    assert_eq!(paths["shallowSize"], both);
    assert_eq!(paths["freedByRemovingAll"], both);
    let paths = ask(&heap, json!({ "question": "paths", "class": "Holder" }));
    assert_eq!(paths["freedByRemovingAll"], both + 32);
    let children = ask(
        &heap,
        json!({ "question": "dominators", "address": 2 * holder + 1 }),
    );
    assert_eq!(children["children"][0]["retainedSize"], HUGE);
}

#[test]
fn references_are_named_as_in_devtools() {
    let mut snapshot = Snapshot::new();
    let text = snapshot.node("string", "a \"quoted\" text", 32);
    snapshot.edge(1, "property", "plain", text);
    snapshot.edge(1, "property", "two words", text);
    snapshot.edge(1, "element", 7, text);
    snapshot.edge(1, "context", "variable", text);
    snapshot.edge(1, "internal", "map", text);
    snapshot.edge(1, "internal", "12 / strong list", text);
    snapshot.edge(1, "hidden", 3, text);
    snapshot.edge(1, "weak", "target", text);
    snapshot.edge(1, "shortcut", "skipped", text);
    let heap = snapshot.open();
    let answer = ask(
        &heap,
        json!({ "question": "referrers", "address": 2 * text + 1 }),
    );
    let labels: Vec<&str> = answer["referrers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| edge["label"].as_str().unwrap())
        .collect();
    let expected = [
        "plain",
        "[\"two words\"]",
        "[7]",
        "->variable",
        "{map}",
        "{strong list}",
        "{3}",
        // These keep nothing alive.
        "[[target]]",
        "skipped",
    ];
    assert_eq!(labels, expected);
    let weak: Vec<bool> = answer["referrers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| edge.get("weak") == Some(&json!(true)))
        .collect();
    assert_eq!(weak.iter().filter(|&&is_weak| is_weak).count(), 1);
    assert!(weak[7]);
    let holder = ask(&heap, json!({ "question": "object", "address": 3 }));
    let fields = holder["fields"].as_array().unwrap();
    assert_eq!(fields.len(), 9);
    assert_eq!(fields[7]["name"], "[[target]]");
    assert_eq!(fields[7]["type"], "weak");
    assert_eq!(fields[8]["type"], "shortcut");
    let object = ask(
        &heap,
        json!({ "question": "object", "address": 2 * text + 1 }),
    );
    assert_eq!(object["preview"], "\"a \\\"quoted\\\" text\"");
    assert_eq!(
        object["path"]["text"],
        "global global > global.plain > (string)"
    );
    assert_eq!(object["distance"], 2);
    assert_eq!(object["state"], "live");
}

#[test]
fn duplicate_strings_are_found_by_their_contents() {
    let mut snapshot = Snapshot::new();
    let long = "x".repeat(1024);
    for (nth, (name, size)) in [
        ("twice", 24),
        ("once", 24),
        ("twice", 40),
        ("", 16),
        (&long, 1040),
        (&long, 1040),
    ]
    .into_iter()
    .enumerate()
    {
        let string = snapshot.node("string", name, size);
        snapshot.edge(1, "property", format!("text{nth}"), string);
    }
    let (left, right) = (
        snapshot.node("string", "tw", 16),
        snapshot.node("string", "ice", 16),
    );
    let joined = snapshot.node("concatenated string", "", 32);
    snapshot.edge(1, "property", "joined", joined);
    snapshot.edge(joined, "internal", "first", left);
    snapshot.edge(joined, "internal", "second", right);
    let answer = ask(&snapshot.open(), json!({ "question": "waste" }));
    assert_eq!(answer["totalSavings"], 72);
    assert_eq!(answer["kinds"].as_array().unwrap().len(), 1);
    assert_eq!(answer["headers"], Value::Null);
    let groups = &answer["kinds"][0]["groups"];
    assert_eq!(groups.as_array().unwrap().len(), 1);
    assert_eq!(groups[0]["what"], "\"twice\"");
    assert_eq!(groups[0]["count"], 2);
    assert_eq!(answer["warnings"][0]["code"], "WARN_STRINGS_CUT");
}

/// Adds a string of two parts.
fn joined(snapshot: &mut Snapshot, first: usize, second: usize) -> usize {
    let joined = snapshot.node("concatenated string", "(concatenated string)", 32);
    snapshot.edge(joined, "internal", "first", first);
    snapshot.edge(joined, "internal", "second", second);
    joined
}

#[test]
fn slices_whose_contents_are_not_in_the_snapshot_are_no_duplicates() {
    let mut snapshot = Snapshot::new();
    let text = snapshot.node("string", "text", 24);
    for nth in 0..2 {
        let slice = snapshot.node("sliced string", "(sliced string)", 32);
        let of_slice = joined(&mut snapshot, text, slice);
        snapshot.edge(1, "property", format!("text{nth}"), of_slice);
    }
    let answer = ask(&snapshot.open(), json!({ "question": "waste" }));
    assert_eq!(answer["totalSavings"], 0);
}

#[test]
fn a_string_that_is_a_root_does_not_name_it() {
    let mut snapshot = Snapshot::new();
    let text = snapshot.node("string", "contents", 24);
    snapshot.edge(0, "element", 1, text);
    let answer = ask(
        &snapshot.open(),
        json!({ "question": "paths", "class": "(string)" }),
    );
    assert_eq!(answer["tree"][0]["root"]["name"], "(string)");
}

fn export(heap: &LoadedHeap, export: Value) -> Result<Vec<u8>> {
    let export: Export = serde_json::from_value(export).unwrap();
    let mut bytes = Vec::new();
    engine::outputs::exports::export(heap, &export, None, &mut bytes, &Control::default())?;
    Ok(bytes)
}

fn table(name: &str) -> Value {
    let dump = json!({
        "dumpId": "1", "capturedAt": 0, "dumpSize": 1, "source": "app.heapsnapshot", "labels": {},
    });
    json!({ "format": "parquet", "table": name, "dump": dump, "strings": true })
}

#[test]
fn a_snapshot_is_not_exported_as_a_snapshot() {
    let heap = Snapshot::new().open();
    let error = export(&heap, json!({ "format": "heapsnapshot" })).unwrap_err();
    assert_eq!(error.code(), "ERR_NOT_IN_SNAPSHOT");
}

#[test]
fn tables_of_a_snapshot_name_no_module() {
    let heap = Snapshot::new().open();
    let mut request = table("dump");
    assert!(export(&heap, request.clone()).is_ok());
    request["dump"]["moduleId"] = json!("2");
    let error = export(&heap, request).unwrap_err();
    assert_eq!(error.code(), "ERR_INVALID_OPTION");
}

#[test]
fn what_a_snapshot_does_not_say_is_absent_or_refused() {
    let heap = Snapshot::new().open();
    let summary = ask(&heap, json!({ "question": "summary" }));
    for key in ["totalHeapSize", "accounting"] {
        assert_eq!(summary.get(key), None, "{key}");
    }
    assert_eq!(summary["objects"], json!({ "live": 1 }));
    let unreachable: Question =
        serde_json::from_value(json!({ "question": "unreachable" })).unwrap();
    let error = engine::questions::ask(&heap, &unreachable, None, &Control::default()).unwrap_err();
    assert_eq!(error.code(), "ERR_NOT_IN_SNAPSHOT");
    let report = ask(&heap, json!({ "question": "report" }));
    assert_eq!(report["body"]["unreachable"], Value::Null);
    assert_eq!(report["body"]["summary"].get("accounting"), None);
}

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
    let cases: [(&str, Value, &str); 9] = [
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
            "/nodes/2",
            json!(1u64 << 32),
            "the id of a node is 4294967296: expected at most 4294967295",
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
    let Err(Error::InFile { source, .. }) = opened(changed.as_bytes()) else {
        panic!("no error of the file");
    };
    assert!(
        matches!(*source, Error::Snapshot { offset, .. } if offset == place as u64),
        "{source}"
    );
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
            "this is a gzip file, not a heap snapshot of V8: decompress it first",
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
        let address = heap.heap().objects.addresses.first().copied().unwrap_or_default();
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

/// A snapshot with nodes and edges of all types.
fn everything() -> Snapshot {
    let mut snapshot = Snapshot::new();
    for (nth, node_type) in NODE_TYPES.iter().enumerate() {
        let node = snapshot.node(
            node_type,
            ["Object", "text", "Node"][nth % 3],
            16 + nth as u64,
        );
        for (other, edge_type) in EDGE_TYPES.iter().enumerate() {
            let from = 1 + (nth * 7 + other * 3) % node;
            match *edge_type {
                "element" | "hidden" => snapshot.edge(from, edge_type, nth as u64, node),
                "internal" => snapshot.edge(from, edge_type, ["first", "second"][nth % 2], node),
                _ => snapshot.edge(from, edge_type, ["a", "b, c"][nth % 2], node),
            }
        }
    }
    let pair = "1 / part of key (Node @3) -> value (Node @5) pair in WeakMap (table @7)";
    snapshot.edge(1, "internal", pair, 2);
    snapshot.edge(3, "internal", pair, 2);
    snapshot
}
