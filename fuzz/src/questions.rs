//! Properties of the answers of every heap that can be opened, for any input.

use engine::assemblyscript::InMemory;
use engine::outputs::exports::{Export, HeapDiffOptions, HeapSnapshotOptions};
use engine::outputs::formats::{TableOptions, render_json, render_text};
use engine::questions::{GrowthOptions, LoadedHeap, PlaceTable, Question, growth};
use engine::{Control, Input, Program, Result, Tolerance};
use serde_json::{Value, json};

/// Codes of a question that a heap does not answer.
const UNANSWERED: [&str; 4] = [
    "ERR_NO_OBJECT",
    "ERR_UNKNOWN_CLASS",
    "ERR_NOT_IN_NATIVE_HEAP",
    "ERR_NOT_IN_HPROF",
];

/// Opens a heap for questions.
pub fn open(dump: &[u8], wasm: &[u8], tolerance: Tolerance) -> Result<LoadedHeap> {
    let control = Control::default();
    let wasm = Input {
        name: "wasm",
        bytes: wasm,
    };
    let input = Input {
        name: "dump",
        bytes: dump,
    };
    let program = Program::read(wasm, &control)?.tolerating(tolerance);
    program.open(input, Box::new(InMemory(dump.to_vec())), &control)
}

/// Asks every kind of question, about these addresses too, and returns all answers as text.
pub fn ask_all(heap: &LoadedHeap, addresses: &[u32], table: TableOptions) -> String {
    let mut texts = String::new();
    let mut ask = |before: Option<&LoadedHeap>, question: Value| -> Option<Value> {
        let question: Question = serde_json::from_value(question).unwrap();
        let answer = match engine::questions::ask(heap, &question, before, &Control::default()) {
            Ok(answer) => answer,
            // An address may be of no object, a heap may have no classes, and a native program no types.
            Err(error) if UNANSWERED.contains(&error.code()) => return None,
            Err(error) => panic!("{question:?}: {error}"),
        };
        texts += &render_text(&answer, table);
        let json = render_json(&answer);
        texts += &json;
        Some(serde_json::from_str(&json).unwrap())
    };
    let live_size = heap.heap().live_size;
    for question in ["summary", "suspects"] {
        ask(None, json!({ "question": question })).unwrap();
    }
    ask(Some(heap), json!({ "question": "suspects" })).unwrap();
    let found = ask(None, json!({ "question": "find", "limit": 1 << 20 })).unwrap();
    let shallow = sum(&found["objects"], "shallowSize");
    assert_eq!(shallow, live_size, "the live objects are not all found");
    for by in [None, Some("class")] {
        let question = json!({ "question": "dominators", "by": by, "limit": 1 << 20 });
        let answer = ask(None, question).unwrap();
        let list = if by.is_some() { "groups" } else { "children" };
        let retained = sum(&answer[list], "retainedSize");
        assert_eq!(
            retained, live_size,
            "the parts of the heap are not the heap"
        );
    }
    if let Some(merged) = ask(
        None,
        json!({ "question": "paths", "class": "*", "limit": 3 }),
    ) {
        assert_eq!(merged["shallowSize"], live_size);
        assert_eq!(merged["freedByRemovingAll"], live_size);
        let shown = sum(&merged["tree"], "shallowSize");
        let more = merged["more"]["shallowSize"].as_u64().unwrap_or_default();
        assert_eq!(
            shown + more,
            live_size,
            "the paths are not those of all objects"
        );
    }
    if let Some(waste) = ask(None, json!({ "question": "waste", "limit": 1 << 20 })) {
        let savings = sum(&waste["kinds"], "savings");
        assert_eq!(waste["totalSavings"], savings);
        assert!(
            savings <= live_size,
            "more than the live bytes could be saved"
        );
    }
    check_cells(
        &ask(Some(heap), json!({ "question": "report" })).unwrap(),
        live_size,
    );
    // A snapshot contains only what is alive.
    if heap.heap().accounting.is_some() {
        let question = json!({ "question": "unreachable", "limit": 1 << 20, "maxNodes": 1000 });
        let garbage = &ask(None, question).unwrap()["garbage"];
        assert_eq!(
            garbage["shallowSize"],
            sum(&garbage["classes"], "shallowSize")
        );
        assert!(garbage["cycles"]["count"].as_u64() <= garbage["count"].as_u64());
    }
    let objects = heap.heap().live_heap_objects().take(8);
    let live: Vec<u64> = objects
        .map(|object| heap.heap().address(object).0)
        .collect();
    let others = addresses.iter().map(|&address| u64::from(address));
    for address in live.into_iter().chain(others) {
        ask(None, json!({ "question": "object", "address": address }));
        ask(None, json!({ "question": "referrers", "address": address }));
        ask(
            None,
            json!({ "question": "dominators", "address": address }),
        );
        let path = ask(None, json!({ "question": "paths", "objects": [address] }));
        if let Some(path) = path.filter(|path| !path["path"].is_null()) {
            assert_eq!(path["freedByCuttingAll"], path["retainedSize"]);
        }
    }
    let none_is_new = ask(Some(heap), json!({ "question": "paths", "newSince": true }));
    assert!(none_is_new.is_none_or(|paths| paths["count"] == 0));
    texts
}

