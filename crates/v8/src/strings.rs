//! The strings of a snapshot, decoded, in one column.
//!
//! JavaScript strings can hold halves of surrogate pairs, which UTF-8 cannot: they are stored as WTF-8, which is
//! UTF-8 with these halves encoded like other characters.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::json::{BYTES_PER_UNIT, JsonCursor, find};
use crate::SnapshotError;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;

/// The largest number of strings.
const MOST_STRINGS: usize = heap::MOST_NUMBERS as usize / 2;

/// All strings, by number.
#[derive(Debug, Default)]
pub(crate) struct SnapshotStrings {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

impl SnapshotStrings {
    /// Reads an array of strings. After an error, it has those before it.
    pub(super) fn read(&mut self, cursor: &mut JsonCursor<'_>, step: &Step<'_>) -> Result<()> {
        let mut counted = cursor.at as u64 / BYTES_PER_UNIT;
        cursor.array(|cursor| {
            self.read_one(cursor)?;
            if self.len().is_multiple_of(CHECK_INTERVAL) {
                let read = cursor.at as u64 / BYTES_PER_UNIT;
                step.advance(read - counted)?;
                counted = read;
            }
            Ok(())
        })?;
        if self.len() > MOST_STRINGS {
            return Err(cursor.error("fewer strings"));
        }
        Ok(())
    }

    /// Adds empty strings up to a number.
    pub(super) fn fill_to(&mut self, count: usize) -> Result<()> {
        let end = self.ends.last().copied().unwrap_or_default();
        // A string can have been read in part.
        self.bytes.truncate(end as usize);
        let missing = count.min(MOST_STRINGS).saturating_sub(self.len());
        columns::reserve(&mut self.ends, missing)?;
        self.ends.extend(std::iter::repeat_n(end, missing));
        Ok(())
    }

    fn read_one(&mut self, cursor: &mut JsonCursor<'_>) -> Result<()> {
        cursor.expect(b'"', "a string")?;
        loop {
            let start = cursor.at;
            let Some(end) = find(cursor.bytes, start, b'"', b'\\') else {
                cursor.at = cursor.bytes.len();
                return Err(cursor.error("the end of a string"));
            };
            let plain = &cursor.bytes[start..end];
            if let Err(error) = std::str::from_utf8(plain) {
                return Err(SnapshotError::Unreadable {
                    offset: (start + error.valid_up_to()) as u64,
                    message: "expected UTF-8, found other bytes".to_owned(),
                }
                .into());
            }
            columns::extend(&mut self.bytes, plain)?;
            cursor.at = end + 1;
            if cursor.bytes[end] == b'"' {
                break;
            }
            self.escape(cursor)?;
        }
        columns::push(&mut self.ends, self.bytes.len() as u64)
    }

    /// Decodes an escape. The cursor is after the backslash.
    fn escape(&mut self, cursor: &mut JsonCursor<'_>) -> Result<()> {
        let byte = match cursor.bytes.get(cursor.at) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(&byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'u') => {
                cursor.at += 1;
                let unit = code_unit(cursor)?;
                return self.push_unit(unit, cursor);
            }
            _ => return Err(cursor.error("an escape of JSON")),
        };
        cursor.at += 1;
        columns::push(&mut self.bytes, byte)
    }

