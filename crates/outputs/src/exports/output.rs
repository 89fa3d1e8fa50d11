//! Text that is written while it is made, in large pieces.

use std::io::Write;

use base::columns;
use base::error::{Error, Result};
use base::file_action::FileAction;

/// Bytes that are written at once, at least half of them where more are known.
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

    /// Adds a text as it stands between the quotes of a JSON string, as [`json_unit`] does it.
    pub(super) fn json_text(&mut self, text: &str) -> Result<()> {
        for unit in text.encode_utf16() {
            json_unit(&mut self.bytes, unit);
            self.flush_if_full()?;
        }
        Ok(())
    }

    /// Adds a line, on a line of its own if it `follows` another one.
    pub(super) fn line(&mut self, line: &mut Line, follows: bool) -> Result<()> {
        if follows {
            self.text("\n,");
        }
        line.append_to(&mut self.bytes)?;
        self.flush_if_full()
    }

    /// Adds what was made elsewhere, of any length.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let is_long = bytes.len() > PIECE / 2;
        if is_long && !self.bytes.is_empty() || self.bytes.len() + bytes.len() > PIECE {
            self.flush()?;
        }
        if is_long {
            write(self.out, bytes)
        } else {
            self.bytes(bytes);
            Ok(())
        }
    }

    /// Writes what was added once it is a piece.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> Result<()> {
        if self.bytes.len() >= PIECE {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what was added.
    pub(super) fn flush(&mut self) -> Result<()> {
        let written = write(self.out, &self.bytes);
        self.bytes.clear();
        written
    }
}

fn write(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|source| Error::Io {
        action: FileAction::Write,
        source,
    })
}

/// Adds a code unit of UTF-16 as it stands between the quotes of a JSON string. Whatever is not ASCII is
/// escaped, so halves of surrogate pairs are kept. At most [`UNIT`] bytes.
#[inline]
pub(super) fn json_unit(bytes: &mut Vec<u8>, unit: u16) {
    match unit {
        0x22 => bytes.extend_from_slice(b"\\\""),
        0x5c => bytes.extend_from_slice(b"\\\\"),
        0x20..=0x7e => bytes.push(unit as u8),
        _ => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let digit = |shift: u16| DIGITS[usize::from(unit >> shift & 15)];
            let escaped: [u8; UNIT] = [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)];
            bytes.extend_from_slice(&escaped);
        }
    }
}

/// Adds a string of little-endian code units of UTF-16, each as [`json_unit`] does it.
pub(super) fn json_units(text: &mut Vec<u8>, units: &[u8]) -> Result<()> {
    const GROUP: usize = 8;
    let plain = |&[low, high]: &[u8; 2]| match low {
        b'"' | b'\\' => false,
        _ => high == 0 && (0x20..=0x7e).contains(&low),
    };
    columns::make_room(text, units.len() / 2 * UNIT)?;
    let (units, _) = units.as_chunks::<2>();
    let (groups, rest) = units.as_chunks::<GROUP>();
    for group in groups {
        // Most strings are plain ASCII.
        if group
            .iter()
            .map(plain)
            .fold(true, |all, is_plain| all & is_plain)
        {
            text.extend_from_slice(&group.map(|[low, _]| low))
        } else {
            group
                .iter()
                .for_each(|&unit| json_unit(text, u16::from_le_bytes(unit)))
        }
    }
    rest.iter()
        .for_each(|&unit| json_unit(text, u16::from_le_bytes(unit)));
    Ok(())
}

/// Adds a text, each of its code units of UTF-16 as [`json_unit`] does it.
pub(super) fn json_text(text: &mut Vec<u8>, added: &str) {
    for unit in added.encode_utf16() {
        json_unit(text, unit);
    }
}

/// Bytes of a code unit in JSON, at most.
pub(super) const UNIT: usize = 6;

/// Bytes of a line, at most.
const LINE: usize = 64;

/// Two digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut nth = 0;
    while nth < 100 {
        pairs[nth] = [b'0' + nth as u8 / 10, b'0' + nth as u8 % 10];
        nth += 1;
    }
    pairs
};

/// A line of numbers, which is made from its end to its start.
pub(super) struct Line {
    /// The line ends in the middle, so that as many bytes as it may have follow its start.
    bytes: [u8; 2 * LINE],
    start: usize,
}

impl Line {
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            bytes: [0; 2 * LINE],
            start: LINE,
        }
    }

    /// Adds an ASCII character in front.
    #[inline]
    pub(super) fn character(&mut self, character: u8) {
        self.start -= 1;
        self.bytes[self.start] = character;
    }

    /// Adds a number in front.
    #[inline]
    pub(super) fn number(&mut self, number: u32) {
        let mut rest = number;
        while rest >= 10 {
            let [ten, one] = PAIRS[rest as usize % 100];
            self.character(one);
            self.character(ten);
            rest /= 100;
        }
        if rest > 0 || number == 0 {
            self.character(b'0' + rest as u8);
        }
    }

    /// Moves the line to the end of a text.
    #[inline]
    pub(super) fn append_to(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let end = text.len() + LINE - self.start;
        // A copy of fixed length is faster than one of the length of the line.
        if let Some(bytes) = self.bytes[self.start..].first_chunk::<LINE>() {
            columns::extend(text, bytes)?;
            text.truncate(end);
        }
        self.start = LINE;
        Ok(())
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
        let mut text = Vec::new();
        units.for_each(|unit| json_unit(&mut text, unit));
        assert_eq!(
            String::from_utf8(text).unwrap(),
            r#"a\"\\\u000a\u007f\u00e9\ud83d\ude00\ud800"#
        );
    }

    #[test]
    fn more_than_a_piece_is_written_whole() {
        let text = written(|output| output.json_text(&"é".repeat(PIECE)).unwrap());
        assert_eq!(text, r"\u00e9".repeat(PIECE));
    }

    #[test]
    fn pieces_that_were_made_elsewhere_keep_their_order() {
        let pieces = ["a".repeat(10), "b".repeat(2 * PIECE), "c".repeat(PIECE)];
        let text = written(|output| {
            for piece in &pieces {
                output.append(piece.as_bytes()).unwrap();
                output.text(",");
            }
        });
        assert_eq!(text, pieces.map(|piece| piece + ",").concat());
    }

    #[test]
    fn a_line_has_its_numbers_in_reverse_order() {
        let mut text = b"before".to_vec();
        let mut line = Line::new();
        for number in [0, 9, 10, 100, 1005, u32::MAX] {
            line.number(number);
            line.character(b',');
        }
        line.append_to(&mut text).unwrap();
        line.number(7);
        line.append_to(&mut text).unwrap();
        assert_eq!(text, b"before,4294967295,1005,100,10,9,07");
    }
}
