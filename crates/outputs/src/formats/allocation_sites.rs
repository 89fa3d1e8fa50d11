//! What is alive by the line that allocated it, as text.

use super::names::size;
use super::rows::{Left, Right, table};
use super::text::{format_count, printable_name};
use questions::AllocationSites;

/// Renders the first `limit` sites.
pub fn allocation_sites_text(sites: &AllocationSites, limit: usize) -> String {
    let shown = sites.sites.len().min(limit);
    let mut lines = vec![match sites.exact {
        true if sites.other_objects.is_some() => format!(
            "live {}, by the function that allocated it, as V8 recorded it",
            size(sites.total_live_size)
        ),
        true => format!(
            "live {}, by the line that allocated it; every allocation was recorded",
            size(sites.total_live_size)
        ),
        false => format!(
            "live {}, by the line that allocated it; estimated from a sample every {} on average",
            size(sites.total_live_size),
            size(sites.interval)
        ),
    }];
    if shown < sites.sites.len() {
        lines.push(format!(
            "{} of {} lines are listed",
            format_count(shown as u64),
            format_count(sites.sites.len() as u64)
        ));
    }
    if sites.other_blocks > 0 {
        lines.push(format!(
            "{} blocks with {} hold no object in the dump: heap.alloc, or freed before the dump",
            format_count(sites.other_blocks),
            size(sites.other_bytes)
        ));
    }
    if let Some(others) = sites.other_objects.filter(|others| others.count > 0) {
        lines.push(format!(
            "{} objects with {} were not recorded: they are older than the tracking, or of V8 itself",
            format_count(others.count),
            size(others.size)
        ));
    }
    lines.push(String::new());
    let rows: Vec<_> = sites
        .sites
        .iter()
        .take(limit)
        .map(|site| {
            let place = match site.place.file.as_str() {
                "" => String::new(),
                file => format!("{}:{}", printable_name(file), site.place.line),
            };
            let of_sample = match (sites.exact, site.size_error) {
                (true, _) => String::new(),
                (false, error) => format!("± {} ({})", size(error), format_count(site.samples)),
            };
            [
                size(site.retained_size),
                format_count(site.count),
                size(site.size),
                of_sample,
                printable_name(&site.place.function),
                place,
            ]
        })
        .collect();
    let retained = match sites.exact {
        true => "Retained",
        false => "Retained ≥",
    };
    let error = match sites.exact {
        true => "",
        false => "Error (samples)",
    };
    let heading = [
        (retained, Right),
        ("Objects", Right),
        ("Size", Right),
        (error, Left),
        ("Function", Left),
        ("Line", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}
