//! Values of fields: as they are shown, and as conditions compare them.

use heap::{Cell, ShownValue};

use crate::types::{FieldHolds, NumberKind};

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NumberValue {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
}

/// The number in these bytes, if they are as many as such a number has.
fn value(kind: NumberKind, bytes: &[u8]) -> Option<NumberValue> {
    if kind == NumberKind::Float {
        return match bytes.len() {
            4 => Some(NumberValue::Single(f32::from_le_bytes(
                *bytes.first_chunk()?,
            ))),
            8 => Some(NumberValue::Double(f64::from_le_bytes(
                *bytes.first_chunk()?,
            ))),
            _ => None,
        };
    }
    if !matches!(bytes.len(), 1 | 2 | 4 | 8) {
        return None;
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = u64::from_le_bytes(word);
    let unused = 64 - 8 * bytes.len() as u32;
    Some(match kind {
        NumberKind::Bool => NumberValue::Bool(word != 0),
        NumberKind::Signed => NumberValue::Signed((word << unused) as i64 >> unused),
        _ => NumberValue::Unsigned(word),
    })
}

/// The value of a field that is no pointer, as it is shown.
pub(crate) fn shown(holds: FieldHolds, bytes: &[u8]) -> ShownValue {
    match holds {
        FieldHolds::Number(kind) => match value(kind, bytes) {
            Some(NumberValue::Bool(value)) => ShownValue::Bool(value),
            Some(NumberValue::Signed(value)) if i32::try_from(value).is_ok() => {
                ShownValue::Integer(value)
            }
            Some(NumberValue::Signed(value)) => ShownValue::Text(value.to_string()),
            Some(NumberValue::Unsigned(value)) => match u32::try_from(value) {
                Ok(value) => ShownValue::Integer(value.into()),
                Err(_) => ShownValue::Text(value.to_string()),
            },
            Some(NumberValue::Single(value)) if value.is_finite() => ShownValue::Single(value),
            Some(NumberValue::Single(value)) => ShownValue::Text(not_finite(value.into())),
            Some(NumberValue::Double(value)) if value.is_finite() => ShownValue::Double(value),
            Some(NumberValue::Double(value)) => ShownValue::Text(not_finite(value)),
            None => ShownValue::Null,
        },
        FieldHolds::Text => ShownValue::Text(text_literal(until_zero(bytes), true)),
        FieldHolds::Bytes | FieldHolds::Pointer => {
            ShownValue::Text(format!("{} bytes", bytes.len()))
        }
    }
}

/// The value of a field that is no pointer, for conditions.
pub(crate) fn cell(holds: FieldHolds, bytes: &[u8]) -> Cell {
    let FieldHolds::Number(kind) = holds else {
        return Cell::Unknown;
    };
    match value(kind, bytes) {
        Some(NumberValue::Bool(value)) => Cell::Bool(value),
        Some(NumberValue::Signed(value)) => Cell::Integer(value),
        Some(NumberValue::Unsigned(value)) => {
            i64::try_from(value).map_or(Cell::Unsigned(value), Cell::Integer)
        }
        Some(NumberValue::Single(value)) => Cell::Double(value.into()),
        Some(NumberValue::Double(value)) => Cell::Double(value),
        None => Cell::Unknown,
    }
}

/// The bytes of a text, up to the first that is 0.
pub(crate) fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// A text in quotes, shortened. Bytes that are no UTF-8 are replaced.
pub(crate) fn text_literal(bytes: &[u8], is_whole: bool) -> String {
    let text = String::from_utf8_lossy(bytes);
    heap::literal::literal(text.encode_utf16(), is_whole)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_value() {
        let number = |kind, bytes: &[u8]| shown(FieldHolds::Number(kind), bytes);
        assert_eq!(
            number(NumberKind::Signed, &[255; 4]),
            ShownValue::Integer(-1)
        );
        assert_eq!(
            number(NumberKind::Unsigned, &[255; 2]),
            ShownValue::Integer(65535)
        );
        assert_eq!(number(NumberKind::Bool, &[1]), ShownValue::Bool(true));
        assert_eq!(
            number(NumberKind::Float, &0.5f64.to_le_bytes()),
            ShownValue::Double(0.5)
        );
        assert_eq!(number(NumberKind::Signed, &[0; 3]), ShownValue::Null);
        assert_eq!(
            shown(FieldHolds::Text, b"ab\0c"),
            ShownValue::Text("\"ab\"".to_owned())
        );
    }
}
