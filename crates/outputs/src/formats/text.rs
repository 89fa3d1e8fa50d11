//! Pieces of human-readable text: sizes with units, names that are safe to print, columns.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use base::shown::Shown;

pub(super) use base::units::format_size;

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

/// A number with its noun: `1 object`, `2 objects`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", format_count(count)),
    }
}

pub(super) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

pub(super) fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// The largest width of a name, if there is no other limit. A table pads every name to the width of the
/// longest, so a table of 65,536 classes stays below 30 MB.
const MAXIMUM_NAME_WIDTH: usize = 400;

/// A name for a table: shortened if it is very long, and with everything invisible escaped.
///
/// A name comes from the module. It must not break a line, control the terminal, change the direction
/// of the text beside it, or look like another name.
pub(super) fn printable_name(name: &str) -> String {
    // The name is shortened first, so that a name of megabytes costs nothing after this.
    let name = match Shown(name).parts() {
        Some((start, end)) => Cow::Owned(format!("{start}…{end}")),
        None => Cow::Borrowed(name),
    };
    shorten(&printable(&name), MAXIMUM_NAME_WIDTH)
}

/// A text with everything invisible escaped.
pub(super) fn printable(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Whether a joiner would join the last character to the next one.
    let mut can_join = false;
    // Whether a selector would change the look of the last character.
    let mut can_vary = false;
    for character in text.chars() {
        let is_kept = match character {
            ZERO_WIDTH_NON_JOINER | ZERO_WIDTH_JOINER => can_join,
            TEXT_STYLE | EMOJI_STYLE => can_vary,
            _ => is_visible(character),
        };
        if is_kept {
            escaped.push(character);
        } else {
            escaped.extend(character.escape_default());
        }
        let is_symbol = is_kept && is_visible(character) && !character.is_ascii();
        can_join = is_symbol || (is_kept && matches!(character, TEXT_STYLE | EMOJI_STYLE));
        can_vary = is_symbol;
    }
    escaped
}

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Whether a character is visible, or is the ordinary space.
fn is_visible(character: char) -> bool {
    match character {
        ' '..='~' => true,
        // Characters that are printable for the standard library, but invisible.
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{1d159}'
        | '\u{e0100}'..='\u{e01ef}' => false,
        // The debug form of a string escapes what cannot be printed, and a combining mark only at
        // its start.
        _ => {
            let text = String::from_iter(['a', character]);
            text.escape_debug().eq(text.chars())
        }
    }
}

/// Shortens a name in the middle: the start names its module, the end names the class.
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
