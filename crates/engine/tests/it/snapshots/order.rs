//! Two snapshots of one process, in the order of time and not.

use serde_json::{Value, json};

use super::{Snapshot, opened};
use engine::Control;
use engine::outputs::formats::{TableOptions, render_text};
use engine::questions::{Answer, LoadedHeap, Question};

/// A snapshot of a process that made this many objects.
fn after(objects: usize) -> LoadedHeap {
    let mut snapshot = Snapshot::new();
    for nth in 0..objects {
        let node = snapshot.node("object", "Session", 40);
        snapshot.edge(1, "element", nth as u64, node);
    }
    opened(snapshot.text().as_bytes()).unwrap()
}

fn suspects(heap: &LoadedHeap, before: &LoadedHeap) -> Answer {
    let question: Question = serde_json::from_value(json!({ "question": "suspects" })).unwrap();
    engine::questions::ask(heap, &question, Some(before), &Control::default()).unwrap()
}

fn codes(answer: &Answer) -> Vec<Value> {
    let json = serde_json::to_value(answer).unwrap();
    let warnings = json["warnings"].as_array().unwrap().iter();
    warnings.map(|one| one["code"].clone()).collect()
}

#[test]
fn snapshots_in_the_order_of_time_have_no_warning() {
    assert!(codes(&suspects(&after(9), &after(3))).is_empty());
    assert!(codes(&suspects(&after(3), &after(3))).is_empty());
}

#[test]
fn snapshots_in_the_wrong_order_have_a_warning_with_which_the_answer_begins() {
    let answer = suspects(&after(3), &after(9));
    assert_eq!(codes(&answer), ["WARN_OUT_OF_ORDER"]);
    let text = render_text(&answer, TableOptions::default());
    assert!(text.starts_with("DOUBTFUL: "), "{text}");
    assert!(
        text.contains("the snapshots are in the wrong order"),
        "{text}"
    );
}
