//! Text that is written while it is made, in pieces of one size.

use std::io::Write;

use crate::columns;
use crate::error::{Error, FileAction, Result};

/// Bytes that are written at once.
pub(super) const PIECE: usize = 1 << 18;

/// More than any single text between two calls of [`Output::flush_if_full`].
const SPARE: usize = 1 << 12;

/// A buffer in front of a writer.
pub(super) struct Output<'o> {
    out: &'o mut dyn Write,
    bytes: Vec<u8>,
}

impl<'o> Output<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Result<Self> {
        Ok(Self {
            out,
            bytes: columns::with_capacity(PIECE + SPARE)?,
        })
    }

    /// Adds some bytes. To be followed by [`flush_if_full`](Self::flush_if_full) before there are many.
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a text of ASCII.
    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    #[inline]
    pub(super) fn number(&mut self, number: impl itoa::Integer) {
        self.text(itoa::Buffer::new().format(number));
    }

    /// Adds code units of UTF-16 as they stand between the quotes of a JSON string. Whatever is not ASCII is
    /// escaped, so halves of surrogate pairs are kept.
    pub(super) fn json_units(&mut self, units: impl Iterator<Item = u16>) -> Result<()> {
        for unit in units {
            self.json_unit(unit);
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// As [`json_units`](Self::json_units), from little-endian bytes.
    pub(super) fn json_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let (units, _) = bytes.as_chunks::<2>();
        for part in units.chunks(SPARE / 8) {
            for &unit in part {
                self.json_unit(u16::from_le_bytes(unit));
            }
            self.flush_if_full()?;
        }
        Ok(())
    }

    #[inline]
    fn json_unit(&mut self, unit: u16) {
        match unit {
            0x22 => self.text("\\\""),
            0x5c => self.text("\\\\"),
            0x20..=0x7e => self.bytes.push(unit as u8),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let digit = |shift: u16| DIGITS[usize::from(unit >> shift & 15)];
                self.bytes(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
            }
        }
    }

    /// Writes what was added once it is a piece.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Result<()> {
        match self.bytes.len() >= PIECE {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes what was added.
    pub(super) fn flush(&mut self) -> Result<()> {
        let written = self.out.write_all(&self.bytes);
        self.bytes.clear();
        written.map_err(|source| Error::Io {
            action: FileAction::Write,
            source,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    fn written(add: impl FnOnce(&mut Output<'_>)) -> String {
        let mut bytes = Vec::new();
        let mut output = Output::new(&mut bytes).unwrap();
        add(&mut output);
        output.flush().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_json_or_a_reader_of_bytes_may_misread_is_escaped() {
        let units = "a\"\\\n\u{7f}é😀".encode_utf16().chain([0xd800]);
        let text = written(|output| output.json_units(units).unwrap());
        assert_eq!(text, r#"a\"\\\u000a\u007f\u00e9\ud83d\ude00\ud800"#);
    }

    #[test]
    fn more_than_a_piece_is_written_whole() {
        let units = std::iter::repeat_n(0xd800, PIECE);
        let text = written(|output| output.json_units(units).unwrap());
        assert_eq!(text, r"\ud800".repeat(PIECE));
    }
}
