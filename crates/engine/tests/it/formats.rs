//! JSON against `serde_json`, and the properties of tables.

use std::io::Read;
use std::sync::Arc;

use crate::support::Scene;
use engine::Control;
use engine::heap::Heap;
use engine::heap::views::{ComparisonView, ConstructorView, Selection};
use engine::outputs::formats::{DEFAULT_WIDTH, Document, JsonStream, TableOptions, render_table};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

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
            address: one.address.0,
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
            address: one.address.0,
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

/// A heap with the given number of live objects of each named class.
fn heap_with(classes: &[(&str, u32)]) -> Arc<Heap> {
    let mut scene = Scene::new();
    let holder = scene.class("~holder");
    for (name, count) in classes {
        let class = scene.class(name);
        let list = scene.generic(&format!("~lib/staticarray/StaticArray<{name}>"), &[&class]);
        let objects: Vec<u32> = (0..*count).map(|_| scene.object(class, 12).0).collect();
        let list = scene.object_of(list, &objects);
        scene.global("assembly/index/list", holder, list);
    }
    Arc::new(scene.analyze())
}

fn constructors(classes: &[(&str, u32)]) -> ConstructorView {
    ConstructorView::new(
        heap_with(classes),
        Selection::default(),
        &Control::default(),
    )
    .unwrap()
}

fn comparison(before: &[(&str, u32)], after: &[(&str, u32)]) -> ComparisonView {
    let (before, after) = (heap_with(before), heap_with(after));
    ComparisonView::new(before, after, Selection::default(), &Control::default()).unwrap()
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

// JSON.

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

// Tables.

fn table(document: &dyn Document, width: Option<usize>, color: bool) -> String {
    let options = TableOptions {
        width,
        color,
        ..TableOptions::default()
    };
    render_table(document, options)
}

/// Without the escape sequences for colours.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    first
        + &parts
            .map(|part| part.split_once('m').unwrap().1)
            .collect::<String>()
}

/// Names of every kind of width, and numbers of every sign.
fn varied_comparison() -> ComparisonView {
    comparison(
        &[
            ("assembly/index/Session", 40),
            ("~lib/map/Map<i32,assembly/server/Session>", 3),
        ],
        &[
            ("assembly/index/Session", 2),
            ("モジュール/索引/とても長い名前のクラス", 700),
            ("e\u{301}te\u{301}/👩‍👩‍👧/Ø", 8),
            (
                "~lib/array/Array<~lib/map/Map<~lib/string/String,assembly/index/Deep>>",
                1,
            ),
        ],
    )
}

#[test]
fn no_line_of_a_table_is_wider_than_asked() {
    let comparison = varied_comparison();
    let view = ConstructorView::new(
        heap_with(&[("モジュール/索引/クラス", 70), ("a", 1)]),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    for document in [&comparison as &dyn Document, &view] {
        for width in 1..=200 {
            for color in [false, true] {
                let text = plain(&table(document, Some(width), color));
                for line in text.lines() {
                    assert!(line.width() <= width, "{width}: {line:?}");
                }
            }
        }
    }
}

#[test]
fn a_terminal_that_reports_no_columns_gets_a_table_of_80() {
    let view = varied_comparison();
    assert_eq!(
        table(&view, Some(0), false),
        table(&view, Some(DEFAULT_WIDTH), false)
    );
}

#[test]
fn one_long_name_does_not_make_every_row_long() {
    let long = format!("start{}end", "x".repeat(10 << 20));
    let mut classes = vec![(long, 1)];
    classes.extend((0..500).map(|nth| (format!("class{nth}"), 1)));
    let classes: Vec<_> = classes
        .iter()
        .map(|(name, count)| (&name[..], *count))
        .collect();
    let text = table(&constructors(&classes), None, false);
    let longest = text.lines().map(str::width).max().unwrap();
    assert!(longest < 500, "{longest}");
    let line = text.lines().find(|line| line.starts_with("start")).unwrap();
    assert!(line.contains("x…x") && line.contains("xend "), "{line}");
}

#[test]
fn a_table_without_a_width_shows_whole_names() {
    let view = varied_comparison();
    let text = table(&view, None, false);
    for row in view.rows() {
        assert!(text.contains(&row.class_name), "{}", row.class_name);
    }
}

#[test]
fn a_name_that_is_cut_keeps_its_start_and_its_end() {
    let view = varied_comparison();
    let text = table(&view, Some(90), false);
    let line = text
        .lines()
        .find(|line| line.starts_with("~lib/arr"))
        .unwrap();
    assert!(
        line.contains('…') && line.contains("index/Deep>>"),
        "{line}"
    );
}

#[test]
fn colours_are_used_only_when_asked_for() {
    let view = varied_comparison();
    assert!(!table(&view, Some(120), false).contains('\u{1b}'));
    assert!(table(&view, Some(120), true).contains("\u{1b}[31m"));
}

#[test]
fn colours_change_nothing_else() {
    let view = varied_comparison();
    for width in [None, Some(20), Some(100), Some(160)] {
        assert_eq!(
            plain(&table(&view, width, true)),
            table(&view, width, false)
        );
    }
}

#[test]
fn a_name_cannot_control_the_terminal() {
    let mut scene = Scene::new();
    let class = scene.class("two\nlines\u{1b}[31m");
    let object = scene.object(class, 12);
    // Pinned objects are named above the table, too.
    scene.pin(object);
    let heap = Arc::new(scene.analyze());
    let view = ConstructorView::new(heap, Selection::default(), &Control::default()).unwrap();
    let text = table(&view, None, false);
    assert!(text.contains("\ntwo\\nlines\\u{1b}[31m  "), "{text}");
    assert!(!text.contains('\u{1b}'));
}

/// How a table names a class.
fn printed(name: &str) -> String {
    let text = table(&constructors(&[(name, 1)]), None, false);
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("Constructor"));
    let mut names = rows.skip(1).map(|line| line.split("  ").next().unwrap());
    names
        .find(|name| !name.starts_with("~lib/static"))
        .unwrap()
        .to_owned()
}

