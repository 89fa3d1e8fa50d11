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
use crate::parts::sums::{ByteSum, GroupedObjects, retained_sums};
use crate::summary::{Summary, summary};
use crate::suspects::{SuspectOptions, Suspects, suspects};
use crate::waste::{Waste, WasteOptions, waste};
pub use answer::Report;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::side_by_side::side_by_side;
use base::warning::Warning;
use cells::{Cells, make_cells};
use comparison::{ReportComparison, compare_classes};
use details::{Detail, make_details};
use heap::views::{ConstructorSort, ConstructorView, RetainedColumns, Selection};
use heap::{Need, SizeParts};
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
    retained_size: u64,
    retained_set_size: u64,
    /// Of heaps that were joined: these bytes by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    retained_set_parts: Option<SizeParts>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestOfClasses {
    classes: u64,
    count: u64,
    shallow_size: u64,
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
    // The path tree takes one thread, and nearly as long as everything in which nothing needs it.
    let by_dominators = || {
        loaded.cuts(control)?;
        let cells = make_cells(loaded, control)?;
        let unreachable = match loaded.source.check(Need::Garbage) {
            Ok(()) => Some(unreachable_part(loaded, notes, control)?),
            Err(_) => None,
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
    let find_waste = || match loaded.source.check(Need::Contents) {
        Ok(()) => waste(loaded, &WASTE, &mut waste_notes, control).map(Some),
        Err(_) => Ok(None),
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
    let parts = retained_set_parts(loaded, &view, listed.len(), control)?;
    let rows = listed.iter().enumerate().map(|(nth, row)| ReportedClass {
        class_name: row.class_name.clone(),
        count: row.count,
        shallow_size: row.total_shallow_size,
        retained_size: row.total_retained_size,
        retained_set_size: row.retained_set_size.unwrap_or_default(),
        retained_set_parts: parts.get(nth).and_then(|sum| sum.parts),
    });
    Ok(ReportClasses {
        rows: rows.collect(),
        rest: RestOfClasses {
            classes: rest.len() as u64,
            count: rest.iter().map(|row| row.count).sum(),
            shallow_size: rest.iter().map(|row| row.total_shallow_size).sum(),
        },
    })
}

/// By row: what its objects retain together, by heap. Nothing for one heap.
fn retained_set_parts(
    loaded: &LoadedHeap,
    view: &ConstructorView,
    rows: usize,
    control: &Control,
) -> Result<Vec<ByteSum>> {
    if loaded.source.joined().is_none() {
        return Ok(Vec::new());
    }
    let mut objects = Vec::new();
    let mut group_of = Vec::new();
    for object in loaded.heap.live_heap_objects() {
        let row = view.row_of_slot(loaded.heap.objects.class_slots[object.at()]);
        if let Some(row) = row.filter(|&row| (row as usize) < rows) {
            columns::push(&mut objects, object)?;
            columns::push(&mut group_of, row)?;
        }
    }
    let grouped = GroupedObjects {
        objects: &objects,
        group_of: &group_of,
        groups: rows,
    };
    retained_sums(loaded, grouped, control)
}
