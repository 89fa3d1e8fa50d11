//! A report: the answers that its pages show, bounded so that a file with all of them stays small.

mod answer;
mod cells;
mod comparison;
mod details;
mod strings;
mod unreachable;

use std::sync::Arc;

use serde::Serialize;

use crate::loaded_heap::LoadedHeap;
use crate::parts::class_parts::class_parts;
use crate::summary::{Summary, summary};
use crate::suspects::{SuspectOptions, Suspects, suspects};
use crate::waste::{Waste, WasteOptions, waste};
pub use answer::Report;
use base::control::Control;
use base::error::Result;
use base::side_by_side::side_by_side;
use base::warning::Warning;
use cells::{Cells, make_cells};
use comparison::{ReportComparison, compare_classes};
use details::{Detail, make_details};
use heap::SizeParts;
use heap::views::{ConstructorSort, ConstructorView, RetainedColumns, Selection};
use unreachable::{UnreachablePart, unreachable_part};

/// Classes that are listed one by one.
const CLASSES: usize = 1000;

/// Entries of the other lists: suspects, groups of waste and their holders.
const ENTRIES: u64 = 20;
const SUSPECTS: SuspectOptions = SuspectOptions {
    threshold: None,
    limit: ENTRIES,
};
const WASTE: WasteOptions = WasteOptions {
    limit: ENTRIES,
    offset: 0,
};

/// What the pages show.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    dump: String,
    before: Option<String>,
    summary: Summary,
    suspects: Suspects,
    classes: ReportClasses,
    cells: Cells,
    details: Vec<Detail>,
    comparison: Option<ReportComparison>,
    /// `None` if the heap does not say what objects contain.
    waste: Option<Waste>,
    /// Absent for a snapshot, which contains only what is alive.
    unreachable: Option<UnreachablePart>,
}

/// The live objects by class.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportClasses {
    rows: Vec<ReportedClass>,
    /// What is not listed.
    rest: RestOfClasses,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportedClass {
    class_name: String,
    count: u64,
    shallow_size: u64,
    /// Of heaps that were joined: these bytes by heap, here and below.
    #[serde(skip_serializing_if = "Option::is_none")]
    shallow_parts: Option<SizeParts>,
    retained_size: u64,
    retained_set_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retained_set_parts: Option<SizeParts>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestOfClasses {
    classes: u64,
    count: u64,
    shallow_size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shallow_parts: Option<SizeParts>,
}

/// What the pages of a report show; with an earlier heap of the same module a comparison as well.
///
/// # Errors
/// [`Error`](base::Error): `DifferentModules` for a comparison of two programs, `DumpChanged` and `Io` if the
/// dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn report(
    loaded: &LoadedHeap,
    before: Option<&LoadedHeap>,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Report> {
    if let Some(before) = before {
        before.check_same_module(loaded)?;
    }
    let lacks = loaded.source.facts().lacks;
    // The path tree takes one thread, and nearly as long as everything in which nothing needs it.
    let by_dominators = || {
        loaded.cuts(control)?;
        let cells = make_cells(loaded, control)?;
        let unreachable = match lacks.garbage {
            None => Some(unreachable_part(loaded, notes, control)?),
            Some(_) => None,
        };
        Ok((cells, unreachable))
    };
    let by_paths = || {
        loaded.path_tree(control)?;
        classes_by_retained_set(loaded, control)
    };
    let ((cells, unreachable), classes) = side_by_side(by_dominators, by_paths)?;
    let compare = || match before {
        Some(before) => compare_classes(loaded, before, control).map(Some),
        None => Ok(None),
    };
    let mut waste_notes = Vec::new();
    let find_waste = || match lacks.contents {
        None => waste(loaded, &WASTE, &mut waste_notes, control).map(Some),
        Some(_) => Ok(None),
    };
    let (comparison, waste) = side_by_side(compare, find_waste)?;
    notes.append(&mut waste_notes);
    Ok(strings::packed(&Body {
        dump: loaded.dump_name.clone(),
        before: before.map(|before| before.dump_name.clone()),
        summary: summary(loaded, control)?,
        suspects: suspects(loaded, &SUSPECTS, None, control)?,
        classes,
        details: make_details(loaded, &cells, control)?,
        cells,
        comparison,
        waste,
        unreachable,
    }))
}

fn classes_by_retained_set(loaded: &LoadedHeap, control: &Control) -> Result<ReportClasses> {
    let view = ConstructorView::with_retained_sets(
        Arc::clone(&loaded.heap),
        Selection::sorted(ConstructorSort::RetainedSet),
        RetainedColumns::Both,
        control,
    )?;
    let (listed, rest) = view.rows().split_at(CLASSES.min(view.rows().len()));
    let parts = class_parts(loaded, &view, control)?;
    let rest_parts = parts.get(listed.len()..).filter(|_| !parts.is_empty());
    let rows = listed.iter().enumerate().map(|(nth, row)| ReportedClass {
        class_name: row.class_name.clone(),
        count: row.count,
        shallow_size: row.total_shallow_size,
        shallow_parts: parts.get(nth).map(|parts| parts.shallow),
        retained_size: row.total_retained_size,
        retained_set_size: row.retained_set_size.unwrap_or_default(),
        retained_set_parts: parts.get(nth).map(|parts| parts.retained_set),
    });
    Ok(ReportClasses {
        rows: rows.collect(),
        rest: RestOfClasses {
            classes: rest.len() as u64,
            count: rest.iter().map(|row| row.count).sum(),
            shallow_size: rest.iter().map(|row| row.total_shallow_size).sum(),
            shallow_parts: rest_parts.map(|rest| {
                rest.iter().fold(SizeParts::default(), |mut sum, parts| {
                    sum.add(parts.shallow);
                    sum
                })
            }),
        },
    })
}
