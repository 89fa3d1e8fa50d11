//! A cursor over the text of a snapshot. It makes no tree of values: numbers go into columns, strings into one
//! column of bytes, and everything else is skipped.

use crate::SnapshotError;
use base::error::{Error, Result};
use base::file_kind::BYTE_ORDER_MARK;

/// The number of bytes that [`find`] tests at once.
const LANE: usize = 32;

/// Bytes of the file that count as one unit of work.
pub(super) const BYTES_PER_UNIT: u64 = 1 << 10;

/// A position in the text.
#[derive(Clone, Copy)]
pub(super) struct JsonCursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

/// The first position from `from` on with one of these two bytes.
pub(super) fn find(bytes: &[u8], from: usize, one: u8, other: u8) -> Option<usize> {
    let is_wanted = |&byte: &u8| byte == one || byte == other;
    let rest = bytes.get(from..)?;
    let lanes = rest.chunks_exact(LANE);
    let last = lanes.remainder();
    // This compiles to vector instructions; a search that ends at the first match would not.
    let has_wanted = |lane: &[u8]| {
        lane.iter()
            .fold(false, |found, byte| found | is_wanted(byte))
    };
    let mut at = from;
    for lane in lanes {
        if has_wanted(lane) {
            return lane.iter().position(is_wanted).map(|found| at + found);
        }
        at += LANE;
    }
    last.iter().position(is_wanted).map(|found| at + found)
}

impl<'a> JsonCursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let has_mark = bytes.starts_with(&BYTE_ORDER_MARK);
        let at = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
        Self { bytes, at }
    }

    /// An error at this position.
    pub(super) fn error(&self, expected: &str) -> Error {
        match self.bytes.get(self.at) {
            None => Error::from(SnapshotError::Truncated {
                length: self.bytes.len() as u64,
                expected: expected.to_owned(),
            }),
            Some(_) => {
                let end = (self.at + 16).min(self.bytes.len());
                let found = String::from_utf8_lossy(&self.bytes[self.at..end]).into_owned();
                Error::from(SnapshotError::Unreadable {
                    offset: self.at as u64,
                    message: format!("expected {expected}, found {found:?}"),
                })
            }
        }
    }

    /// The next byte that is not white space; it is not consumed.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                &byte => return Some(byte),
            }
        }
        None
    }

    /// Consumes this byte if it is next.
    pub(super) fn accept(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    /// The bytes between the quotes of a string.
    pub(super) fn raw_string(&mut self) -> Result<&'a [u8]> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        loop {
            match find(self.bytes, self.at, b'"', b'\\') {
                Some(end) if self.bytes[end] == b'"' => {
                    self.at = end + 1;
                    return Ok(&self.bytes[start..end]);
                }
                // The byte after a backslash cannot end the string.
                Some(escape) => self.at = escape + 2,
                None => {
                    self.at = self.bytes.len();
                    return Err(self.error("the end of a string"));
                }
            }
        }
    }

    /// A short string, such as a key or the name of a type.
    pub(super) fn text(&mut self) -> Result<String> {
        const MOST: usize = 1 << 10;
        let start = self.at;
        let raw = self.raw_string()?;
        if raw.len() > MOST {
            self.at = start;
            return Err(self.error("a short string"));
        }
        let quoted = [b"\"", raw, b"\""].concat();
        serde_json::from_slice(&quoted).map_err(|_| {
            self.at = start;
            self.error("a string")
        })
    }

    /// A whole number that is not negative.
    pub(super) fn whole_number(&mut self) -> Result<u64> {
        self.peek();
        number_at(self.bytes, &mut self.at).ok_or_else(|| self.error("a whole number"))
    }

    /// Skips any value, without recursion.
    pub(super) fn skip_value(&mut self) -> Result<()> {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.raw_string()?;
                }
                Some(b'[' | b'{') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b']' | b'}') => {
                    depth = depth.checked_sub(1).ok_or_else(|| self.error("a value"))?;
                    self.at += 1;
                }
                Some(b',' | b':') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => {
                    let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'E' | b'0'..=b'9' | b'a'..=b'z');
                    let rest = &self.bytes[self.at..];
                    self.at += rest
                        .iter()
                        .position(|byte| !is_part(byte))
                        .unwrap_or(rest.len());
                }
                _ => return Err(self.error("a value")),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The keys of an object. `read` consumes the value of each.
    pub(super) fn object(
        &mut self,
        mut read: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        self.expect(b'{', "an object")?;
        if self.accept(b'}') {
            return Ok(());
        }
        loop {
            self.peek();
            let key = self.text()?;
            self.expect(b':', "\":\" after a key")?;
            self.peek();
            read(self, &key)?;
            if self.accept(b'}') {
                return Ok(());
            }
            self.expect(b',', "\",\" or \"}\"")?;
        }
    }

    /// The values of an array. `read` consumes each.
    pub(super) fn array(&mut self, mut read: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(b'[', "an array")?;
        if self.accept(b']') {
            return Ok(());
        }
        loop {
            self.peek();
            read(self)?;
            if self.accept(b']') {
                return Ok(());
            }
            self.expect(b',', "\",\" or \"]\"")?;
        }
    }
}

/// The whole number at a position, which moves to its end; `None` if there is none, if it has more than 19 digits, or a
/// zero before others, which JSON does not have.
#[inline]
pub(super) fn number_at(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let start = *at;
    let mut value = 0u64;
    while let Some(digit) = bytes.get(*at).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        *at += 1;
    }
    let digits = *at - start;
    if digits == 0 || digits > 19 || (digits > 1 && bytes[start] == b'0') {
        *at = start;
        return None;
    }
    Some(value)
}