/// Writes and reads the place table, once with a byte in it changed, and looks for growth.
pub fn grow(heap: &LoadedHeap, place: u32, byte: u8) -> String {
    let control = Control::default();
    let options: GrowthOptions = serde_json::from_value(json!({ "limit": 1000 })).unwrap();
    let growth_of =
        |tables: &[&PlaceTable]| render_json(&growth(tables, &options, &control).unwrap());
    let table = engine::questions::place_table(heap, &control).unwrap();
    let mut bytes = table.to_bytes();
    assert_eq!(PlaceTable::from_bytes(&bytes).unwrap(), table);
    let mut text = growth_of(&[&table, &table, &table]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["places"], json!([]), "a heap has grown since itself");
    let place = place as usize % bytes.len();
    bytes[place] = byte;
    if let Ok(changed) = PlaceTable::from_bytes(&bytes) {
        text += &growth_of(&[&table, &changed]);
        text += &growth_of(&[&changed, &table]);
    }
    text
}

/// Writes every export, and checks what the heap snapshot adds up to.
pub fn export_all(heap: &LoadedHeap) {
    let write = |export: Export, before: Option<&LoadedHeap>| {
        let mut bytes = Vec::new();
        let written = engine::outputs::exports::export(
            heap,
            &export,
            before,
            &mut bytes,
            &Control::default(),
        );
        written.unwrap_or_else(|error| panic!("{export:?}: {error}"));
        bytes
    };
    let profile = write(Export::Pprof {}, None);
    assert!(profile.starts_with(&[0x1f, 0x8b]), "not compressed by gzip");
    let grown = write(Export::HeapDiff(HeapDiffOptions::default()), Some(heap));
    let lines = grown.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(lines, 1, "a heap has grown since itself");
    // A snapshot is in this format already.
    let is_exported = heap.source().facts().format == Some("heapsnapshot");
    let options = [(true, false), (false, true)].into_iter();
    for (strings, all) in options.filter(|_| !is_exported) {
        let export = Export::HeapSnapshot(HeapSnapshotOptions {
            strings,
            all,
            may_map: false,
        });
        let snapshot: Value = serde_json::from_slice(&write(export, None)).unwrap();
        let meta = &snapshot["snapshot"]["meta"];
        let fields = meta["node_fields"].as_array().unwrap();
        let size_field = fields
            .iter()
            .position(|field| field == "self_size")
            .unwrap();
        let nodes = snapshot["nodes"].as_array().unwrap();
        let sizes = nodes
            .chunks(fields.len())
            .map(|node| node[size_field].as_u64().unwrap());
        let garbage = heap
            .heap()
            .garbage()
            .map(|object| heap.heap().shallow_size(object));
        let expected = heap.heap().live_size + if all { garbage.sum() } else { 0 };
        assert_eq!(sizes.sum::<u64>(), expected, "nodes with garbage: {all}");
    }
}

/// Checks that the cells of a report add up.
fn check_cells(report: &Value, live_size: u64) {
    let cells = &report["body"]["cells"];
    let column = |name: &str| -> Vec<u64> {
        let values = cells[name].as_array().unwrap().iter();
        values.map(|value| value.as_u64().unwrap()).collect()
    };
    let [parents, shallow, retained] = ["parent", "shallowSize", "retainedSize"].map(column);
    assert_eq!(retained[0], live_size, "the cells are not the heap");
    let mut below = vec![0; parents.len()];
    for (parent, size) in parents.iter().zip(&retained).skip(1) {
        below[*parent as usize] += size;
    }
    let parts = below.iter().zip(shallow.iter().zip(&retained));
    for (cell, (below, (shallow, retained))) in parts.enumerate() {
        let is_whole = *below == 0 || below + shallow == *retained;
        assert!(is_whole, "the parts of cell {cell} do not add up to it");
    }
}

fn sum(list: &Value, key: &str) -> u64 {
    let entries = list.as_array().unwrap().iter();
    entries.map(|entry| entry[key].as_u64().unwrap()).sum()
}
