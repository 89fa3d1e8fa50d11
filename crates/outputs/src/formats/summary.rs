//! The answer to `summary` as text.

use super::accounting::accounting_lines_of;
use super::names::{size, sizes};
use super::text::{counted, format_count, printable_name};
use base::trap::Trap;
use heap::Category;
use questions::{CategorySum, JoinedSums, KeptByCycles, PinCounts, SizeParts, Summary};

/// Classes of cycles across the border that are named.
const NAMED_CLASSES: usize = 5;

pub(super) fn summary_lines(summary: &Summary) -> Vec<String> {
    let mut lines = match summary.total_heap_size {
        Some(total) => vec![format!("heap {}", size(total))],
        None if summary.joined.is_some() => Vec::new(),
        None => vec![format!(
            "live {}{}",
            size(summary.total_live_size),
            outside(summary)
        )],
    };
    lines.extend(summary.accounting.iter().flat_map(accounting_lines_of));
    lines.extend(summary.joined.iter().flat_map(|sums| joined_lines(sums)));
    let mut objects = format!("objects {} live", format_count(summary.objects.live));
    for (count, what) in [
        (summary.objects.garbage, "garbage"),
        (summary.objects.statics, "static"),
    ] {
        if let Some(count) = count {
            objects.push_str(&format!(", {} {what}", format_count(count)));
        }
    }
    lines.push(format!(
        "{objects}; {} classes",
        format_count(summary.classes)
    ));
    if let Some(unreferenced) = summary.unreferenced {
        lines.push(format!(
            "unreferenced {}, {}",
            counted(unreferenced.count, "block"),
            size(unreferenced.shallow_size)
        ));
    }
    if let Some(system) = summary.roots.system {
        let pinned = match summary.joined {
            Some(_) => format!(", {} pinned", format_count(summary.roots.pinned)),
            None => String::new(),
        };
        lines.push(format!(
            "roots {} global, {} system{pinned}",
            format_count(summary.roots.global),
            format_count(system)
        ));
        lines.extend(
            summary
                .categories
                .iter()
                .filter(|sum| sum.count > 0)
                .map(category_line),
        );
        return lines;
    }
    let (last, what) = match summary.roots.unreferenced {
        Some(unreferenced) => (unreferenced, "unreferenced"),
        None => (summary.roots.pinned, "pinned"),
    };
    let host = summary.roots.host.filter(|&host| host > 0);
    let host = host.map_or_else(String::new, |host| format!("{} host, ", format_count(host)));
    lines.push(format!(
        "roots {} global, {} stack, {host}{} {what}",
        format_count(summary.roots.global),
        format_count(summary.roots.stack),
        format_count(last)
    ));
    lines.extend(summary.trap.iter().flat_map(trap_lines));
    lines
}

/// How much of the live bytes is of no object.
fn outside(summary: &Summary) -> String {
    summary.outside_size.map_or_else(String::new, |outside| {
        format!(
            ", of which {} outside of the heap are of no object",
            size(outside)
        )
    })
}

/// The sums of two heaps that were joined, and what is known of the holders of pinned objects.
fn joined_lines(sums: &JoinedSums) -> Vec<String> {
    let totals = [("JavaScript", sums.javascript), ("wasm", sums.wasm)];
    let mut lines: Vec<String> = totals
        .iter()
        .map(|(what, totals)| {
            format!(
                "{what} {} in {} objects",
                size(totals.live_size),
                format_count(totals.objects)
            )
        })
        .collect();
    let PinCounts {
        total,
        exact,
        derived,
        possible,
        awaiting_release,
        unseen,
        with_stack,
    } = sums.pinned;
    let of_unseen = if sums.numbers_read && sums.closures_read {
        "whose address no JavaScript number equals"
    } else {
        "whose address no number that was read equals"
    };
    let parts = [
        (exact, "with an exact holder"),
        (derived, "with a derived holder"),
        (possible, "with possible holders only"),
        (awaiting_release, "whose wrapper was collected"),
        (unseen, of_unseen),
    ];
    let parts = parts.into_iter().filter(|&(count, _)| count > 0);
    let parts: Vec<String> = parts
        .map(|(count, what)| format!("{} {what}", format_count(count)))
        .collect();
    let parts = if parts.is_empty() {
        String::new()
    } else {
        format!(": {}", parts.join(", "))
    };
    lines.push(format!("pinned {}{parts}", format_count(total)));
    if with_stack > 0 {
        lines.push(format!(
            "of {} pinned objects without a holder, it is known who pinned them",
            format_count(with_stack)
        ));
    }
    lines.extend(sums.cycles.as_ref().map(cycle_line));
    if !sums.numbers_read {
        lines.push("not all numbers in arrays, maps, sets and wrappers were read".to_owned());
    }
    if !sums.closures_read {
        lines.push("variables of functions were not read".to_owned());
    }
    lines
}

/// What only cycles across the border keep: how much, and the classes with most objects.
fn cycle_line(cycles: &KeptByCycles) -> String {
    let named: Vec<String> = cycles
        .classes
        .iter()
        .take(NAMED_CLASSES)
        .map(|class| {
            format!(
                "{} {}",
                format_count(class.count),
                printable_name(&class.class_name)
            )
        })
        .collect();
    let more = if cycles.classes.len() > NAMED_CLASSES {
        ", …"
    } else {
        ""
    };
    let SizeParts { javascript, wasm } = cycles.shallow_parts;
    format!(
        "only cycles across the border keep {}, {}: {}{more}",
        counted(cycles.count, "object"),
        sizes(javascript + wasm, Some(cycles.shallow_parts)),
        named.join(", ")
    )
}

/// The functions that were running, the innermost first.
fn trap_lines(trap: &Trap) -> Vec<String> {
    let total = counted(trap.total, "frame");
    let mut lines = vec![format!("trap: {total}, the innermost first")];
    lines.extend(trap.frames.iter().map(|frame| {
        let function = printable_name(&frame.function);
        let place = match frame.line {
            0 => String::new(),
            line => format!(" ({}:{line})", printable_name(&frame.file)),
        };
        format!(
            "  at {function}{place} [function {}+{:#x}]",
            frame.index, frame.offset
        )
    }));
    lines
}

fn category_line(sum: &CategorySum) -> String {
    let what = match sum.category {
        Category::DetachedNodes => "detached DOM nodes",
        Category::EventHandlers => "event handlers",
        Category::Contexts => "contexts",
        Category::Console => "the console",
    };
    let (count, bytes) = (format_count(sum.count), size(sum.shallow_size));
    format!("only {what} keep {count} objects alive, {bytes}")
}
