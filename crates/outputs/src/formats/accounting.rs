//! Renderings of the accounting: JSON for programs, lines of text for people.

use super::text::{format_size, printable_name};
use heap::Accounting;
use questions::{AccountingJson, PinnedJson};

/// The accounting as a JSON object, indented by two spaces.
pub fn accounting_json(accounting: &Accounting) -> String {
    // Numbers and strings always serialize.
    serde_json::to_string_pretty(&AccountingJson::from(accounting)).unwrap_or_default()
}

/// The accounting as lines, each part of the heap with its size.
pub(super) fn accounting_lines(accounting: &Accounting) -> Vec<String> {
    accounting_lines_of(&AccountingJson::from(accounting))
}

/// The same for an accounting that is part of an answer.
pub(super) fn accounting_lines_of(accounting: &AccountingJson) -> Vec<String> {
    let AccountingJson { live, free, .. } = accounting;
    let live_size = live.global + live.stack + live.pinned;
    let parts = [
        (
            "live",
            live_size,
            format!(
                "global {}, stack {}, pinned {}",
                format_size(live.global),
                format_size(live.stack),
                format_size(live.pinned)
            ),
        ),
        (
            "garbage",
            accounting.garbage,
            "not collected yet".to_owned(),
        ),
        (
            "raw",
            accounting.raw,
            "allocated without a class".to_owned(),
        ),
        (
            "free",
            free.bytes,
            format!(
                "{} block{}, largest {}, fragmentation {:.0} %",
                free.blocks,
                if free.blocks == 1 { "" } else { "s" },
                format_size(free.largest),
                free.fragmentation * 100.0
            ),
        ),
        (
            "overhead",
            accounting.overhead,
            "of the allocator".to_owned(),
        ),
        ("gaps", accounting.gaps, "not the allocator's".to_owned()),
        ("unread", accounting.unread, "after the damage".to_owned()),
    ];
    let mut lines: Vec<_> = parts
        .into_iter()
        .filter(|&(label, size, _)| label != "unread" || size > 0)
        .map(|(label, size, remark)| format!("  {label:<9}{:>10}  {remark}", format_size(size)))
        .collect();
    let state = accounting.collector.unwrap_or("in an unknown state");
    lines.push(format!("collector {state}"));
    for PinnedJson { class_name, count } in &accounting.pinned {
        lines.push(format!("pinned {count} × {}", printable_name(class_name)));
    }
    lines
}
