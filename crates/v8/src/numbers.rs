//! An array of numbers, as text. It is cut into pieces at the boundaries of rows, which all threads read at the same time.

use std::ops::Range;

use rayon::prelude::*;

use super::json::{BYTES_PER_UNIT, JsonCursor, number_at};
use super::meta::MOST_FIELDS;
use super::stretch::{NumberRow, Stretch};
use crate::SnapshotError;
use base::control::Step;
use base::error::Result;

/// The number of bytes that one thread reads at a time.
const PIECE: usize = 1 << 20;
/// The number of pieces that are searched for the end of the array at a time.
const PIECES_PER_ROUND: usize = 16;

/// The most rows that are passed on at a time.
const BATCH: usize = 64;

/// The numbers of an array, as text.
#[derive(Clone)]
pub(super) struct NumberTexts {
    /// The position of each piece, and the number of rows before it.
    pub(super) pieces: Vec<(Range<usize>, usize)>,
    pub(super) rows: usize,
    pub(super) fields: usize,
    /// The field whose numbers may have a sign, which is not read.
    signed_field: Option<usize>,
}

impl NumberTexts {
    /// Finds the end of an array of numbers and cuts it into pieces of whole rows.
    pub(super) fn find(
        cursor: &mut JsonCursor<'_>,
        fields: usize,
        step: &Step<'_>,
    ) -> Result<Self> {
        cursor.expect(b'[', "an array of numbers")?;
        let start = cursor.at;
        let (chunks, end) = count_commas(cursor, step)?;
        let bytes = &cursor.bytes[..end];
        let is_empty = bytes[start..].iter().all(u8::is_ascii_whitespace);
        if is_empty {
            return Ok(Self {
                pieces: Vec::new(),
                rows: 0,
                fields,
                signed_field: None,
            });
        }
        let total = chunks.iter().sum::<usize>() + 1;
        if total % fields != 0 {
            return Err(SnapshotError::Unreadable {
                offset: start as u64,
                message: format!(
                    "an array of {total} numbers: expected a multiple of {fields}, the number of fields"
                ),
            }.into());
        }
        let mut pieces: Vec<(Range<usize>, usize)> = Vec::with_capacity(chunks.len());
        let mut commas = 0;
        let mut piece_start = start;
        let mut first_row = 0;
        for (nth, count) in chunks.iter().enumerate() {
            // The next piece begins after the comma that ends a row.
            commas += count;
            let chunk_end = (start + (nth + 1) * PIECE).min(end);
            let missing = fields - commas % fields;
            let mut at = chunk_end;
            let mut left = missing;
            while left > 0 && at < end {
                left -= usize::from(bytes[at] == b',');
                at += 1;
            }
            let rows = if at == end {
                total / fields
            } else {
                (commas + missing) / fields
            };
            if rows > first_row {
                pieces.push((piece_start..at, first_row));
                first_row = rows;
                piece_start = at;
            }
        }
        if let Some((last, _)) = pieces.last_mut() {
            last.end = end;
        }
        Ok(Self {
            pieces,
            rows: total / fields,
            fields,
            signed_field: None,
        })
    }

    /// The same, with a field whose numbers may have a sign. Only the digits are read, as in DevTools.
    pub(super) fn with_signs(self, field: Option<usize>) -> Self {
        Self {
            signed_field: field,
            ..self
        }
    }

    /// Where the numbers begin.
    pub(super) fn start(&self) -> usize {
        self.pieces.first().map_or(0, |(range, _)| range.start)
    }

    pub(super) fn rows_of(&self, piece: usize) -> usize {
        let end = self
            .pieces
            .get(piece + 1)
            .map_or(self.rows, |&(_, first)| first);
        end - self.pieces[piece].1
    }

