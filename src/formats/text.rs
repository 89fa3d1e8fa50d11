//! Pieces of text for eyes: sizes with units, names made fit to print, columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) use crate::units::format_size;

/// A number with a comma before every three digits.
pub(super) fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

pub(super) fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// A name with everything escaped that cannot be seen: a name comes from the module, and must neither
/// break a line, nor give orders to the terminal, nor turn the direction of what stands beside it.
pub(super) fn escape_unprintable(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for piece in name.split_inclusive(KEPT) {
        let text = piece.trim_end_matches(KEPT);
        escaped.extend(text.escape_debug());
        escaped.push_str(&piece[text.len()..]);
    }
    escaped
}

/// What the library escapes, but is no danger: quotes, backslashes, and the joiners that emoji and some
/// scripts need.
const KEPT: [char; 5] = ['"', '\'', '\\', '\u{200c}', '\u{200d}'];

/// Cuts a name in the middle: both the module at its start and the class at its end tell much.
pub(super) fn shorten(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let kept = width.saturating_sub(1);
    let start = take_width(name.chars(), kept / 3);
    let end: String = take_width(name.chars().rev(), kept - kept / 3)
        .chars()
        .rev()
        .collect();
    format!("{start}…{end}")
}

pub(super) fn fit(line: &str, width: Option<usize>) -> String {
    match width {
        Some(width) if line.width() > width => take_width(line.chars(), width),
        _ => line.to_owned(),
    }
}

/// As many characters as fit into `width` columns.
fn take_width(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or_default();
            used <= width
        })
        .collect()
}
