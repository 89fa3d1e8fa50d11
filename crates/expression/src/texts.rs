//! The UTF-16 code units of values, and tests of them.

use base::error::Result;
use heap::FieldReader;

use super::budget::Allowance;
use super::node::TextTest;
use super::value::{Failure, Value};

/// The characters of a text in memory that are copied in the time in which one of a string is read.
const COPIED: u64 = 16;

/// Reads texts: those of an expression, and those of strings.
pub(crate) struct TextReader<'e> {
    pub(crate) constants: &'e [Box<[u16]>],
    pub(crate) allowance: Allowance<'e>,
}

pub(crate) enum TextOrValue {
    /// A text of this length, of which the wanted part was read.
    Text(usize),
    /// No text, as this value.
    Other(Value),
}

impl TextReader<'_> {
    /// Reads the first `most` code units of a text.
    pub(crate) fn read(
        &self,
        reader: &mut dyn FieldReader,
        value: Value,
        most: usize,
        into: &mut Vec<u16>,
    ) -> Result<TextOrValue> {
        match value {
            Value::Text(number) => {
                let text = &self.constants[number as usize];
                self.allowance.take(1 + text.len() as u64 / COPIED)?;
                into.clear();
                into.extend_from_slice(&text[..text.len().min(most)]);
                Ok(TextOrValue::Text(text.len()))
            }
            Value::Object(object) if reader.is_text(object) => {
                let length = reader.text(object, most, into)?;
                self.allowance.take(1 + into.len() as u64)?;
                self.allowance.check()?;
                Ok(length.map_or(
                    TextOrValue::Other(Value::Failed(Failure::Unknown)),
                    TextOrValue::Text,
                ))
            }
            other => Ok(TextOrValue::Other(other.mistaken())),
        }
    }

    /// How much of two texts decides their order: of one that is longer than the other, the first unit more.
    pub(crate) fn most_compared(&self, left: Value, right: Value) -> usize {
        let lengths = [left, right].map(|value| self.length_of(value));
        let least = lengths.into_iter().flatten().min();
        least.map_or(usize::MAX, |length| length + 1)
    }

    /// The length of a text, if it is known without reading it.
    pub(crate) fn length_of(&self, value: Value) -> Option<usize> {
        match value {
            Value::Text(number) => Some(self.constants[number as usize].len()),
            _ => None,
        }
    }
}

/// A test of a text, of which as much as the test needs was read.
pub(crate) fn test(test: TextTest, text: &[u16], part: &[u16]) -> bool {
    match test {
        TextTest::StartsWith => text.starts_with(part),
        TextTest::EndsWith => text.ends_with(part),
        TextTest::Contains => contains(text, part),
    }
}

/// Whether a text contains another one, in time that is linear in both: the search of the standard library is, for
/// characters, so that each code unit becomes one.
fn contains(text: &[u16], part: &[u16]) -> bool {
    if part.len() > text.len() {
        return false;
    }
    characters(text).contains(&characters(part))
}

/// One character for each code unit. Halves of surrogate pairs are no characters; those of the last private plane stand
/// for them.
fn characters(units: &[u16]) -> String {
    const STAND_IN: u32 = 0x10_0000;
    let character = |&unit: &u16| {
        let unit = u32::from(unit);
        char::from_u32(unit)
            .or_else(|| char::from_u32(STAND_IN + unit))
            .unwrap_or_default()
    };
    units.iter().map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_is_found_where_a_naive_search_finds_it(
            text in prop::collection::vec(prop::sample::select(&[0x61u16, 0x62, 0xd83d, 0xde00][..]), 0..20),
            part in prop::collection::vec(prop::sample::select(&[0x61u16, 0x62, 0xd83d, 0xde00][..]), 1..4),
        ) {
            let naive = text.windows(part.len()).any(|window| window == part);
            prop_assert_eq!(contains(&text, &part), naive);
        }
    }
}
