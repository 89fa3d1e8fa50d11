//! What is computed from a snapshot, and what it does not say.

use super::{Snapshot, ask, classes, export, table};
use crate::support::ask_with;
use engine::heap::views::{ConstructorSort, ConstructorView, Selection};
use engine::questions::{LoadedHeap, Question};
use engine::{Control, Input, analyze_snapshot as analyze};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

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
fn elements_and_properties_of_an_object_are_paged() {
    let mut snapshot = Snapshot::new();
    let array = snapshot.node("object", "Array", 16);
    snapshot.edge(1, "property", "list", array);
    let hidden = snapshot.node("hidden", "Map", 16);
    snapshot.edge(array, "internal", "map", hidden);
    let elements: Vec<usize> = (0..50)
        .map(|nth| {
            let node = snapshot.node("object", "Item", 16);
            snapshot.edge(array, "element", nth, node);
            node
        })
        .collect();
    let length = snapshot.node("string", "note", 16);
    snapshot.edge(array, "property", "note", length);
    let heap = snapshot.open();
    let id = |node: usize| 2 * node + 1;
    let page = |offset: u64, entries: u64| {
        let question = json!({ "question": "object", "address": id(array), "entries": entries, "offset": offset });
        ask(&heap, question)["entries"].clone()
    };
    let whole = page(0, 1000);
    assert_eq!(
        (&whole["kind"], &whole["total"]),
        (&json!("properties"), &json!(51))
    );
    let all = whole["entries"].as_array().unwrap();
    assert_eq!(all[7]["name"], "[7]");
    assert_eq!(all[7]["value"]["address"], id(elements[7]));
    assert_eq!(
        (&all[50]["name"], &all[50]["value"]["value"]),
        (&json!("note"), &json!("\"note\""))
    );
    for (offset, entries) in [(0, 20), (20, 20), (40, 20), (50, 1), (51, 1)] {
        let end = 51.min(offset + entries);
        let listed = page(offset as u64, entries as u64)["entries"].clone();
        assert_eq!(listed.as_array().unwrap(), &all[offset..end]);
    }
}

#[test]
fn the_classes_of_a_snapshot_are_reported_before_retained_sizes_are_known() {
    let mut snapshot = Snapshot::new();
    for (class, size, count) in [("Item", 24, 30), ("Box", 4_000, 2)] {
        for nth in 0..count {
            let node = snapshot.node("object", class, size);
            snapshot.edge(1, "element", nth, node);
        }
    }
    // The number in the column of sizes is smaller.
    let huge = snapshot.node("object", "Huge", 6_000_000_000);
    snapshot.edge(1, "property", "huge", huge);
    let text = snapshot.text();
    let control = Control::default();
    control.request_classes();
    let input = Input {
        name: "app.heapsnapshot",
        bytes: text.as_bytes(),
    };
    let heap = analyze(input, &control).unwrap();
    let reported = control.take_classes().unwrap();
    let selection = Selection::sorted(ConstructorSort::Shallow);
    let view = ConstructorView::new(Arc::new(heap), selection, &Control::default()).unwrap();
    let row = |name: &str, count: u64, size: u64| (name.to_owned(), count, size);
    let rows = view.rows().iter();
    let expected: Vec<_> = rows
        .map(|one| row(&one.class_name, one.count, one.total_shallow_size))
        .collect();
    let found: Vec<_> = reported
        .iter()
        .map(|one| row(&one.class_name, one.count, one.shallow_size))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found[0], row("Huge", 1, 6_000_000_000));
}

#[test]
fn the_progress_of_a_snapshot_moves_in_every_phase_and_ends_at_the_end() {
    let mut snapshot = Snapshot::new();
    for nth in 0..3_000 {
        let node = snapshot.node("object", "Item", 24);
        snapshot.edge(1, "element", nth, node);
    }
    let text = snapshot.text();
    let fractions = Arc::new(Mutex::new(Vec::new()));
    let handle = Arc::new(Mutex::new(None::<Control>));
    let (own, found) = (Arc::clone(&handle), Arc::clone(&fractions));
    let control = Control::observing(move |_| {
        if let Some(control) = own.lock().unwrap().as_ref() {
            found.lock().unwrap().push(control.progress().fraction);
        }
    });
    *handle.lock().unwrap() = Some(control.clone());
    let input = Input {
        name: "app.heapsnapshot",
        bytes: text.as_bytes(),
    };
    analyze(input, &control).unwrap();
    handle.lock().unwrap().take();
    let fractions = fractions.lock().unwrap();
    assert!(fractions.len() >= 5, "{fractions:?}");
    // Each phase begins after the one before has counted.
    assert!(
        fractions.is_sorted_by(|one, other| one < other),
        "{fractions:?}"
    );
}

/// A cache of 100 pages, and a list that holds as many items; with a reference to the cache that is shorter than the
/// path to it, if asked for.
fn cache_and_list(items: usize, has_shortcut: bool) -> LoadedHeap {
    let mut snapshot = Snapshot::new();
    let app = snapshot.node("object", "App", 16);
    let cache = snapshot.node("object", "Cache", 16);
    let list = snapshot.node("object", "List", 16);
    snapshot.edge(1, "property", "app", app);
    snapshot.edge(app, "property", "cache", cache);
    snapshot.edge(1, "property", "list", list);
    if has_shortcut {
        snapshot.edge(1, "property", "current", cache);
    }
    for nth in 0..100 {
        let page = snapshot.node("object", "Page", 100);
        snapshot.edge(cache, "element", nth, page);
    }
    for nth in 0..items {
        let item = snapshot.node("object", "Item", 20);
        snapshot.edge(list, "element", nth, item);
    }
    snapshot.open()
}

#[test]
fn objects_with_another_path_than_before_have_not_grown() {
    let before = cache_and_list(100, false);
    let question = json!({ "question": "suspects" });
    let suspects = |later: &LoadedHeap| {
        let answer = ask_with(later, Some(&before), question.clone());
        let suspects = answer["suspects"].as_array().unwrap().clone();
        let classes = suspects.iter().map(|suspect| suspect["className"].clone());
        classes.collect::<Vec<_>>()
    };
    assert_eq!(suspects(&cache_and_list(100, true)), [json!(null); 0]);
    assert_eq!(suspects(&cache_and_list(200, true)), ["List"]);
    assert_eq!(suspects(&cache_and_list(200, false)), ["List"]);
}
