//! Two programs whose hosts hold pinned objects, captured in Node 20. The truth is what the host itself wrote down.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::{Files, ask};

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/samples/border");
    let bytes = fs::read(folder.join(name)).unwrap();
    if name.ends_with(".gz") {
        let mut contents = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(&bytes[..]);
        decoder.read_to_end(&mut contents).unwrap();
        return contents;
    }
    bytes
}

fn tickets() -> Files {
    Files {
        dump: sample("tickets.dump.gz"),
        wasm: sample("program.wasm.gz"),
        snapshot: sample("tickets.heapsnapshot.zst"),
        numbers: None,
        handles: None,
        slots: Vec::new(),
    }
}

fn with_numbers(numbers: &[u8]) -> Files {
    Files {
        numbers: Some(numbers.to_vec()),
        ..tickets()
    }
}

/// The addresses that the host holds, and those that it lost.
fn truth() -> (BTreeSet<u64>, BTreeSet<u64>) {
    let truth: Value = serde_json::from_slice(&sample("tickets.truth.json.gz")).unwrap();
    let mut held = BTreeSet::new();
    let mut lost = BTreeSet::new();
    for (kind, addresses) in truth.as_object().unwrap() {
        let of_kind = if kind == "lost" { &mut lost } else { &mut held };
        of_kind.extend(
            addresses
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_u64),
        );
    }
    (held, lost)
}

/// Of these addresses, those with a holder in JavaScript.
fn with_holder(heap: &engine::questions::LoadedHeap, addresses: &BTreeSet<u64>) -> usize {
    let has_holder = |address: &&u64| {
        let question = json!({ "question": "referrers", "address": address, "limit": 1000 });
        let answer = ask(heap, question);
        let referrers = answer["referrers"].as_array().unwrap();
        referrers.iter().any(|edge| edge.get("evidence").is_some())
    };
    addresses.iter().filter(has_holder).count()
}

#[test]
fn all_pins_that_a_host_holds_have_a_holder_and_no_lost_one_has() {
    let loaded = with_numbers(&sample("tickets.numbers.json.gz"))
        .open()
        .unwrap();
    let (held, lost) = truth();
    assert_eq!((held.len(), lost.len()), (240, 50));
    assert_eq!(with_holder(&loaded, &held), 240);
    assert_eq!(with_holder(&loaded, &lost), 0);
    let pins = &ask(&loaded, json!({ "question": "summary" }))["joined"]["pinned"];
    assert_eq!(
        pins["exact"].as_u64().unwrap() + pins["derived"].as_u64().unwrap(),
        240
    );
}

#[test]
fn a_snapshot_alone_shows_the_holders_that_are_properties() {
    let loaded = tickets().open().unwrap();
    let (held, lost) = truth();
    assert_eq!(with_holder(&loaded, &held), 40);
    assert_eq!(with_holder(&loaded, &lost), 0);
}

#[test]
fn numbers_of_another_moment_are_refused() {
    let mut files = with_numbers(&sample("tickets.numbers.json.gz"));
    *files.dump.last_mut().unwrap() ^= 1;
    let error = files.open().unwrap_err();
    assert_eq!(error.code(), "ERR_NUMBERS_MOMENT", "{error}");
    assert!(
        error.to_string().starts_with("app.numbers.json: "),
        "{error}"
    );
}

#[test]
fn a_cycle_across_the_border_is_not_kept_by_the_table_of_the_host() {
    let mut files = Files {
        dump: sample("cycle.dump.gz"),
        wasm: sample("program.wasm.gz"),
        snapshot: sample("cycle.heapsnapshot.zst"),
        numbers: None,
        handles: None,
        slots: Vec::new(),
    };
    let live = |files: &Files| {
        let loaded = files.open().unwrap();
        let question = json!({ "question": "find", "class": "Listener", "limit": 1000 });
        let summary = ask(&loaded, json!({ "question": "summary" }));
        let cycles = summary["joined"]["cycles"].clone();
        (ask(&loaded, question)["total"].clone(), cycles)
    };
    assert_eq!(live(&files), (json!(500), Value::Null));
    files.slots = vec!["prog/Item.id=host.slots".to_owned()];
    let (listeners, cycles) = live(&files);
    assert_eq!(listeners, 51);
    // What is not alive any more is named, by class.
    let count = |class: &str| {
        let mut classes = cycles["classes"].as_array().unwrap().iter();
        classes.find(|one| one["className"] == class).unwrap()["count"].clone()
    };
    assert_eq!(
        (count("Listener"), count("prog/Item")),
        (json!(449), json!(449))
    );
    assert!(cycles["count"].as_u64().unwrap() >= 898, "{cycles}");
}
