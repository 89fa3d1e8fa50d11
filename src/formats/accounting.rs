//! Renderings of the accounting: JSON for programs, lines of text for people.

use serde::Serialize;

use super::text::{format_size, printable_name};
use crate::heap::Accounting;
use crate::runtime::collector::CollectorState;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AccountingJson<'a> {
    live: LiveJson,
    garbage: u64,
    raw: u64,
    free: FreeJson,
    overhead: u64,
    gaps: u64,
    unread: u64,
    collector: Option<&'static str>,
    pinned: Vec<PinnedJson<'a>>,
}

#[derive(Serialize)]
struct LiveJson {
    global: u64,
    stack: u64,
    pinned: u64,
}

#[derive(Serialize)]
struct FreeJson {
    bytes: u64,
    blocks: u64,
    largest: u64,
    fragmentation: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PinnedJson<'a> {
    class_name: &'a str,
    count: u64,
}

/// The accounting as a JSON object, indented by two spaces.
pub fn accounting_json(accounting: &Accounting) -> String {
    let pinned = accounting.pinned.iter();
    let json = AccountingJson {
        live: LiveJson {
            global: accounting.live.global,
            stack: accounting.live.stack,
            pinned: accounting.live.pinned,
        },
        garbage: accounting.garbage,
        raw: accounting.raw,
        free: FreeJson {
            bytes: accounting.free.bytes,
            blocks: accounting.free.blocks,
            largest: accounting.free.largest,
            // Rounded to four digits, which are the same on every machine.
            fragmentation: (accounting.free.fragmentation() * 1e4).round() / 1e4,
        },
        overhead: accounting.overhead,
        gaps: accounting.gaps,
        unread: accounting.unread,
        collector: accounting.collector.map(state_name),
        pinned: pinned
            .map(|(class_name, count)| PinnedJson {
                class_name,
                count: *count,
            })
            .collect(),
    };
    // Numbers and strings always serialize.
    serde_json::to_string_pretty(&json).unwrap_or_default()
}

/// The accounting as lines, each part of the heap with its size.
pub(super) fn accounting_lines(accounting: &Accounting) -> Vec<String> {
    let Accounting { live, free, .. } = accounting;
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
                free.fragmentation() * 100.0
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
    let state = accounting
        .collector
        .map_or("in an unknown state", state_name);
    lines.push(format!("collector {state}"));
    for (class_name, count) in &accounting.pinned {
        lines.push(format!("pinned {count} × {}", printable_name(class_name)));
    }
    lines
}

fn state_name(state: CollectorState) -> &'static str {
    match state {
        CollectorState::Idle => "idle",
        CollectorState::Marking => "marking",
        CollectorState::Sweeping => "sweeping",
    }
}
