//! What changed since an earlier heap.

use serde::Serialize;

use crate::loaded_heap::LoadedHeap;
use crate::paths::{MergedPaths, merged_paths, set_of_new};
use crate::summary::{Summary, summary};
use crate::suspects::{SuspectOptions, Suspects, suspects};
use base::control::Control;
use base::error::Result;
use heap::views::{ComparisonRow, ComparisonSort, Selection};

/// Classes that are listed one by one.
const CLASSES: usize = 500;

/// Path groups of new objects.
const PATHS: usize = 50;

const SUSPECTS: SuspectOptions = SuspectOptions {
    threshold: None,
    limit: 20,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportComparison {
    before: Summary,
    growth: Suspects,
    /// All classes together.
    total: Changes,
    rows: Vec<ComparedRow>,
    /// How many classes are not listed, and their changes.
    rest_classes: u64,
    rest: Changes,
    /// Why the new objects are alive.
    new_paths: MergedPaths,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ComparedRow {
    class_name: String,
    #[serde(flatten)]
    changes: Changes,
}

#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Changes {
    new_count: u64,
    deleted_count: u64,
    allocated_size: u64,
    freed_size: u64,
}

impl Changes {
    fn of(rows: &[ComparisonRow]) -> Self {
        Self {
            new_count: rows.iter().map(|row| row.new_count).sum(),
            deleted_count: rows.iter().map(|row| row.deleted_count).sum(),
            allocated_size: rows.iter().map(|row| row.allocated_size).sum(),
            freed_size: rows.iter().map(|row| row.freed_size).sum(),
        }
    }
}

pub(super) fn compare_classes(
    loaded: &LoadedHeap,
    before: &LoadedHeap,
    control: &Control,
) -> Result<ReportComparison> {
    let selection = Selection::sorted(ComparisonSort::Delta);
    let view = loaded.compared_with(before, selection, control)?;
    let rows = view.rows();
    let (listed, rest) = rows.split_at(CLASSES.min(rows.len()));
    let new = set_of_new(loaded, before, "before", None, control)?;
    Ok(ReportComparison {
        before: summary(before, control)?,
        growth: suspects(loaded, &SUSPECTS, Some(before), control)?,
        total: Changes::of(rows),
        rows: listed
            .iter()
            .map(|row| ComparedRow {
                class_name: row.class_name.clone(),
                changes: Changes::of(std::slice::from_ref(row)),
            })
            .collect(),
        rest_classes: rest.len() as u64,
        rest: Changes::of(rest),
        new_paths: merged_paths(loaded, new, PATHS, control)?,
    })
}
