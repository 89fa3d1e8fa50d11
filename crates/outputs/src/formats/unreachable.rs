//! The answer about unreachable memory as text.

use super::names::{class, from_line, size};
use super::rows::{Left, Right, table};
use super::text::{counted, format_count};
use questions::{
    CycleGroup, Garbage, GarbageCycles, RawBlocks, Unreachable, UnreferencedEntry,
    UnreferencedObjects,
};

/// Classes of a group of cycles that are named in its line.
const NAMED_CLASSES: usize = 4;

pub(super) fn unreachable_lines(unreachable: &Unreachable) -> Vec<String> {
    if let Some(unreferenced) = &unreachable.unreferenced {
        return unreferenced_lines(unreferenced);
    }
    let mut lines = garbage_lines(&unreachable.garbage);
    lines.push(String::new());
    if unreachable.garbage.count > 0 {
        lines.extend(cycle_lines(&unreachable.garbage.cycles));
        lines.push(String::new());
    }
    lines.extend(raw_lines(&unreachable.raw));
    if let Some(graph) = &unreachable.graph {
        lines.push(String::new());
        lines.push(format!(
            "graph of {} and {}: in the JSON",
            counted(graph.nodes.len() as u64, "node"),
            counted(graph.edges.len() as u64, "edge")
        ));
    }
    lines
}

fn unreferenced_lines(unreferenced: &UnreferencedObjects) -> Vec<String> {
    if unreferenced.count == 0 {
        return vec!["nothing is unreferenced: a root leads to every block".to_owned()];
    }
    let holders = match unreferenced.total {
        1 => "1 entry holds".to_owned(),
        total => format!("{} entries hold", format_count(total)),
    };
    let mut lines = vec![format!(
        "unreferenced: {}, {}, which {holders}",
        counted(unreferenced.count, "block"),
        size(unreferenced.shallow_size)
    )];
    let mut rows: Vec<_> = unreferenced.entries.iter().map(entry_row).collect();
    let others = unreferenced.total - unreferenced.entries.len() as u64;
    if others > 0 {
        let last = format!("{} others", format_count(others));
        rows.push([last, String::new(), String::new(), String::new()]);
    }
    let heading = [
        ("Address", Right),
        ("Blocks", Right),
        ("Retained", Right),
        ("Class", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

fn entry_row(entry: &UnreferencedEntry) -> [String; 4] {
    [
        entry.address_text.clone(),
        format_count(entry.retained_count),
        size(entry.retained_size),
        class(&entry.class_name) + &from_line(entry.allocated_at.as_ref()),
    ]
}

fn garbage_lines(garbage: &Garbage) -> Vec<String> {
    if garbage.count == 0 {
        return vec!["no garbage: a root reaches every object".to_owned()];
    }
    let mut lines = vec![format!(
        "garbage: {}, {}, which the collector has not freed yet",
        counted(garbage.count, "object"),
        size(garbage.shallow_size)
    )];
    let row = |count: u64, bytes: u64, name: String| [format_count(count), size(bytes), name];
    let classes = garbage.classes.iter();
    let mut rows: Vec<_> = classes
        .map(|of| row(of.count, of.shallow_size, class(&of.class_name)))
        .collect();
    let listed = garbage.classes.iter();
    let count = garbage.count - listed.clone().map(|of| of.count).sum::<u64>();
    let bytes = garbage.shallow_size - listed.map(|of| of.shallow_size).sum::<u64>();
    if count > 0 {
        rows.push(row(count, bytes, "of other classes".to_owned()));
    }
    lines.extend(table(
        [("Count", Right), ("Shallow", Right), ("Class", Left)],
        &rows,
    ));
    lines
}

fn cycle_lines(cycles: &GarbageCycles) -> Vec<String> {
    if cycles.total == 0 {
        return vec!["no cycles among the garbage".to_owned()];
    }
    let mut lines = vec![
        format!(
            "{} among the garbage: {}, {}",
            counted(cycles.total, "cycle"),
            counted(cycles.count, "object"),
            size(cycles.shallow_size)
        ),
        "They are no leak: a tracing collector frees cycles like all other garbage.".to_owned(),
    ];
    let mut rows: Vec<_> = cycles.groups.iter().map(group_row).collect();
    let listed = cycles.groups.iter();
    let other_cycles = cycles.total - listed.clone().map(|group| group.cycles).sum::<u64>();
    let count = cycles.count - listed.clone().map(|group| group.count).sum::<u64>();
    let bytes = cycles.shallow_size - listed.map(|group| group.shallow_size).sum::<u64>();
    if other_cycles > 0 {
        rows.push([
            format_count(other_cycles),
            format_count(count),
            size(bytes),
            String::new(),
            "of other classes".to_owned(),
        ]);
    }
    let heading = [
        ("Cycles", Right),
        ("Objects", Right),
        ("Shallow", Right),
        ("Largest at", Right),
        ("Classes", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

fn group_row(group: &CycleGroup) -> [String; 5] {
    let named = group.classes.iter().take(NAMED_CLASSES);
    let mut classes: Vec<String> = named
        .clone()
        .map(|of| format!("{} {}", format_count(of.count), class(&of.class_name)))
        .collect();
    let others = group.count - named.map(|of| of.count).sum::<u64>();
    if others > 0 {
        classes.push(format!("{} others", format_count(others)));
    }
    let first = group.address_texts.first();
    [
        format_count(group.cycles),
        format_count(group.count),
        size(group.shallow_size),
        first.cloned().unwrap_or_default(),
        classes.join(", "),
    ]
}

fn raw_lines(raw: &RawBlocks) -> Vec<String> {
    if raw.count == 0 {
        return vec!["no raw blocks".to_owned()];
    }
    let mut lines = vec![format!(
        "raw memory (heap.alloc): {}, {}",
        counted(raw.count, "block"),
        size(raw.size)
    )];
    let Some(unreferenced) = &raw.unreferenced else {
        lines.push("Which of them nothing refers to is not known.".to_owned());
        return lines;
    };
    if unreferenced.count == 0 {
        lines.push("Something may refer to each of them.".to_owned());
        return lines;
    }
    lines.push(format!(
        "Nothing seems to refer to {} of them, {}: if no code has their addresses, they are lost.",
        format_count(unreferenced.count),
        size(unreferenced.size)
    ));
    let blocks = unreferenced.blocks.iter();
    let mut rows: Vec<_> = blocks
        .map(|block| [block.address_text.clone(), size(block.size)])
        .collect();
    let listed = unreferenced.blocks.iter();
    let bytes = unreferenced.size - listed.map(|block| u64::from(block.size)).sum::<u64>();
    let others = unreferenced.count - unreferenced.blocks.len() as u64;
    if others > 0 {
        rows.push([format!("{} others", format_count(others)), size(bytes)]);
    }
    lines.extend(table([("Address", Right), ("Size", Right)], &rows));
    lines
}
