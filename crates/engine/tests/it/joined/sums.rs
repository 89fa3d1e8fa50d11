//! Bytes of two heaps are never one sum, and the memory for two is that of both.

use std::io::Write;
use std::sync::Arc;

use engine::heap::views::{ConstructorView, Selection};
use engine::outputs::exports::{Export, export};
use engine::questions::{
    CheckOptions, GrowthOptions, PlaceTable, Question, SizeParts, ask as answer, check,
    class_parts, growth, place_table,
};
use engine::{Control, Reading};
use serde_json::{Value, json};

use super::{Files, add_number, ask, files};
use crate::snapshots::Snapshot;
use crate::support::{Scene, open};

/// Four tickets of JavaScript, each of which holds a ticket of the memory, which is alone in one of another class.
fn tickets() -> Files {
    let mut scene = Scene::new();
    let class = scene.class("Ticket");
    let part = scene.class("Part");
    scene.field(class, "part", 0, part);
    let mut snapshot = Snapshot::new();
    for nth in 0..4 {
        let ticket = scene.object(class, 16);
        let own = scene.object(part, 32);
        scene.set(ticket, 0, own);
        scene.pin(ticket);
        let holder = snapshot.node("object", "Ticket", 24);
        snapshot.edge(1, "property", format!("ticket{nth}"), holder);
        let address: u32 = ticket.into();
        add_number(&mut snapshot, holder, "__wbg_ptr", f64::from(address));
    }
    files(&scene, &snapshot)
}

#[test]
fn a_class_that_both_heaps_have_has_a_size_of_each() {
    let loaded = tickets().open().unwrap();
    let control = Control::default();
    let view = ConstructorView::new(Arc::clone(loaded.heap()), Selection::default(), &control);
    let view = view.unwrap();
    let parts = class_parts(&loaded, &view, &control).unwrap();
    let nth = view
        .rows()
        .iter()
        .position(|row| row.class_name == "Ticket");
    let (row, parts) = (&view.rows()[nth.unwrap()], parts[nth.unwrap()]);
    assert_eq!(row.count, 8);
    let both = |javascript, wasm| SizeParts { javascript, wasm };
    let wasm = row.total_shallow_size - 4 * 24;
    assert_eq!(parts.shallow, both(4 * 24, wasm));
    // A ticket of JavaScript retains what that of the memory retains.
    let sum = parts.retained.javascript + parts.retained.wasm;
    assert_eq!(sum, row.total_retained_size);
    assert_eq!(parts.retained.javascript, 4 * 24);
    // As a set, each byte counts once.
    assert_eq!(parts.retained_set.javascript, 4 * 24);
    assert_eq!(parts.retained.wasm, 2 * parts.retained_set.wasm);
    assert!(parts.retained_set.wasm > wasm);

    let suspects = ask(&loaded, json!({ "question": "suspects" }));
    let sums = &suspects["totalLiveParts"];
    let live = sums["javascript"].as_u64().unwrap() + sums["wasm"].as_u64().unwrap();
    assert_eq!(suspects["totalLiveSize"], live);
    let text = suspects["suspects"][0]["text"].as_str().unwrap();
    assert!(text.contains("% of the live bytes of both heaps"), "{text}");
}

#[test]
fn one_heap_has_no_sizes_of_two() {
    let mut scene = Scene::new();
    let class = scene.class("Ticket");
    let ticket = scene.object(class, 16);
    scene.pin(ticket);
    let loaded = open(&scene.dump(), &scene.module()).unwrap();
    let control = Control::default();
    let view = ConstructorView::new(Arc::clone(loaded.heap()), Selection::default(), &control);
    let parts = class_parts(&loaded, &view.unwrap(), &control).unwrap();
    assert_eq!(parts, []);
    let suspects = ask(&loaded, json!({ "question": "suspects" }));
    assert_eq!(suspects.get("totalLiveParts"), None);
}

#[test]
fn what_would_add_up_both_heaps_is_refused() {
    let loaded = tickets().open().unwrap();
    let later = tickets().open().unwrap();
    let control = Control::default();
    let refused = |error: engine::Error| assert_eq!(error.code(), "ERR_NOT_IN_JOINED", "{error}");
    for question in ["suspects", "report", "find"] {
        let question: Value = json!({ "question": question });
        let question: Question = serde_json::from_value(question).unwrap();
        answer(&loaded, &question, None, &control).unwrap();
        refused(answer(&later, &question, Some(&loaded), &control).unwrap_err());
    }
    refused(loaded.check_same_module(&later).unwrap_err());
    let mut out = std::io::sink();
    refused(export(&loaded, &Export::Pprof {}, None, &mut out, &control).unwrap_err());
    // The places are of one heap each, but growth adds up bytes, also of a table that was written and read.
    let table = place_table(&loaded, &control).unwrap();
    let read = PlaceTable::from_bytes(&table.to_bytes()).unwrap();
    let options: GrowthOptions = serde_json::from_value(json!({})).unwrap();
    refused(growth(&[&table, &table], &options, &control).unwrap_err());
    refused(growth(&[&read, &read], &options, &control).unwrap_err());
    let options: CheckOptions = serde_json::from_value(json!({ "minDumps": 2 })).unwrap();
    refused(check(&[&read, &read], &options, &control).unwrap_err());
}

#[test]
fn the_limit_of_memory_is_for_both_files_together() {
    let packed = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let plain = tickets();
    let both = (plain.dump.len() + plain.snapshot.len()) as u64;
    let files = Files {
        dump: packed(&plain.dump),
        snapshot: packed(&plain.snapshot),
        ..plain
    };
    let limited = |largest| Reading {
        largest: Some(largest),
        ..Reading::default()
    };
    files.open_with(&limited(both)).unwrap();
    let error = files.open_with(&limited(both - 1)).unwrap_err();
    assert_eq!(error.code(), "ERR_OUT_OF_PROPORTION", "{error}");
}
