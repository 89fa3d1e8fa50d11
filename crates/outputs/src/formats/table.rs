//! Human-readable tables: aligned columns, sizes with units, lines up to a given width.

use unicode_width::UnicodeWidthStr;

use super::accounting::accounting_lines;
use super::document::{Document, Measure, Total};
use super::text::{fit, format_size, pad_left, pad_right, printable_name, shorten};

/// Options of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions {
    /// The largest width of a line; `None` for no limit, 0 for [`DEFAULT_WIDTH`].
    pub width: Option<usize>,
    /// Whether to use terminal colours.
    pub color: bool,
    /// Whether negative numbers begin with the minus sign of ASCII, which other programs read.
    pub ascii_minus: bool,
}

/// The width of a line on a terminal that reports 0 columns, as terminals of unknown size do.
pub const DEFAULT_WIDTH: usize = 80;

const GAP: &str = "  ";
const NAME_TITLE: &str = "Constructor";
/// Names are never shortened below this width. Numbers are never shortened.
const MINIMUM_NAME_WIDTH: usize = 8;

const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const RESET: &str = "\u{1b}[0m";

/// Renders the totals and one line per row. Instances are left out.
pub fn render_table(document: &dyn Document, options: TableOptions) -> String {
    let width = options.width.map(|width| match width {
        0 => DEFAULT_WIDTH,
        width => width,
    });
    let columns = document.columns();
    let rows: Vec<_> = (0..document.row_count())
        .filter_map(|nth| document.row(nth))
        .collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let measured = columns.iter().zip(&row.numbers);
            measured
                .map(|(column, &number)| format_number(number, column.measure, options))
                .collect()
        })
        .collect();
    let number_widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let widest = cells
                .iter()
                .map(|row| row[at].width())
                .max()
                .unwrap_or_default();
            widest.max(column.title.width())
        })
        .collect();
    let numbers_width: usize = number_widths.iter().map(|width| width + GAP.len()).sum();
    let names: Vec<String> = rows
        .iter()
        .map(|row| printable_name(row.class_name))
        .collect();
    let longest_name = names
        .iter()
        .map(|name| name.width())
        .max()
        .unwrap_or_default();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(numbers_width));
    let name_width = longest_name
        .max(NAME_TITLE.len())
        .min(room.max(MINIMUM_NAME_WIDTH));

    let mut lines = summary(document, options);
    if let Some(accounting) = document.accounting() {
        // Its first line has the live size, in parts.
        lines.truncate(1);
        lines.extend(accounting_lines(accounting));
    }
    if document.is_partial() {
        lines.insert(
            0,
            "PARTIAL: the heap is damaged, see the warning".to_owned(),
        );
    }
    for line in &mut lines {
        *line = fit(line, width);
    }
    lines.push(String::new());
    let paint = |color: &str, text: String, is_wanted: bool| {
        if is_wanted {
            format!("{color}{text}{RESET}")
        } else {
            text
        }
    };
    // No colours if lines are truncated: this could split an escape sequence.
    let is_cut = name_width + numbers_width > width.unwrap_or(usize::MAX);
    let is_colorful = options.color && !is_cut;
    let mut heading = pad_right(NAME_TITLE, name_width);
    for (column, &width) in columns.iter().zip(&number_widths) {
        heading += GAP;
        heading += &pad_left(column.title, width);
    }
    lines.push(paint(BOLD, fit(&heading, width), options.color));
    for ((row, name), cells) in rows.iter().zip(&names).zip(&cells) {
        let mut line = pad_right(&shorten(name, name_width), name_width);
        for (at, cell) in cells.iter().enumerate() {
            line += GAP;
            let cell = pad_left(cell, number_widths[at]);
            let is_delta = matches!(
                columns[at].measure,
                Measure::CountDelta | Measure::SizeDelta
            );
            line += &match row.numbers[at] {
                grown if is_delta && grown > 0 => paint(RED, cell, is_colorful),
                shrunk if is_delta && shrunk < 0 => paint(GREEN, cell, is_colorful),
                _ => cell,
            };
        }
        lines.push(if is_cut { fit(&line, width) } else { line });
    }
    lines
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

fn summary(document: &dyn Document, options: TableOptions) -> Vec<String> {
    let size = |bytes: u64| format_number(bytes as i64, Measure::Size, options);
    let line = |total: Total| {
        let after = size(total.after.1);
        match (total.before, total.delta()) {
            (Some(((_, before), _)), Some((_, delta))) => {
                let delta = format_number(delta, Measure::SizeDelta, options);
                format!("{} {} → {after} ({delta})", total.label, size(before))
            }
            _ => format!("{} {after}", total.label),
        }
    };
    document.totals().into_iter().map(line).collect()
}

fn format_number(number: i64, measure: Measure, options: TableOptions) -> String {
    let sign = match measure {
        Measure::CountDelta | Measure::SizeDelta if number > 0 => "+",
        _ if number < 0 && options.ascii_minus => "-",
        _ if number < 0 => "−",
        _ => "",
    };
    let magnitude = number.unsigned_abs();
    match measure {
        Measure::Count | Measure::CountDelta => format!("{sign}{magnitude}"),
        Measure::Size | Measure::SizeDelta => format!("{sign}{}", format_size(magnitude)),
    }
}