    /// A column with an entry for each row, cut into the parts of the pieces.
    pub(super) fn cut<'c, T>(&self, mut column: &'c mut [T]) -> Vec<&'c mut [T]> {
        let counts = (0..self.pieces.len()).map(|piece| self.rows_of(piece));
        counts
            .map(|count| {
                let (part, rest) = std::mem::take(&mut column).split_at_mut(count);
                column = rest;
                part
            })
            .collect()
    }

    /// Passes on each row of a piece, with its number.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        piece: usize,
        mut each: impl FnMut(usize, &NumberRow) -> Result<()>,
    ) -> Result<()> {
        self.read_batches(bytes, piece, |first, rows| {
            let mut rows = (first..).zip(rows);
            rows.try_for_each(|(number, row)| each(number, row))
        })
    }

    /// Passes on the rows of a piece, several at a time, with the number of the first.
    pub(super) fn read_batches(
        &self,
        bytes: &[u8],
        piece: usize,
        each: impl FnMut(usize, &[NumberRow]) -> Result<()>,
    ) -> Result<()> {
        match self.fields {
            3 => self.read_rows::<3>(bytes, piece, each),
            6 => self.read_rows::<6>(bytes, piece, each),
            7 => self.read_rows::<7>(bytes, piece, each),
            _ => self.read_rows::<0>(bytes, piece, each),
        }
    }

    /// The same. Rows of `FIELDS` numbers are read fast, unless it is 0.
    fn read_rows<const FIELDS: usize>(
        &self,
        bytes: &[u8],
        piece: usize,
        mut each: impl FnMut(usize, &[NumberRow]) -> Result<()>,
    ) -> Result<()> {
        let (Range { start: mut at, end }, mut number) = self.pieces[piece].clone();
        // What follows the last row is not of the piece.
        let last = number + self.rows_of(piece) - 1;
        let mut rows = [[0; MOST_FIELDS]; BATCH];
        let mut stretch = Stretch::default();
        while number <= last {
            let mut count = 0;
            if FIELDS > 0 {
                let most = BATCH.min(last - number);
                while count < most && stretch.read_row::<FIELDS>(bytes, &mut rows[count]) {
                    count += 1;
                }
                if count > 0 {
                    at = stretch.end();
                } else if most > 0 && stretch.find_ends(bytes, at) {
                    continue;
                }
            }
            if count == 0 {
                at = self.read_row(&bytes[..end], at, number == last, &mut rows[0])?;
                count = 1;
            }
            each(number, &rows[..count])?;
            number += count;
        }
        if at == end {
            Ok(())
        } else {
            Err(JsonCursor {
                bytes: &bytes[..end],
                at,
            }
            .error("\",\" or \"]\""))
        }
    }

    /// Reads any row, and returns where the next one begins.
    fn read_row(
        &self,
        bytes: &[u8],
        mut at: usize,
        is_last: bool,
        row: &mut NumberRow,
    ) -> Result<usize> {
        let error = |at, expected: &str| JsonCursor { bytes, at }.error(expected);
        for (field, number) in row[..self.fields].iter_mut().enumerate() {
            skip_space(bytes, &mut at);
            if self.signed_field == Some(field) && bytes.get(at) == Some(&b'-') {
                at += 1;
            }
            *number = number_at(bytes, &mut at).ok_or_else(|| error(at, "a whole number"))?;
            skip_space(bytes, &mut at);
            match bytes.get(at) {
                Some(b',') => at += 1,
                None if is_last && field + 1 == self.fields => {}
                _ => return Err(error(at, "\",\" or \"]\"")),
            }
        }
        Ok(at)
    }

    /// The offset in the file of a number.
    pub(super) fn offset(&self, bytes: &[u8], row: usize, field: usize) -> usize {
        let piece = self
            .pieces
            .partition_point(|&(_, first)| first <= row)
            .saturating_sub(1);
        let Some((range, first)) = self.pieces.get(piece) else {
            return 0;
        };
        let mut left = (row - first) * self.fields + field;
        let mut at = range.start;
        while left > 0 && at < range.end {
            left -= usize::from(bytes[at] == b',');
            at += 1;
        }
        while at < range.end && bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        at
    }
}

/// Moves to the next byte that is no white space.
#[inline]
fn skip_space(bytes: &[u8], at: &mut usize) {
    while let Some(byte) = bytes.get(*at)
        && *byte <= b' '
        && byte.is_ascii_whitespace()
    {
        *at += 1;
    }
}