    fn push_unit(&mut self, unit: u32, cursor: &mut JsonCursor<'_>) -> Result<()> {
        let mut code = unit;
        if (0xd800..0xdc00).contains(&unit) && cursor.bytes[cursor.at..].starts_with(b"\\u") {
            let mut after = *cursor;
            after.at += 2;
            let low = code_unit(&mut after)?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                *cursor = after;
            }
        }
        let mut buffer = [0; 4];
        match char::from_u32(code) {
            Some(character) => {
                let encoded = character.encode_utf8(&mut buffer);
                columns::extend(&mut self.bytes, encoded.as_bytes())
            }
            // Half of a surrogate pair.
            None => {
                let bytes = [
                    0xe0 | (code >> 12) as u8,
                    0x80 | (code >> 6 & 0x3f) as u8,
                    0x80 | (code & 0x3f) as u8,
                ];
                columns::extend(&mut self.bytes, &bytes)
            }
        }
    }

    /// Adds a string, and returns its number.
    pub(super) fn add(&mut self, string: &[u8]) -> Result<u32> {
        columns::extend(&mut self.bytes, string)?;
        columns::push(&mut self.ends, self.bytes.len() as u64)?;
        Ok(self.len() as u32 - 1)
    }

    /// Releases spare memory.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn memory_size(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * size_of::<u64>()) as u64
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A string, as WTF-8.
    #[inline]
    pub(crate) fn bytes(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start as usize..self.ends[number] as usize]
    }

    /// A string. Halves of surrogate pairs are escaped.
    pub(crate) fn text(&self, number: u32) -> Cow<'_, str> {
        text(self.bytes(number))
    }
}

/// WTF-8 as text. Halves of surrogate pairs are escaped.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for unit in char::decode_utf16(code_units(bytes)) {
        match unit {
            Ok(character) => text.push(character),
            Err(half) => text.push_str(&format!("\\u{:04x}", half.unpaired_surrogate())),
        }
    }
    Cow::Owned(text)
}

/// The UTF-16 code units of WTF-8.
pub(crate) fn code_units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut at = 0;
    let mut low = None;
    std::iter::from_fn(move || {
        if let Some(low) = low.take() {
            return Some(low);
        }
        let part = |nth: usize| u32::from(bytes.get(at + nth).copied().unwrap_or_default() & 0x3f);
        let first = u32::from(*bytes.get(at)?);
        let (code, length) = match first {
            0..0x80 => (first, 1),
            0x80..0xe0 => ((first & 0x1f) << 6 | part(1), 2),
            0xe0..0xf0 => ((first & 0xf) << 12 | part(1) << 6 | part(2), 3),
            _ => (
                (first & 7) << 18 | part(1) << 12 | part(2) << 6 | part(3),
                4,
            ),
        };
        at += length;
        match code.checked_sub(0x10000) {
            None => Some(code as u16),
            Some(rest) => {
                low = Some(0xdc00 | (rest & 0x3ff) as u16);
                Some(0xd800 | (rest >> 10) as u16)
            }
        }
    })
}

/// WTF-8 as text and halves of surrogate pairs.
pub(super) fn text_parts(bytes: &[u8]) -> impl Iterator<Item = Result<String, u16>> {
    let mut parts: Vec<Result<String, u16>> = Vec::new();
    for unit in char::decode_utf16(code_units(bytes)) {
        match (unit, parts.last_mut()) {
            (Ok(character), Some(Ok(text))) => text.push(character),
            (Ok(character), _) => parts.push(Ok(character.to_string())),
            (Err(half), _) => parts.push(Err(half.unpaired_surrogate())),
        }
    }
    parts.into_iter()
}

/// The order of JavaScript: by UTF-16 code units.
pub(super) fn compare(left: &[u8], right: &[u8]) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        left.cmp(right)
    } else {
        code_units(left).cmp(code_units(right))
    }
}

/// The length in UTF-16 code units.
pub(crate) fn length(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        bytes.len()
    } else {
        code_units(bytes).count()
    }
}

fn code_unit(cursor: &mut JsonCursor<'_>) -> Result<u32> {
    let digits = cursor.bytes.get(cursor.at..cursor.at + 4);
    let value = digits
        .and_then(|digits| {
            digits.iter().try_fold(0, |value, &digit| {
                let digit = char::from(digit).to_digit(16)?;
                Some(value << 4 | digit)
            })
        })
        .ok_or_else(|| cursor.error("four hexadecimal digits"))?;
    cursor.at += 4;
    Ok(value)
}
