//! Snapshots as programs other than Node and Chrome write them.

use serde_json::json;

use super::{classes, everything, opened, text};
use engine::questions::LoadedHeap;
use engine::{Control, DumpBytes, InMemory, Input, Reading, Tolerance};

#[test]
fn a_byte_order_mark_changes_nothing() {
    let plain = everything().text();
    let marked = format!("\u{feff}{plain}");
    assert_eq!(classes(marked.as_bytes()), classes(plain.as_bytes()));
}

#[test]
fn ids_of_64_bits_are_numbered_anew_with_a_warning() {
    let snapshot = everything();
    let mut json = snapshot.json();
    json["nodes"][8] = json!(0x7f00_1234_5678u64);
    let wide = text(&json);
    assert_eq!(
        classes(wide.as_bytes()),
        classes(snapshot.text().as_bytes())
    );
    let heap = opened(wide.as_bytes()).unwrap();
    let codes: Vec<_> = heap.warnings().iter().map(|one| one.code()).collect();
    assert_eq!(codes, ["WARN_IDS_RENUMBERED"]);
    assert!(!heap.source().facts().keeps_numbers);
}

#[test]
fn ids_of_32_bits_stay() {
    let heap = opened(everything().text().as_bytes()).unwrap();
    assert!(heap.warnings().is_empty());
    assert!(heap.source().facts().keeps_numbers);
}

/// What `partial` reads of the start of a snapshot.
fn start_of(length: usize) -> engine::Result<LoadedHeap> {
    let text = everything().text();
    let tolerance = Tolerance {
        damage: true,
        ..Tolerance::default()
    };
    let reading = Reading {
        tolerance,
        ..Reading::default()
    };
    let file = Input {
        name: "app.heapsnapshot",
        bytes: text.as_bytes()[..length].to_vec(),
    };
    let none: Option<&Input<'_, Vec<u8>>> = None;
    let keep = |bytes: Vec<u8>| Ok((bytes, Box::new(InMemory(Vec::new())) as Box<dyn DumpBytes>));
    engine::open(file, none, &reading, false, keep, &Control::default())
}

#[test]
fn a_snapshot_that_ends_in_its_texts_is_read_in_part_with_all_its_sizes() {
    let text = everything().text();
    let whole = opened(text.as_bytes()).unwrap();
    let texts = text.find("\"strings\"").unwrap();
    for length in [texts, texts + 30, text.len() - 2] {
        let heap = start_of(length).unwrap();
        assert!(heap.heap().is_partial);
        assert_eq!(heap.heap().live_size, whole.heap().live_size);
        assert_eq!(heap.warnings()[0].code(), "WARN_PARTIAL");
    }
}

#[test]
fn a_snapshot_that_ends_before_its_references_is_refused_in_part_too() {
    let text = everything().text();
    for length in [0, 20, text.find("\"edges\"").unwrap() + 20] {
        assert!(start_of(length).is_err());
    }
}

#[test]
fn every_prefix_of_a_snapshot_is_read_in_part_or_refused() {
    for length in 0..everything().text().len() {
        let _ = start_of(length);
    }
}
