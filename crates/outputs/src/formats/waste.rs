//! The answer to `waste` as text: all kinds in one table, then the largest groups of each kind.

use super::names::{class, size};
use super::rows::{Left, Right, table};
use super::text::{counted, format_count, printable};
use questions::{Waste, WasteGroup, WasteHeaders, WasteKind, WasteKindName};

/// The number of holders that are shown for each group.
const HOLDERS: usize = 3;
/// Classes whose headers are shown.
const CLASSES: usize = 5;

/// The words for a kind, and for the objects that it counts.
fn words(kind: WasteKindName) -> (&'static str, &'static str) {
    match kind {
        WasteKindName::DuplicateStrings => ("duplicate strings", "Copies"),
        WasteKindName::DuplicateBuffers => ("duplicate buffers and static arrays", "Copies"),
        WasteKindName::EmptyContainers => ("empty containers", "Containers"),
        WasteKindName::Views => ("large buffers with small views", "Buffers"),
        WasteKindName::ArrayCapacity => ("unused array capacity", "Arrays"),
        WasteKindName::Entries => ("unused and deleted entries", "Maps and sets"),
        WasteKindName::Padding => ("padding", "Objects"),
    }
}

pub(super) fn waste_lines(waste: &Waste) -> Vec<String> {
    let share = match waste.total_live_size {
        0 => 0.0,
        live => waste.total_savings as f64 / live as f64 * 100.0,
    };
    let mut lines = vec![format!(
        "live {}, of which {} ({share:.1} %) could be saved",
        size(waste.total_live_size),
        size(waste.total_savings)
    )];
    let kinds = waste.kinds.iter().map(|kind| {
        let (name, objects) = words(kind.kind);
        [
            format!("  {name}"),
            size(kind.savings),
            match kind.count {
                0 => String::new(),
                count => format!("in {} {}", format_count(count), objects.to_lowercase()),
            },
        ]
    });
    let headers = waste.headers.as_ref().map(|headers| {
        let count: u64 = headers.classes.iter().map(|class| class.count).sum();
        [
            "  headers, which are no savings".to_owned(),
            size(headers.size),
            format!("of {}", counted(count, "object")),
        ]
    });
    let rows: Vec<_> = kinds.chain(headers).collect();
    lines.extend(table([("", Left), ("", Right), ("", Left)], &rows));
    for kind in waste.kinds.iter().filter(|kind| kind.total > 0) {
        lines.push(String::new());
        lines.extend(kind_lines(kind));
    }
    if let Some(headers) = &waste.headers
        && !headers.classes.is_empty()
    {
        lines.push(String::new());
        lines.extend(header_lines(headers));
    }
    lines
}

fn kind_lines(kind: &WasteKind) -> Vec<String> {
    let (name, objects) = words(kind.kind);
    let what = match kind.kind {
        WasteKindName::DuplicateStrings | WasteKindName::DuplicateBuffers => "Contents",
        _ => "Class",
    };
    let shown = kind.groups.len() as u64;
    let groups = if shown == kind.total {
        String::new()
    } else {
        format!(
            " ({} of {} groups)",
            format_count(shown),
            format_count(kind.total)
        )
    };
    let mut lines = vec![format!("{name}{groups}")];
    let rows: Vec<_> = kind
        .groups
        .iter()
        .flat_map(|group| group_rows(kind.kind, group))
        .collect();
    let heading = [
        ("Savings", Right),
        (objects, Right),
        (what, Left),
        ("Held by", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

/// A row for the group with its largest holder, and one for each of the next holders.
fn group_rows(kind: WasteKindName, group: &WasteGroup) -> Vec<[String; 4]> {
    let mut rows = vec![[
        size(group.savings),
        format_count(group.count),
        contents(kind, &group.what),
        String::new(),
    ]];
    let is_one = group.holders.len() == 1;
    for (nth, holder) in group.holders.iter().take(HOLDERS).enumerate() {
        let text = if is_one {
            class(&holder.holder)
        } else {
            format!(
                "{}: {} in {}",
                class(&holder.holder),
                size(holder.savings),
                format_count(holder.count)
            )
        };
        match nth {
            0 => rows[0][3] = text,
            _ => rows.push([String::new(), String::new(), String::new(), text]),
        }
    }
    let rest = group.holders.len().saturating_sub(HOLDERS);
    if rest > 0 {
        let text = format!("{rest} more");
        rows.push([String::new(), String::new(), String::new(), text]);
    }
    rows
}

/// The contents or the class of a group. A string is not shortened like a class name.
fn contents(kind: WasteKindName, what: &str) -> String {
    match kind {
        WasteKindName::DuplicateStrings => printable(what),
        WasteKindName::DuplicateBuffers => match what.split_once(", ") {
            Some((name, contents)) => format!("{}, {}", class(name), printable(contents)),
            None => class(what),
        },
        _ => class(what),
    }
}

fn header_lines(headers: &WasteHeaders) -> Vec<String> {
    let mut lines = vec!["headers, the largest classes".to_owned()];
    let rows: Vec<_> = headers
        .classes
        .iter()
        .take(CLASSES)
        .map(|of| [size(of.size), format_count(of.count), class(&of.class_name)])
        .collect();
    let heading = [("Size", Right), ("Objects", Right), ("Class", Left)];
    lines.extend(table(heading, &rows));
    lines
}