/// The number of commas in each piece of the array at the cursor, and the end of the array. The cursor moves to the byte after it.
fn count_commas(cursor: &mut JsonCursor<'_>, step: &Step<'_>) -> Result<(Vec<usize>, usize)> {
    let start = cursor.at;
    let mut counts = Vec::new();
    for round in cursor.bytes[start..].chunks(PIECES_PER_ROUND * PIECE) {
        let found: Vec<(usize, Option<usize>)> =
            round.par_chunks(PIECE).map(count_to_bracket).collect();
        step.advance(round.len() as u64 / BYTES_PER_UNIT)?;
        for (count, bracket) in found {
            let piece = start + counts.len() * PIECE;
            counts.push(count);
            if let Some(bracket) = bracket {
                cursor.at = piece + bracket;
                if cursor.bytes[cursor.at] == b'"' {
                    return Err(cursor.error("a number"));
                }
                cursor.at += 1;
                return Ok((counts, piece + bracket));
            }
        }
    }
    cursor.at = cursor.bytes.len();
    Err(cursor.error("the end of an array of numbers"))
}

/// The number of commas before the first bracket that closes an array or quote, and the position of that.
fn count_to_bracket(bytes: &[u8]) -> (usize, Option<usize>) {
    // At most 255, so that the numbers of commas are bytes.
    const LANE: usize = 128;
    let mut count = 0;
    let (lanes, last) = bytes.as_chunks::<LANE>();
    for (nth, lane) in lanes.iter().enumerate() {
        // Sums of bytes compile to vector instructions; a search that ends at the first match would not.
        let is_end = |&byte: &u8| u8::from(byte == b']' || byte == b'"');
        if lane.iter().map(is_end).sum::<u8>() != 0 {
            let (more, end) = count_slowly(lane);
            return (count + more, end.map(|end| nth * LANE + end));
        }
        count += usize::from(lane.iter().map(|&byte| u8::from(byte == b',')).sum::<u8>());
    }
    let (more, end) = count_slowly(last);
    (count + more, end.map(|end| lanes.len() * LANE + end))
}

/// As [`count_to_bracket`], for few bytes.
fn count_slowly(bytes: &[u8]) -> (usize, Option<usize>) {
    let end = bytes.iter().position(|&byte| byte == b']' || byte == b'"');
    let before = &bytes[..end.unwrap_or(bytes.len())];
    let count = before.iter().filter(|&&byte| byte == b',').count();
    (count, end)
}

#[cfg(test)]
mod tests {
    use base::control::{Control, Phase};
    use proptest::prelude::*;

    use super::*;

    /// The numbers of the text of an array, if it is one.
    fn numbers_of(array: &str, fields: usize) -> Option<Vec<u64>> {
        // A stretch has bytes before and after it.
        let text = format!("{:16}{array}{:4096}", "", "");
        let control = Control::default();
        let step = control.begin(Phase::Blocks, 1);
        let mut cursor = JsonCursor::new(text.as_bytes());
        cursor.at = 16;
        let texts = NumberTexts::find(&mut cursor, fields, &step).ok()?;
        if cursor.at != 16 + array.len() {
            return None;
        }
        let mut numbers = Vec::new();
        for piece in 0..texts.pieces.len() {
            texts
                .read(text.as_bytes(), piece, |_, row| {
                    numbers.extend(&row[..fields]);
                    Ok(())
                })
                .ok()?;
        }
        Some(numbers)
    }

    /// Rows of three numbers, most of them as V8 writes them.
    fn array() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            8 => "0|[1-9][0-9]{0,9}",
            2 => "[1-9][0-9]{0,17}",
        ];
        let row = prop::array::uniform3(number).prop_map(|row| row.join(","));
        let rows = prop::collection::vec(row, 1..200);
        let odd = prop::sample::select(vec![" ", "\n", "\r", ",", "0", "7", "-", "x", "\"", "]"]);
        let change = prop::option::weighted(0.7, (any::<prop::sample::Index>(), odd));
        let between = prop::sample::select(vec!["\n,", ",", ",\n", "\r\n,"]);
        (rows, between, change).prop_map(|(rows, between, change)| {
            let mut text = rows.join(between);
            if let Some((at, odd)) = change {
                text.insert_str(at.index(text.len()), odd);
            }
            format!("[{text}]")
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn rows_are_read_as_any_reader_of_json_does(array in array()) {
            let expected: Option<Vec<u64>> = serde_json::from_str(&array).ok();
            let expected = expected.filter(|numbers| numbers.len().is_multiple_of(3));
            prop_assert_eq!(numbers_of(&array, 3), expected);
        }
    }
}
