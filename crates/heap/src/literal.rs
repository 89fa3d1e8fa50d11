//! Strings in the form in which they are shown.

use std::fmt::Write;

/// The number of characters of a string, or of a preview, that are shown.
pub const SHOWN: usize = 100;

/// A string literal of UTF-16 code units. Invisible characters and halves of surrogate pairs are escaped.
/// `is_whole` says whether the units are the whole string.
pub fn literal(units: impl IntoIterator<Item = u16>, is_whole: bool) -> String {
    let mut text = String::new();
    push_literal(&mut text, units, is_whole);
    text
}

/// Adds what [`literal`] returns to a text.
pub fn push_literal(text: &mut String, units: impl IntoIterator<Item = u16>, is_whole: bool) {
    text.push('"');
    let mut is_truncated = !is_whole;
    for (nth, unit) in char::decode_utf16(units).enumerate() {
        if nth == SHOWN {
            is_truncated = true;
            break;
        }
        match unit {
            Ok(plain @ (' ' | '!' | '#'..='[' | ']'..='~')) => text.push(plain),
            Ok('"') => text.push_str("\\\""),
            Ok('\\') => text.push_str("\\\\"),
            Ok('\n') => text.push_str("\\n"),
            Ok('\r') => text.push_str("\\r"),
            Ok('\t') => text.push_str("\\t"),
            Ok(control) if control.is_control() => _ = write!(text, "\\u{:04x}", control as u32),
            Ok(character) => text.push(character),
            Err(half) => _ = write!(text, "\\u{:04x}", half.unpaired_surrogate()),
        }
    }
    if is_truncated {
        text.push('…');
    }
    text.push('"');
}

/// Code units out of little-endian bytes.
pub fn code_units(bytes: &[u8]) -> impl Iterator<Item = u16> {
    let pairs = bytes.chunks_exact(2);
    pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_escaped_and_cut() {
        let units: Vec<u16> = "a\"\\\n\u{1}é😀"
            .encode_utf16()
            .chain([0xd800, 0x62])
            .collect();
        assert_eq!(literal(units, true), r#""a\"\\\n\u0001é😀\ud800b""#);
        let long = std::iter::repeat_n(0x61, SHOWN + 1);
        assert_eq!(literal(long, true), format!("\"{}…\"", "a".repeat(SHOWN)));
    }
}
