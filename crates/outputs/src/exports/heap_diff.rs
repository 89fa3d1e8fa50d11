//! heap-diff 0.1: one JSON object a line that says what grew between two heaps, and why some of the new
//! objects are alive.

use questions::path_of;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::output::Output;
use base::control::{Control, Phase};
use base::error::{Error, Result};
use heap::RootKind;
use heap::views::{ChangeKind, ComparisonSort, ComparisonView, ConstructorView, Selection};
use questions::{LoadedHeap, Path, Root, root_kind_name};

/// What a comparison shows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HeapDiffOptions {
    /// How many new objects of each class that grew are shown with their paths.
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
    Growth(Growth<'a>),
    Retained {
        constructor: &'a str,
        size: u64,
        retention_path: Vec<&'a str>,
    },
}

#[derive(Serialize)]
struct Growth<'a> {
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
    if !before.is_same_module(after) {
        return Err(Error::DifferentModules {
            before: baseline.clone(),
            after: target.clone(),
        });
    }
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
    let [earlier, later] = [before, after]
        .map(|heap| ConstructorView::new(Arc::clone(heap.heap()), Selection::default()));
    let growth = growth(&earlier, &later);
    let constructors: Vec<&str> = growth.iter().map(|growth| growth.constructor).collect();
    for growth in growth {
        add(&mut output, &Record::Growth(growth))?;
    }

    let selection = Selection::sorted(ComparisonSort::default()).instances((*samples) as usize);
    let heaps = [before, after].map(|heap| Arc::clone(heap.heap()));
    let [before_heap, after_heap] = heaps;
    let changes = ComparisonView::new(before_heap, after_heap, selection, control)?;
    let rows = changes.rows().iter().zip(0..);
    let rows: HashMap<&str, usize> = rows
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
            let object = after.heap().objects.index.get(instance.address);
            let path = match object {
                Some(object) => path_of(after, object, control)?,
                None => None,
            };
            let root = path.as_ref().map(|path| root_segment(&path.root));
            let retention_path = match (&path, &root) {
                (Some(path), Some(root)) => segments(root, path),
                _ => Vec::new(),
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
fn growth<'v>(before: &'v ConstructorView, after: &'v ConstructorView) -> Vec<Growth<'v>> {
    let earlier: HashMap<&str, (u64, u64)> = before
        .rows()
        .iter()
        .map(|row| (row.class_name.as_str(), (row.count, row.total_shallow_size)))
        .collect();
    let rows = after.rows().iter().map(|row| {
        let constructor = row.class_name.as_str();
        let (count_before, size_before) = earlier.get(constructor).copied().unwrap_or_default();
        Growth {
            constructor,
            count_before,
            count_after: row.count,
            count_delta: row.count as i64 - count_before as i64,
            size_before,
            size_after: row.total_shallow_size,
            size_delta: row.total_shallow_size as i64 - size_before as i64,
        }
    });
    let mut growth: Vec<Growth<'_>> = rows
        .filter(|row| row.count_delta > 0 || row.size_delta > 0)
        .collect();
    growth
        .sort_unstable_by_key(|row| (Reverse((row.size_delta, row.count_delta)), row.constructor));
    growth
}

/// What a path begins with: the name of a global, otherwise what holds the first object.
fn root_segment(root: &Root) -> String {
    match (root.kind, &root.name) {
        (RootKind::Global, Some(name)) => name.clone(),
        (kind, Some(name)) => format!("{} {name}", root_kind_name(kind)),
        (kind, None) => root_kind_name(kind).to_owned(),
    }
}

/// The segments of a path: its beginning and its end, if it is long.
fn segments<'p>(root: &'p str, path: &'p Path) -> Vec<&'p str> {
    let labels = || {
        path.steps
            .iter()
            .filter_map(|step| Some((step.label.as_deref()?, step.repeat)))
    };
    let count = 1 + labels().map(|(_, repeat)| u64::from(repeat)).sum::<u64>();
    let (first, last) = match count > SEGMENTS {
        true => (FIRST_SEGMENTS, SEGMENTS - FIRST_SEGMENTS - 1),
        false => (count, 0),
    };
    let mut segments = vec![root];
    let mut position = 1;
    for (label, repeat) in labels() {
        let end = position + u64::from(repeat);
        let shown_first = first.saturating_sub(position).min(end - position);
        segments.extend((0..shown_first).map(|_| label));
        if count > SEGMENTS && position < first + 1 && end > first {
            segments.push(LEFT_OUT);
        }
        let shown_last = end.saturating_sub((count - last).max(position));
        if last > 0 {
            segments.extend((0..shown_last).map(|_| label));
        }
        position = end;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use questions::Step;

    fn path(labels: &[(&str, u32)]) -> Path {
        let step = |label: Option<&str>, repeat| Step {
            label: label.map(str::to_owned),
            label_text: None,
            address: 0,
            address_text: String::new(),
            class_name: String::new(),
            shallow_size: 0,
            retained_size: 0,
            repeat,
        };
        let labels = labels
            .iter()
            .map(|&(label, repeat)| step(Some(label), repeat));
        Path {
            root: Root {
                kind: RootKind::Global,
                name: None,
            },
            steps: [step(None, 1)].into_iter().chain(labels).collect(),
            text: String::new(),
            fingerprint: String::new(),
            stable: true,
        }
    }

    #[test]
    fn a_path_of_up_to_twenty_segments_is_shown_whole() {
        let path = path(&[("list", 1), ("next", 17), ("value", 1)]);
        let segments = segments("root", &path);
        assert_eq!(segments.len(), 20);
        assert_eq!(segments[..3], ["root", "list", "next"]);
        assert_eq!(segments[18..], ["next", "value"]);
        assert!(!segments.contains(&LEFT_OUT));
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
            assert_eq!(
                segments("root", &path(&[("next", repeat), ("value", 1)])),
                cut
            );
        }
        let labels: Vec<String> = (1..30).map(|nth| nth.to_string()).collect();
        let labels: Vec<(&str, u32)> = labels.iter().map(|label| (label.as_str(), 1)).collect();
        let path = path(&labels);
        let segments = segments("root", &path);
        assert_eq!(segments.len(), 20);
        assert_eq!(segments[8..12], ["8", "9", "...", "21"]);
        assert_eq!(segments[19], "29");
    }
}
