//! An array of numbers, as text. It is cut into pieces at the boundaries of rows, which all threads read at the same time.

use std::ops::Range;

use rayon::prelude::*;

use super::json::{BYTES_PER_UNIT, JsonCursor, number_at};
use super::meta::MOST_FIELDS;
use crate::SnapshotError;
use base::control::Step;
use base::error::Result;

/// The number of bytes that one thread reads at a time.
const PIECE: usize = 1 << 20;
/// The number of pieces that are searched for the end of the array at a time.
const PIECES_PER_ROUND: usize = 16;

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

    /// Passes on each row of a piece, with its number within the piece.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        piece: usize,
        mut each: impl FnMut(usize, &[u64; MOST_FIELDS]) -> Result<()>,
    ) -> Result<()> {
        let end = self.pieces[piece].0.end;
        let mut words = Words::new(bytes, self.pieces[piece].0.start);
        let mut row = [0u64; MOST_FIELDS];
        let rows = self.rows_of(piece);
        for nth in 0..rows {
            let start = words.at;
            let is_last = nth + 1 == rows;
            // What follows the last row is not of the piece. With a constant number of fields, this is faster.
            let is_read = match self.fields {
                _ if is_last => false,
                3 => words.read_row(3, &mut row),
                7 => words.read_row(7, &mut row),
                fields => words.read_row(fields, &mut row),
            };
            if !is_read {
                let after = self.read_row(&bytes[..end], start, is_last, &mut row)?;
                words = Words::new(bytes, after);
            }
            each(nth, &row)?;
        }
        let at = words.at;
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
        row: &mut [u64; MOST_FIELDS],
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

/// The number of bytes of [`Words::ends`].
const BLOCK: usize = 64;

/// A fast reader of rows as V8 writes them: short numbers with a comma between them, and a line feed after a row. It
/// finds the ends of all numbers in a block of bytes at once.
struct Words<'a> {
    bytes: &'a [u8],
    /// Where the next number begins.
    at: usize,
    /// Where the block begins.
    block: usize,
    /// The positions in the block, after those that were read, of bytes that are no digits.
    ends: u64,
}

impl<'a> Words<'a> {
    /// A reader from this position on.
    fn new(bytes: &'a [u8], at: usize) -> Self {
        let ends = block_at(bytes, at).map_or(0, others);
        let block = at;
        Self {
            bytes,
            at,
            block,
            ends,
        }
    }

    /// The position of the next byte that is no digit; `None` near the end of the file.
    #[inline(always)]
    fn next_end(&mut self) -> Option<usize> {
        while self.ends == 0 {
            self.block += BLOCK;
            self.ends = others(block_at(self.bytes, self.block)?);
        }
        let end = self.block + self.ends.trailing_zeros() as usize;
        self.ends &= self.ends - 1;
        Some(end)
    }

    /// Reads a row. If it is not as expected, the result is `false`, and this reader must not be used any more.
    #[inline(always)]
    fn read_row(&mut self, fields: usize, row: &mut [u64; MOST_FIELDS]) -> bool {
        for (field, number) in row[..fields].iter_mut().enumerate() {
            let Some(end) = self.next_end() else {
                return false;
            };
            let Some(value) = short_number(self.bytes, self.at, end) else {
                return false;
            };
            *number = value;
            self.at = end + 1;
            if self.bytes[end] == b',' {
                continue;
            }
            let is_line_feed = field + 1 == fields && self.bytes[end] == b'\n';
            if !is_line_feed || self.next_end() != Some(end + 1) || self.bytes[end + 1] != b',' {
                return false;
            }
            self.at = end + 2;
        }
        true
    }
}

#[inline(always)]
fn block_at(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..at + BLOCK)?.first_chunk()
}

/// A bit for each byte that is no digit.
#[inline(always)]
fn others(block: &[u8; BLOCK]) -> u64 {
    const ALL: u64 = u64::from_ne_bytes([1; 8]);
    let words = block.as_chunks::<8>().0;
    (0..).zip(words).fold(0, |bits, (nth, word)| {
        let value = u64::from_le_bytes(*word) ^ (ALL * 0x30);
        // Digits are below 10 now: adding 0x76 sets the highest bit of all other bytes below 0x80.
        let is_other = (((value & (ALL * 0x7f)) + ALL * 0x76) | value) >> 7 & ALL;
        // Moves the lowest bit of each byte into the highest byte.
        let byte = is_other.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits | byte << (8 * nth)
    })
}

/// The number whose digits are between these positions, if it has 1 to 16 digits and no zero before them.
#[inline(always)]
fn short_number(bytes: &[u8], start: usize, end: usize) -> Option<u64> {
    let digits = end - start;
    if digits == 1 {
        return Some(u64::from(bytes[start] ^ b'0'));
    }
    if bytes[start] == b'0' {
        return None;
    }
    match digits {
        2..=8 => last_digits(bytes, end, digits),
        9..=16 => {
            let first = last_digits(bytes, end - 8, digits - 8)?;
            Some(first * 100_000_000 + last_digits(bytes, end, 8)?)
        }
        _ => None,
    }
}

/// The number of 1 to 8 digits before a position.
#[inline(always)]
fn last_digits(bytes: &[u8], end: usize, digits: usize) -> Option<u64> {
    let word = bytes.get(end.wrapping_sub(8)..end)?.first_chunk::<8>()?;
    let mut value = u64::from_le_bytes(*word) ^ u64::from_ne_bytes([0x30; 8]);
    // The bytes before the number become zeros.
    value &= u64::MAX << (64 - 8 * digits);
    // Pairs of digits, then of pairs, then of these.
    value = (value.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00ff_00ff_00ff_00ff;
    value = (value.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_ffff_0000_ffff;
    Some(value.wrapping_mul(1 + (10_000 << 32)) >> 32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bit_is_set_for_each_byte_that_is_no_digit(block in any::<[u8; BLOCK]>()) {
            for (position, byte) in block.iter().enumerate() {
                prop_assert_eq!(others(&block) >> position & 1 == 0, byte.is_ascii_digit());
            }
        }

        #[test]
        fn short_numbers_are_read_as_long_ones(before in "[ -~]{8}", number in "0?[0-9]{1,18}") {
            let text = [before.as_bytes(), number.as_bytes()].concat();
            let is_json = number.len() == 1 || !number.starts_with('0');
            let expected = number.parse().ok().filter(|_| is_json && number.len() <= 16);
            prop_assert_eq!(short_number(&text, 8, text.len()), expected);
        }
    }
}
