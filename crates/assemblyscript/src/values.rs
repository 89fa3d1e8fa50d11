//! Numbers in the form in which they are shown.

use std::fmt::Write;

use super::memory::word_at;
use crate::runtime::shapes::Holds;
use heap::ShownValue;
use wasm::debug_info::Number;

/// The number in these bytes; null if there are too few.
pub(super) fn number(number: Number, bytes: &[u8]) -> ShownValue {
    fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.first_chunk::<N>().copied()
    }
    let integer = |value: i64| ShownValue::Integer(value);
    let value = match number {
        Number::Bool => first::<1>(bytes).map(|[byte]| ShownValue::Bool(byte != 0)),
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
            if value.is_finite() {
                ShownValue::Single(value)
            } else {
                ShownValue::Text(not_finite(value.into()))
            }
        }),
        Number::I64 => {
            first(bytes).map(|bytes| ShownValue::Text(i64::from_le_bytes(bytes).to_string()))
        }
        Number::U64 => {
            first(bytes).map(|bytes| ShownValue::Text(u64::from_le_bytes(bytes).to_string()))
        }
        Number::F64 => first(bytes).map(|bytes| {
            let value = f64::from_le_bytes(bytes);
            if value.is_finite() {
                ShownValue::Double(value)
            } else {
                ShownValue::Text(not_finite(value))
            }
        }),
        Number::V128 => first::<16>(bytes).map(|bytes| ShownValue::Text(hexadecimal(&bytes))),
    };
    value.unwrap_or(ShownValue::Null)
}

/// The value in these bytes, if it is not a reference.
pub(crate) fn plain(holds: Holds, bytes: &[u8]) -> ShownValue {
    match holds {
        Holds::Number(of) => number(of, bytes),
        Holds::Bytes(size) => match bytes.get(..size as usize) {
            Some(bytes) => ShownValue::Text(hexadecimal(bytes)),
            None => ShownValue::Null,
        },
        Holds::Pointer | Holds::Reference => match word_at(bytes, 0) {
            Some(word) => ShownValue::Text(format!("{word:#x}")),
            None => ShownValue::Null,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(number(Number::I32, &[255; 4]), ShownValue::Integer(-1));
        assert_eq!(
            number(Number::U32, &[255; 4]),
            ShownValue::Integer(4_294_967_295)
        );
        assert_eq!(
            number(Number::I64, &[255; 8]),
            ShownValue::Text("-1".to_owned())
        );
        assert_eq!(
            number(Number::F32, &0.1f32.to_le_bytes()),
            ShownValue::Single(0.1)
        );
        assert_eq!(
            number(Number::F64, &f64::NEG_INFINITY.to_le_bytes()),
            ShownValue::Text("-Infinity".to_owned())
        );
        assert_eq!(number(Number::I16, &[1]), ShownValue::Null);
    }
}
