//! Rows in columns, and the sentence about the listed part of a list.

use unicode_width::UnicodeWidthStr;

use super::text::{format_count, pad_left, pad_right, shorten};

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Align {
    Left,
    Right,
}

pub(super) use Align::{Left, Right};

/// What is between the cells of a row until it is laid out. Names that are printable do not contain it.
const CELL: char = '\u{1f}';

/// A space at which a line is not wrapped. Names that are printable do not contain it.
pub(super) const JOINED: char = '\u{1e}';

/// A space of a command. Where the command is wrapped, a shell continues it. Names that are printable do not contain it.
pub(super) const CONTINUED: char = '\u{1d}';

/// What is between the cells of a row that is laid out.
const GAP: &str = "  ";

/// Columns are never shortened below this width.
const LEAST_WIDTH: usize = 12;

/// The largest indent of the lines on which a sentence continues.
const MOST_INDENT: usize = 8;

/// Columns with headings. [`laid_out`] puts them two spaces apart.
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
        let cells = cells
            .iter()
            .zip(heading)
            .zip(widths)
            .map(|((cell, (_, align)), width)| match align {
                Left => pad_right(cell, width),
                Right => pad_left(cell, width),
            });
        cells.collect::<Vec<_>>().join(&CELL.to_string())
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

/// Lines as they are printed, of at most `width` columns where that is possible: of rows, the widest columns are
/// shortened; everything else continues on the next line, and loses nothing.
pub(super) fn laid_out(lines: &[String], width: Option<usize>) -> Vec<String> {
    let cells_of = |line: &String| line.matches(CELL).count();
    let mut laid_out = Vec::new();
    for block in lines.chunk_by(|one, next| cells_of(one) == cells_of(next)) {
        if cells_of(&block[0]) > 0 {
            laid_out.extend(fitting_rows(block, width));
        } else {
            let wrapped = block.iter().flat_map(|line| {
                if line.contains(CONTINUED) {
                    continued(line, width)
                } else {
                    wrapped(line, width)
                }
            });
            laid_out.extend(wrapped.map(|line| line.replace(JOINED, " ")));
        }
    }
    laid_out
}

/// Rows of as many columns each.
fn fitting_rows(rows: &[String], width: Option<usize>) -> Vec<String> {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.split(CELL).collect()).collect();
    let columns = rows.first().map_or(0, Vec::len);
    let mut widths = vec![0; columns];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let room = width
        .unwrap_or(usize::MAX)
        .saturating_sub(GAP.len() * columns.saturating_sub(1));
    while let excess @ 1.. = widths.iter().sum::<usize>().saturating_sub(room) {
        let widest = widths.iter().copied().max().unwrap_or_default();
        let next = widths.iter().copied().filter(|&width| width < widest).max();
        let least = next.unwrap_or_default().max(LEAST_WIDTH);
        if widest <= LEAST_WIDTH {
            break;
        }
        if let Some(width) = widths.iter_mut().find(|width| **width == widest) {
            *width = widest.saturating_sub(excess).max(least).min(widest - 1);
        }
    }
    let line = |row: Vec<&str>| {
        let cells = row.into_iter().zip(&widths).map(|(cell, &width)| {
            if cell.width() > width {
                pad_right(&shortened(cell.trim_end(), width), width)
            } else {
                pad_right(cell, width)
            }
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    rows.into_iter().map(line).collect()
}

/// A cell without a part of its middle; it keeps its indent.
fn shortened(cell: &str, width: usize) -> String {
    let text = cell.trim_start();
    let indent = cell.len() - text.len();
    format!(
        "{}{}",
        &cell[..indent],
        shorten(text, width.saturating_sub(indent))
    )
}

/// A sentence on lines of at most `width` columns, of which all but the first are indented. A word that is longer stays
/// whole.
fn wrapped(line: &str, width: Option<usize>) -> Vec<String> {
    let line = line.trim_end();
    let Some(width) = width.filter(|&width| line.width() > width) else {
        return vec![line.to_owned()];
    };
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let marker = match text.split_once(". ") {
        Some((number, _)) if number.bytes().all(|byte| byte.is_ascii_digit()) => number.len() + 2,
        _ => 2,
    };
    let hanging = " ".repeat((indent + marker).min(MOST_INDENT).min(width / 2));
    let mut lines = Vec::new();
    let mut current = line[..indent].to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        let gap = usize::from(!is_empty);
        if !is_empty && current.width() + gap + word.width() > width {
            lines.push(std::mem::replace(&mut current, hanging.clone()));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current += word;
        is_empty = false;
    }
    lines.push(current);
    lines
}

/// A command on lines of at most `width` columns, each of which ends as a shell expects it if another one follows.
fn continued(line: &str, width: Option<usize>) -> Vec<String> {
    const MARK: &str = " \\";
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let mut lines = Vec::new();
    let mut current = line[..indent].to_owned();
    let mut is_empty = true;
    let mut words = text.split(CONTINUED).peekable();
    while let Some(word) = words.next() {
        let mark = words.peek().map_or(0, |_| MARK.len());
        let needed = current.width() + usize::from(!is_empty) + word.width() + mark;
        if !is_empty && width.is_some_and(|width| needed > width) {
            lines.push(std::mem::take(&mut current) + MARK);
            current = " ".repeat(indent + 2);
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current += word;
        is_empty = false;
    }
    lines.push(current);
    lines
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_continue_on_the_next_line_and_lose_nothing() {
        let text =
            "1. One assembly/server/PriceFeed at 0x1234 retains 383.8 KiB, 90 % of the live bytes.";
        let lines = laid_out(&[text.to_owned()], Some(40));
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| line.width() <= 40), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.starts_with("   ")));
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&lines.join(" ")), words(text));
        assert_eq!(laid_out(&[text.to_owned()], None), [text]);
    }

    #[test]
    fn a_word_that_is_longer_than_the_line_stays_whole() {
        let word = "x".repeat(60);
        let lines = laid_out(&[format!("Path: {word} end")], Some(40));
        assert_eq!(
            lines,
            ["Path:".to_owned(), format!("  {word}"), "  end".to_owned()]
        );
    }

    #[test]
    fn of_rows_the_widest_columns_are_shortened_and_stay_aligned() {
        let rows = [
            [
                "1".to_owned(),
                format!("{}End", "Long".repeat(20)),
                "12 B".to_owned(),
            ],
            ["1,000".to_owned(), "Short".to_owned(), "3 B".to_owned()],
        ];
        let lines = table([("", Right), ("", Left), ("", Right)], &rows);
        let lines = laid_out(&lines, Some(40));
        assert!(
            lines[0].contains('…') && lines[0].contains("End  12 B"),
            "{lines:?}"
        );
        assert!(lines[1].contains("Short"), "{lines:?}");
        assert_eq!(
            lines.iter().map(|line| line.width()).collect::<Vec<_>>(),
            [40, 40]
        );
    }
}
