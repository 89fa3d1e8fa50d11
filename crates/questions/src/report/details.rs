//! The paths and the referrers of the largest cells.

use std::cmp::Reverse;

use serde::Serialize;

use super::cells::Cells;
use crate::loaded_heap::LoadedHeap;
use crate::parts::cut::{Cut, path_and_cut};
use crate::parts::path::{Path, PathStep};
use crate::parts::references::Edge;
use crate::parts::roots::Root;
use crate::referrers::{ReferrerOptions, referrers};
use base::control::Control;
use base::error::Result;

/// Cells that have details.
const CELLS: usize = 200;

/// Referrers that are listed.
const REFERRERS: u64 = 5;

/// Steps at the beginning of a long path that are listed, and as many at its end.
const HALF_OF_STEPS: usize = 8;

/// Why the object of a cell is alive.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Detail {
    /// The number of the cell.
    cell: u32,
    preview: Option<String>,
    path: Option<ShortPath>,
    cut: Option<Cut>,
    /// How many references there are, roots included.
    referrer_count: u64,
    /// The first of them.
    referrers: Vec<Edge>,
}

/// A path without its middle.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShortPath {
    root: Root,
    steps: Vec<PathStep>,
    /// How many steps there are before those that are left out.
    left_out_after: usize,
    /// How many are left out.
    left_out: usize,
    fingerprint: String,
    stable: bool,
}

impl From<Path> for ShortPath {
    fn from(path: Path) -> Self {
        let Path {
            root,
            mut steps,
            fingerprint,
            stable,
            ..
        } = path;
        let left_out = steps.len().saturating_sub(2 * HALF_OF_STEPS);
        if left_out > 0 {
            steps.drain(HALF_OF_STEPS..HALF_OF_STEPS + left_out);
        }
        Self {
            root,
            steps,
            left_out_after: HALF_OF_STEPS,
            left_out,
            fingerprint,
            stable,
        }
    }
}

pub(super) fn make_details(
    loaded: &LoadedHeap,
    cells: &Cells,
    control: &Control,
) -> Result<Vec<Detail>> {
    let with_objects = cells
        .all
        .iter()
        .zip(0u32..)
        .filter_map(|(cell, nth)| Some((Reverse(cell.retained_size), nth, cell.object?)));
    let mut largest: Vec<_> = with_objects.collect();
    largest.sort_unstable();
    largest.truncate(CELLS);
    let mut reader = loaded.reader(control);
    let mut details = Vec::new();
    for (_, cell, object) in largest {
        control.check()?;
        let (path, cut) = path_and_cut(loaded, object, loaded.heap.retained_size(object), control)?;
        let options = ReferrerOptions {
            address: loaded.heap.address(object).0,
            limit: REFERRERS,
            offset: 0,
        };
        let found = referrers(loaded, &options, &mut Vec::new(), control)?;
        details.push(Detail {
            cell,
            preview: reader.preview(object)?,
            path: path.map(ShortPath::from),
            cut,
            referrer_count: found.total,
            referrers: found.referrers,
        });
    }
    Ok(details)
}