#[test]
fn visible_characters_of_any_script_are_printed_as_they_are() {
    for name in [
        "ダンプ",
        "\\'\"",
        "e\u{301}te\u{301}",
        "👩\u{200d}👧",
        "❤\u{fe0f}\u{200d}🔥",
        "क\u{94d}\u{200d}ष",
    ] {
        assert_eq!(printed(name), name);
    }
}

#[test]
fn invisible_characters_are_escaped() {
    for invisible in [
        '\u{202e}',
        '\u{9b}',
        '\u{2028}',
        '\u{200b}',
        '\u{a0}',
        '\u{3000}',
        '\u{ad}',
        '\u{34f}',
        '\u{115f}',
        '\u{2800}',
        '\u{3164}',
        '\u{ffa0}',
        '\u{fe00}',
        '\u{e0100}',
        '\u{2064}',
    ] {
        let escaped = format!("a\\u{{{:x}}}b", invisible as u32);
        assert_eq!(printed(&format!("a{invisible}b")), escaped);
    }
}

#[test]
fn joiners_and_selectors_are_escaped_where_they_change_nothing_visible() {
    assert_eq!(printed("a\u{200d}b\u{fe0f}"), "a\\u{200d}b\\u{fe0f}");
    assert_eq!(printed("👩\u{200d}\u{200d}"), "👩\u{200d}\\u{200d}");
    assert_eq!(printed("\u{200c}"), "\\u{200c}");
}

#[test]
fn growth_is_red_and_shrinkage_green() {
    let view = comparison(&[("shrunk", 2)], &[("grown", 9)]);
    let text = table(&view, None, true);
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(line("grown").contains("\u{1b}[31m") && !line("grown").contains("\u{1b}[32m"));
    assert!(line("shrunk").contains("\u{1b}[32m") && !line("shrunk").contains("\u{1b}[31m"));
}

#[test]
fn every_line_of_a_table_ends_in_the_same_column() {
    let view = varied_comparison();
    let text = table(&view, Some(130), false);
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("Constructor"))
        .collect();
    assert_eq!(lines.len(), 1 + view.rows().len());
    for line in &lines {
        assert_eq!(line.width(), lines[0].width(), "{line:?}");
    }
}

#[test]
fn the_totals_stand_above_the_table() {
    let view = comparison(&[("a", 1)], &[("a", 3)]);
    let text = table(&view, None, false);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("heap 38.4 KiB → 38.4 KiB (0 B)"));
    assert_eq!(lines.next(), Some("live 64 B → 128 B (+64 B)"));
    assert_eq!(lines.next(), Some(""));
}

#[test]
fn a_table_without_rows_has_its_heading() {
    let text = table(&comparison(&[], &[]), None, false);
    assert_eq!(
        text,
        "heap 38.4 KiB → 38.4 KiB (0 B)\nlive 0 B → 0 B (0 B)\n\nConstructor  New  Deleted  Delta  Alloc. size  Freed size  Size delta\n"
    );
}

#[test]
fn the_table_of_a_heap_begins_with_where_its_bytes_are() {
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    let pinned = scene.object(class, 12);
    scene.pin(pinned);
    scene.object(class, 28);
    scene.raw(&[0; 7]);
    scene.foreign_pages(2);
    let kept = scene.object(class, 44);
    scene.push_on_stack(kept);
    let heap = Arc::new(scene.analyze());
    let view = ConstructorView::new(heap, Selection::default(), &Control::default()).unwrap();
    let text = table(&view, None, false);
    let (accounting, _) = text.split_once("\n\n").unwrap();
    assert_eq!(
        accounting,
        "heap 230.4 KiB
  live           96 B  global 0 B, stack 64 B, pinned 32 B
  garbage        48 B  not collected yet
  raw            32 B  allocated without a class
  free      102.2 KiB  2 blocks, largest 63.9 KiB, fragmentation 37 %
  overhead       20 B  of the allocator
  gaps      128.0 KiB  not the allocator's
collector idle
pinned 1 × assembly/index/Node"
    );
}
