//! Numbers and strings in the form in which they are shown.

use std::fmt::Write;

use super::answer::Value;
use super::memory::word_at;
use crate::debug_info::Number;
use crate::runtime::shapes::Holds;

/// The number of characters of a string, or of a preview, that are shown.
pub(crate) const SHOWN: usize = 100;

/// The number in these bytes; null if there are too few.
pub(super) fn number(number: Number, bytes: &[u8]) -> Value {
    fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.first_chunk::<N>().copied()
    }
    let integer = |value: i64| Value::Integer(value);
    let value = match number {
        Number::Bool => first::<1>(bytes).map(|[byte]| Value::Bool(byte != 0)),
        Number::I8 => first(bytes).map(|bytes| integer(i8::from_le_bytes(bytes).into())),
        Number::U8 => first(bytes).map(|bytes| integer(u8::from_le_bytes(bytes).into())),
        Number::I16 => first(bytes).map(|bytes| integer(i16::from_le_bytes(bytes).into())),
        Number::U16 => first(bytes).map(|bytes| integer(u16::from_le_bytes(bytes).into())),
        Number::I32 | Number::Isize => {
            first(bytes).map(|bytes| integer(i32::from_le_bytes(bytes).into()))
        }
        Number::U32 | Number::Usize => {
            first(bytes).map(|bytes| integer(u32::from_le_bytes(bytes).into()))
        }
        Number::F32 => first(bytes).map(|bytes| {
            let value = f32::from_le_bytes(bytes);
            match value.is_finite() {
                true => Value::Single(value),
                false => Value::Text(not_finite(value.into())),
            }
        }),
        Number::I64 => first(bytes).map(|bytes| Value::Text(i64::from_le_bytes(bytes).to_string())),
        Number::U64 => first(bytes).map(|bytes| Value::Text(u64::from_le_bytes(bytes).to_string())),
        Number::F64 => first(bytes).map(|bytes| {
            let value = f64::from_le_bytes(bytes);
            match value.is_finite() {
                true => Value::Double(value),
                false => Value::Text(not_finite(value)),
            }
        }),
        Number::V128 => first::<16>(bytes).map(|bytes| Value::Text(hexadecimal(&bytes))),
    };
    value.unwrap_or(Value::Null)
}

/// The value in these bytes, if it is not a reference.
pub(crate) fn plain(holds: Holds, bytes: &[u8]) -> Value {
    match holds {
        Holds::Number(of) => number(of, bytes),
        Holds::Bytes(size) => match bytes.get(..size as usize) {
            Some(bytes) => Value::Text(hexadecimal(bytes)),
            None => Value::Null,
        },
        Holds::Pointer | Holds::Reference => match word_at(bytes, 0) {
            Some(word) => Value::Text(format!("{word:#x}")),
            None => Value::Null,
        },
    }
}

fn not_finite(value: f64) -> String {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
    .to_owned()
}

/// Little-endian bytes as one hexadecimal number.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = "0x".to_owned();
    for byte in bytes.iter().rev() {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}

/// A string literal of UTF-16 code units. Invisible characters and halves of surrogate pairs are escaped.
/// `is_whole` says whether the units are the whole string.
pub(crate) fn literal(units: impl IntoIterator<Item = u16>, is_whole: bool) -> String {
    let mut text = String::new();
    push_literal(&mut text, units, is_whole);
    text
}

/// Adds what [`literal`] returns to a text.
pub(crate) fn push_literal(
    text: &mut String,
    units: impl IntoIterator<Item = u16>,
    is_whole: bool,
) {
    text.push('"');
    let mut is_cut = !is_whole;
    for (nth, unit) in char::decode_utf16(units).enumerate() {
        if nth == SHOWN {
            is_cut = true;
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
    if is_cut {
        text.push('…');
    }
    text.push('"');
}

/// Code units out of little-endian bytes.
pub(crate) fn code_units(bytes: &[u8]) -> impl Iterator<Item = u16> {
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

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(number(Number::I32, &[255; 4]), Value::Integer(-1));
        assert_eq!(
            number(Number::U32, &[255; 4]),
            Value::Integer(4_294_967_295)
        );
        assert_eq!(number(Number::I64, &[255; 8]), Value::Text("-1".to_owned()));
        assert_eq!(
            number(Number::F32, &0.1f32.to_le_bytes()),
            Value::Single(0.1)
        );
        assert_eq!(
            number(Number::F64, &f64::NEG_INFINITY.to_le_bytes()),
            Value::Text("-Infinity".to_owned())
        );
        assert_eq!(number(Number::I16, &[1]), Value::Null);
    }
}
