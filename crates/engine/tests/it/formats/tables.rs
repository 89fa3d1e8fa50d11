//! The properties of tables.

use std::sync::Arc;

use super::{comparison, constructors, heap_with};
use crate::support::Scene;
use engine::Control;
use engine::heap::views::{ComparisonView, ConstructorView, Selection};
use engine::outputs::formats::{DEFAULT_WIDTH, Document, TableOptions, render_table};
use unicode_width::UnicodeWidthStr;

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
