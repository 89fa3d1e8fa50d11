//! JSON against `serde_json`.

use std::io::Read;
use std::sync::Arc;

use super::{comparison, constructors};
use engine::heap::views::{ComparisonView, ConstructorView};
use engine::outputs::formats::{Document, JsonStream};
use serde::Serialize;

// The public shapes, as an independent description of the keys and their order.

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConstructorJson {
    total_heap_size: u64,
    total_live_size: u64,
    constructors: Vec<ConstructorRowJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConstructorRowJson {
    class_name: String,
    count: u64,
    total_shallow_size: u64,
    total_retained_size: u64,
    instances: Vec<InstanceJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InstanceJson {
    address: u32,
    shallow_size: u64,
    retained_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_kind: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparisonJson {
    before_total_heap_size: u64,
    after_total_heap_size: u64,
    total_heap_size_delta: i64,
    before_total_live_size: u64,
    after_total_live_size: u64,
    total_live_size_delta: i64,
    constructors: Vec<ComparisonRowJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparisonRowJson {
    class_name: String,
    new_count: u64,
    deleted_count: u64,
    count_delta: i64,
    allocated_size: u64,
    freed_size: u64,
    size_delta: i64,
    instances: Vec<InstanceJson>,
}

fn constructor_json(view: &ConstructorView) -> ConstructorJson {
    let rows = view.rows().iter().enumerate().map(|(nth, row)| {
        let listed = view.instances(nth).unwrap().unwrap();
        let instances = listed.iter().map(|one| InstanceJson {
            address: one.address.0 as u32,
            shallow_size: one.shallow_size,
            retained_size: one.retained_size,
            change_kind: None,
        });
        ConstructorRowJson {
            class_name: row.class_name.clone(),
            count: row.count,
            total_shallow_size: row.total_shallow_size,
            total_retained_size: row.total_retained_size,
            instances: instances.collect(),
        }
    });
    ConstructorJson {
        total_heap_size: view.heap().total_size.unwrap(),
        total_live_size: view.heap().live_size,
        constructors: rows.collect(),
    }
}

fn comparison_json(view: &ComparisonView) -> ComparisonJson {
    let rows = view.rows().iter().enumerate().map(|(nth, row)| {
        let listed = view.instances(nth).unwrap().unwrap();
        let instances = listed.iter().zip(0..).map(|(one, nth)| InstanceJson {
            address: one.address.0 as u32,
            shallow_size: one.shallow_size,
            retained_size: one.retained_size,
            change_kind: Some(if nth < row.new_count { "new" } else { "delete" }),
        });
        ComparisonRowJson {
            class_name: row.class_name.clone(),
            new_count: row.new_count,
            deleted_count: row.deleted_count,
            count_delta: row.count_delta(),
            allocated_size: row.allocated_size,
            freed_size: row.freed_size,
            size_delta: row.size_delta(),
            instances: instances.collect(),
        }
    });
    let (before, after) = (view.before(), view.after());
    ComparisonJson {
        before_total_heap_size: before.total_size.unwrap(),
        after_total_heap_size: after.total_size.unwrap(),
        total_heap_size_delta: after.total_size.unwrap() as i64 - before.total_size.unwrap() as i64,
        before_total_live_size: before.live_size,
        after_total_live_size: after.live_size,
        total_live_size_delta: after.live_size as i64 - before.live_size as i64,
        constructors: rows.collect(),
    }
}

#[track_caller]
fn assert_same_json<D: Document>(view: D, expected: &impl Serialize) {
    let text = text(JsonStream::new(view));
    let expected = serde_json::to_string_pretty(expected).unwrap() + "\n";
    // Not `assert_eq!`, which would print two texts of a megabyte.
    assert!(text == expected, "{text:.2000}\nexpected\n{expected:.2000}");
}

/// All of a stream.
fn text<D: Document>(mut stream: JsonStream<D>) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(stream.fraction(), 1.0);
    text
}

#[test]
fn the_json_of_an_empty_view_has_an_empty_list() {
    let view = constructors(&[]);
    let expected = constructor_json(&view);
    assert_same_json(Arc::new(view), &expected);
}

#[test]
fn the_json_of_an_empty_comparison_has_an_empty_list() {
    let view = comparison(&[], &[]);
    let expected = comparison_json(&view);
    assert_same_json(Arc::new(view), &expected);
}

#[test]
fn the_json_of_a_view_is_that_of_serde_json() {
    let view = constructors(&[("a", 1), ("b", 2), ("c", 300)]);
    let expected = constructor_json(&view);
    assert_same_json(Arc::new(view), &expected);
}

#[test]
fn the_json_of_a_comparison_is_that_of_serde_json() {
    let view = comparison(
        &[("a", 5), ("b", 20), ("c", 3)],
        &[("c", 3), ("a", 9), ("d", 2)],
    );
    let expected = comparison_json(&view);
    assert_same_json(Arc::new(view), &expected);
}

#[test]
fn the_json_of_many_instances_is_that_of_serde_json() {
    let view = Arc::new(constructors(&[("a", 10), ("b", 12_000), ("c", 1)]));
    let expected = constructor_json(&view);
    assert_same_json(view, &expected);
}

#[test]
fn the_json_of_many_rows_is_that_of_serde_json() {
    let names: Vec<String> = (0..1500).map(|nth| format!("class{nth}")).collect();
    let classes: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let view = Arc::new(constructors(&classes));
    let expected = constructor_json(&view);
    assert_same_json(view, &expected);
}

#[test]
fn json_can_be_read_in_portions_of_any_size() {
    let view = Arc::new(constructors(&[("a", 10), ("b", 300)]));
    let whole = text(JsonStream::new(Arc::clone(&view)));
    for size in [1, 7, 4096, 1 << 20] {
        let mut stream = JsonStream::new(Arc::clone(&view));
        let mut portion = vec![0; size];
        let mut joined = Vec::new();
        let mut last_fraction = 0.0;
        loop {
            let length = stream.read(&mut portion).unwrap();
            joined.extend_from_slice(&portion[..length]);
            assert!(stream.fraction() >= last_fraction);
            last_fraction = stream.fraction();
            if length == 0 {
                break;
            }
        }
        assert!(joined == whole.as_bytes(), "portions of {size} bytes");
    }
}

#[test]
fn the_accounting_is_added_to_json_as_its_last_key_when_asked_for() {
    for classes in [&[][..], &[("a", 3)]] {
        let view = Arc::new(constructors(classes));
        let without = text(JsonStream::new(Arc::clone(&view)));
        let with = text(JsonStream::new(view).with_accounting());
        let start = without.trim_end().strip_suffix("\n}").unwrap();
        let added = with.strip_prefix(start).unwrap();
        let added = added.strip_prefix(",\n  \"accounting\": ").unwrap();
        let added = added.strip_suffix("\n}\n").unwrap();
        // Indented by two more than it would be by itself.
        let value: serde_json::Value = serde_json::from_str(added).unwrap();
        assert_eq!(value["gaps"].is_u64(), added.contains("\n    \"gaps\": "));
        assert!(added.ends_with("\n  }"), "{added}");
    }
}

#[test]
fn names_are_escaped_in_json() {
    let names = [
        "\"quoted\"",
        "back\\slash",
        "new\nline",
        "\u{1}\u{7f}\u{2028}",
        "größe/数/😀",
    ];
    let view = constructors(&names.map(|name| (name, 1)));
    let expected = constructor_json(&view);
    assert_same_json(Arc::new(view), &expected);
}
