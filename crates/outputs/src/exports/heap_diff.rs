//! heap-diff 0.1: one JSON object a line that says what grew between two heaps, and why some of the new
//! objects are alive.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::output::Output;
use base::control::{Control, Phase};
use base::error::Result;
use base::sorting::sorted_by;
use base::units::ObjectAddress;
use heap::views::{ChangeKind, ComparisonSort, ComparisonView, ConstructorView, Selection};
use heap::{PATH_STARTS, RootKind};
use questions::{LoadedHeap, Path, path_of, root_kind_name};

/// What a comparison as heap-diff shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HeapDiffOptions {
    /// How many new objects of each class that grew to show with their paths: a whole number ≥ 0 (default: 10).
    pub samples: u32,
    /// What the earlier dump is called.
    #[serde(skip)]
    pub baseline: String,
    /// What the later dump is called.
    #[serde(skip)]
    pub target: String,
}

impl Default for HeapDiffOptions {
    fn default() -> Self {
        Self {
            samples: 10,
            baseline: "before".to_owned(),
            target: "after".to_owned(),
        }
    }
}

/// Segments of a path that are shown, the one for those that are left out included.
const SEGMENTS: u64 = 20;
/// How many of these come before the segment for those that are left out.
const FIRST_SEGMENTS: u64 = 10;
/// Stands for segments that are left out.
const LEFT_OUT: &str = "...";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record<'a> {
    Header {
        format: &'static str,
        version: &'static str,
        baseline: &'a str,
        target: &'a str,
    },
    Growth(GrownConstructor<'a>),
    Retained {
        constructor: &'a str,
        size: u64,
        retention_path: Vec<String>,
    },
}

#[derive(Serialize)]
struct GrownConstructor<'a> {
    constructor: &'a str,
    count_before: u64,
    count_after: u64,
    count_delta: i64,
    size_before: u64,
    size_after: u64,
    size_delta: i64,
}

/// Writes what grew from one heap to another.
///
/// # Errors
/// As [`LoadedHeap::export`].
pub(super) fn write(
    before: &LoadedHeap,
    after: &LoadedHeap,
    options: &HeapDiffOptions,
    out: &mut dyn Write,
    control: &Control,
) -> Result<()> {
    let HeapDiffOptions {
        samples,
        baseline,
        target,
    } = options;
    before.check_same_module(after)?;
    let mut output = Output::new(out)?;
    add(
        &mut output,
        &Record::Header {
            format: "heap-diff",
            version: "0.1",
            baseline,
            target,
        },
    )?;
    let heaps = [
        after.earlier_heap(before, control)?,
        Arc::clone(after.heap()),
    ];
    let [earlier, later] = heaps
        .clone()
        .map(|heap| ConstructorView::by_name(heap, control));
    let (earlier, later) = (earlier?, later?);
    let growth = growth(&earlier, &later, control)?;
    let constructors: Vec<&str> = growth.iter().map(|growth| growth.constructor).collect();
    for growth in growth {
        add(&mut output, &Record::Growth(growth))?;
    }

    let selection = Selection::sorted(ComparisonSort::default()).instances((*samples) as usize);
    let [before_heap, after_heap] = heaps;
    let changes = ComparisonView::by_name(before_heap, after_heap, selection, control)?;
    let rows: HashMap<&str, usize> = changes
        .rows()
        .iter()
        .zip(0..)
        .map(|(row, nth)| (row.class_name.as_str(), nth))
        .collect();
    let step = control.begin(Phase::Export, constructors.len() as u64);
    step.advance(0)?;
    for constructor in constructors {
        step.advance(1)?;
        let Some(&row) = rows.get(constructor) else {
            continue;
        };
        let Some(instances) = changes.instances(row)? else {
            continue;
        };
        let new = instances
            .iter()
            .filter(|instance| instance.change == Some(ChangeKind::New));
        for instance in new {
            let object = after.heap().objects.at(instance.address);
            let path = match object {
                Some(object) => path_of(after, object, control)?,
                None => None,
            };
            let retention_path = match &path {
                Some(path) => segments(root_segment(path), &names_of(after, path)),
                None => Vec::new(),
            };
            let record = Record::Retained {
                constructor,
                size: instance.shallow_size,
                retention_path,
            };
            add(&mut output, &record)?;
        }
    }
    output.flush()
}

fn add(output: &mut Output<'_>, record: &Record<'_>) -> Result<()> {
    // Numbers, strings and lists of them always serialize.
    let line = serde_json::to_string(record).unwrap_or_default();
    output.text(&line);
    output.text("\n");
    output.flush_if_full()
}

