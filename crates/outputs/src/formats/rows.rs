//! Rows in columns, and the sentence about the listed part of a list.

use unicode_width::UnicodeWidthStr;

use super::text::{format_count, pad_left, pad_right};

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) use Align::{Left, Right};

/// Columns with headings, two spaces apart.
pub(super) fn table<const N: usize>(
    heading: [(&str, Align); N],
    rows: &[[String; N]],
) -> Vec<String> {
    let mut widths = heading.map(|(title, _)| title.width());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let line = |cells: [&str; N]| {
        let cells = cells.iter().zip(heading).zip(widths);
        let cells = cells.map(|((cell, (_, align)), width)| match align {
            Left => pad_right(cell, width),
            Right => pad_left(cell, width),
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    let rows = rows
        .iter()
        .map(|row| line(row.each_ref().map(String::as_str)));
    let title = line(heading.map(|(title, _)| title));
    let has_titles = heading.iter().any(|(title, _)| !title.is_empty());
    has_titles
        .then_some(title)
        .into_iter()
        .chain(rows)
        .collect()
}

/// A sentence about the listed part of a list.
pub(super) fn part(total: u64, offset: u64, shown: usize, what: &str) -> String {
    let shown = shown as u64;
    let total_text = format_count(total);
    match (offset, shown) {
        (0, shown) if shown == total => format!("{total_text} {what}"),
        (_, 0) => format!(
            "{total_text} {what}, none of them from number {} on",
            offset + 1
        ),
        (offset, shown) => format!(
            "{total_text} {what}, of which {} to {}",
            format_count(offset + 1),
            format_count(offset + shown)
        ),
    }
}
