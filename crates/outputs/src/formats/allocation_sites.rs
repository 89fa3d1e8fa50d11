//! What is alive by the line that allocated it, as text.

use super::names::{class, size};
use super::rows::{Left, Right, laid_out, table};
use super::text::{format_count, printable_name};
use questions::{AllocationSites, SiteGrowth};

/// Renders the first `limit` sites, on lines of at most `width` columns.
pub fn allocation_sites_text(
    sites: &AllocationSites,
    limit: usize,
    width: Option<usize>,
) -> String {
    // What holds nothing any more is for programs, which read it as JSON.
    let kept: Vec<_> = sites
        .sites
        .iter()
        .filter(|site| site.retained_size > 0 || site.count > 0)
        .collect();
    let shown = kept.len().min(limit);
    let live = size(sites.total_live_size);
    let mut lines = vec![if sites.exact && sites.other_objects.is_some() {
        format!("live {live}, by the function that allocated it, as V8 recorded it")
    } else if sites.exact {
        format!("live {live}, by the line that allocated it; every allocation was recorded")
    } else {
        format!(
            "live {live}, by the line that allocated it; estimated from a sample every {} on average",
            size(sites.interval)
        )
    }];
    if shown < kept.len() {
        lines.push(format!(
            "{} of {} lines are listed",
            format_count(shown as u64),
            format_count(kept.len() as u64)
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
    let rows: Vec<_> = kept
        .into_iter()
        .take(limit)
        .map(|site| {
            let place = line(&site.place.file, site.place.line);
            let of_sample = match (sites.exact, site.size_error) {
                (true, _) => String::new(),
                (false, error) => format!("± {} ({})", size(error), format_count(site.samples)),
            };
            [
                size(site.retained_size),
                format_count(site.count),
                size(site.size),
                of_sample,
                class(&site.place.function),
                place,
            ]
        })
        .collect();
    let retained = if sites.exact {
        "Retained"
    } else {
        "Retained ≥"
    };
    let error = if sites.exact { "" } else { "Error (samples)" };
    let heading = [
        (retained, Right),
        ("Objects", Right),
        ("Size", Right),
        (error, Left),
        ("Function", Left),
        ("Line", Left),
    ];
    lines.extend(table(heading, &rows));
    text_of(&lines, width)
}

/// All lines, with rows in columns.
fn text_of(lines: &[String], width: Option<usize>) -> String {
    let lines = laid_out(lines, width).into_iter();
    lines.map(|line| line + "\n").collect()
}

fn line(file: &str, line: u32) -> String {
    match file {
        "" => String::new(),
        file => format!("{}:{line}", printable_name(file)),
    }
}

/// Renders the first `limit` lines of a comparison, on lines of at most `width` columns.
pub fn site_growth_text(growth: &SiteGrowth, limit: usize, width: Option<usize>) -> String {
    let shown = growth.sites.len().min(limit);
    let change = growth.live_size_after as i64 - growth.live_size_before as i64;
    let others = [growth.other_objects_before, growth.other_objects_after];
    let is_of_v8 = others.iter().any(Option::is_some);
    let mut lines = vec![format!(
        "live {} before, {} after ({}), by the {}",
        size(growth.live_size_before),
        size(growth.live_size_after),
        signed(change, size),
        if growth.exact && is_of_v8 {
            "function that allocated it, as V8 recorded it"
        } else if growth.exact {
            "line that allocated it; every allocation was recorded"
        } else {
            "line that allocated it; estimated from samples"
        }
    )];
    if shown < growth.sites.len() {
        lines.push(format!(
            "{} of {} lines are listed",
            format_count(shown as u64),
            format_count(growth.sites.len() as u64)
        ));
    }
    if is_of_v8 {
        let [before, after] = others.map(Option::unwrap_or_default);
        lines.push(format!(
            "{} objects with {} before, and {} with {} after, were not recorded: they are older than the tracking, or of V8 itself",
            format_count(before.count),
            size(before.size),
            format_count(after.count),
            size(after.size)
        ));
    }
    lines.push(String::new());
    let rows: Vec<_> = growth
        .sites
        .iter()
        .take(limit)
        .map(|site| {
            let error = if growth.exact {
                String::new()
            } else {
                format!("± {}", size(site.size_error))
            };
            [
                signed(site.size_change, size),
                error,
                size(site.size_before),
                size(site.size_after),
                signed(site.count_change, format_count),
                format_count(site.count_before),
                format_count(site.count_after),
                class(&site.place.function),
                line(&site.place.file, site.place.line),
            ]
        })
        .collect();
    let heading = [
        ("Size", Right),
        (if growth.exact { "" } else { "Error" }, Left),
        ("Before", Right),
        ("After", Right),
        ("Objects", Right),
        ("Before", Right),
        ("After", Right),
        ("Function", Left),
        ("Line", Left),
    ];
    lines.extend(table(heading, &rows));
    text_of(&lines, width)
}

fn signed(change: i64, format: impl Fn(u64) -> String) -> String {
    let sign = match change {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", format(change.unsigned_abs()))
}