/// The classes of which there are more objects, or more bytes: size delta ↓, count delta ↓, name ↑.
fn growth<'v>(
    before: &'v ConstructorView,
    after: &'v ConstructorView,
    control: &Control,
) -> Result<Vec<GrownConstructor<'v>>> {
    let earlier: HashMap<&str, (u64, u64)> = before
        .rows()
        .iter()
        .map(|row| (row.class_name.as_str(), (row.count, row.total_shallow_size)))
        .collect();
    let rows = after.rows().iter().map(|row| {
        let constructor = row.class_name.as_str();
        let (count_before, size_before) = earlier.get(constructor).copied().unwrap_or_default();
        GrownConstructor {
            constructor,
            count_before,
            count_after: row.count,
            count_delta: row.count as i64 - count_before as i64,
            size_before,
            size_after: row.total_shallow_size,
            size_delta: row.total_shallow_size as i64 - size_before as i64,
        }
    });
    let growth: Vec<GrownConstructor<'_>> = rows
        .filter(|row| row.count_delta > 0 || row.size_delta > 0)
        .collect();
    let key =
        |row: &GrownConstructor<'v>| (Reverse((row.size_delta, row.count_delta)), row.constructor);
    sorted_by(growth, |left, right| key(left).cmp(&key(right)), control)
}

/// What a path begins with: the file of a module, the name of a global, otherwise what holds the first object.
fn root_segment(path: &Path) -> String {
    let root = &path.root;
    match (root.kind, &root.name) {
        (_, Some(name)) if PATH_STARTS.contains(&name.as_str()) => {
            let module = path.steps.first();
            module.map_or_else(|| name.clone(), |step| step.class_name.clone())
        }
        (RootKind::Global | RootKind::System, Some(name)) => name.clone(),
        (kind, Some(name)) => format!("{} {name}", root_kind_name(kind)),
        (kind, None) => root_kind_name(kind).to_owned(),
    }
}

/// The names on a path as the program has them, each with the number of times that it follows itself.
fn names_of(heap: &LoadedHeap, path: &Path) -> Vec<(String, u32)> {
    let object = |address: u64| heap.heap().objects.at(ObjectAddress(address));
    let steps = path.steps.windows(2).filter_map(|pair| {
        let [holder, step] = pair else {
            return None;
        };
        let label = step.label.as_deref()?;
        if label == questions::LEFT_OUT {
            return Some((LEFT_OUT.to_owned(), 1));
        }
        let name = match (object(holder.address), object(step.address)) {
            (Some(holder), Some(target)) => match heap.source().host_names() {
                Some(names) => names.program_name(holder, target, label),
                None => Some(label.to_owned()),
            },
            _ => Some(label.to_owned()),
        };
        Some((name?, step.repeat))
    });
    steps.collect()
}

/// The segments of a path: its beginning and its end, if it is long.
fn segments(root: String, names: &[(String, u32)]) -> Vec<String> {
    let names = || {
        names
            .iter()
            .map(|(name, repeat)| (name, u64::from(*repeat)))
    };
    let count = 1 + names().map(|(_, repeat)| repeat).sum::<u64>();
    let (first, last) = if count > SEGMENTS {
        (FIRST_SEGMENTS, SEGMENTS - FIRST_SEGMENTS - 1)
    } else {
        (count, 0)
    };
    let mut segments = vec![root];
    let mut position = 1;
    for (name, repeat) in names() {
        let end = position + repeat;
        let shown_first = first.saturating_sub(position).min(repeat);
        segments.extend((0..shown_first).map(|_| name.clone()));
        if count > SEGMENTS && position < first + 1 && end > first {
            segments.push(LEFT_OUT.to_owned());
        }
        let shown_last = end.saturating_sub((count - last).max(position));
        if last > 0 {
            segments.extend((0..shown_last).map(|_| name.clone()));
        }
        position = end;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(names: &[(&str, u32)]) -> Vec<String> {
        let names: Vec<(String, u32)> = names
            .iter()
            .map(|&(name, repeat)| (name.to_owned(), repeat))
            .collect();
        super::segments("root".to_owned(), &names)
    }

    #[test]
    fn a_path_of_up_to_twenty_segments_is_shown_whole() {
        let segments = segments(&[("list", 1), ("next", 17), ("value", 1)]);
        assert_eq!(segments.len(), 20);
        assert_eq!(segments[..3], ["root", "list", "next"]);
        assert_eq!(segments[18..], ["next", "value"]);
        assert!(!segments.iter().any(|segment| segment == LEFT_OUT));
    }

    #[test]
    fn a_longer_path_is_cut_in_the_middle() {
        let cut = [
            ["root"; 1].as_slice(),
            &["next"; 9],
            &["..."],
            &["next"; 8],
            &["value"],
        ]
        .concat();
        for repeat in [19, 1000, u32::MAX] {
            assert_eq!(segments(&[("next", repeat), ("value", 1)]), cut);
        }
        let names: Vec<String> = (1..30).map(|nth| nth.to_string()).collect();
        let names: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let segments = segments(&names);
        assert_eq!(segments.len(), 20);
        assert_eq!(segments[8..12], ["8", "9", "...", "21"]);
        assert_eq!(segments[19], "29");
    }
}
