//! The entries of weak maps. V8 writes each value as two references, one from the key and one from the table,
//! and names both `2 / part of key (Object @1) -> value (Object @3) pair in WeakMap (table @5)`.

use std::collections::HashMap;

use super::raw::{EdgeKind, RawSnapshot};
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
pub use heap::WideLabel;

/// An entry of a weak map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WeakMapEntry {
    /// The same for both of its edges.
    pub(super) pair: u32,
    /// The id of the table.
    pub(super) table: u64,
}

/// The entries of all weak maps, by the name of the edge.
#[derive(Default)]
pub(super) struct Ephemerons {
    by_name: HashMap<u32, WeakMapEntry>,
    /// The number of pairs.
    pub(super) pairs: u32,
}

impl Ephemerons {
    pub(super) fn find(raw: &RawSnapshot, step: &Step<'_>) -> Result<Self> {
        let mut pairs: HashMap<&[u8], u32> = HashMap::new();
        let mut by_name = HashMap::new();
        for (nth, &name) in raw.internal_names.iter().enumerate() {
            if nth % CHECK_INTERVAL == 0 {
                step.advance(0)?;
            }
            if let Some((pair, table)) = parse(raw.strings.bytes(name)) {
                let known = pairs.len() as u32;
                let pair = *pairs.entry(pair).or_insert(known);
                by_name.insert(name, WeakMapEntry { pair, table });
            }
        }
        let pairs = pairs.len() as u32;
        Ok(Self { by_name, pairs })
    }

    /// The entry of an edge with this label.
    #[inline]
    pub(super) fn of(&self, label: WideLabel) -> Option<WeakMapEntry> {
        if self.by_name.is_empty() || EdgeKind::of_label(label) != EdgeKind::Internal {
            None
        } else {
            self.of_name(label.number())
        }
    }

    /// The entry of an internal edge with this name.
    pub(super) fn of_name(&self, name: u32) -> Option<WeakMapEntry> {
        self.by_name.get(&name).copied()
    }
}

/// The part of a name after its number, and the id of the table.
fn parse(name: &[u8]) -> Option<(&[u8], u64)> {
    let (_, rest) = digits(name)?;
    let pair = rest;
    let rest = rest.strip_prefix(b" / part of key (")?.strip_suffix(b")")?;
    let (rest, table) = digits_at_end(rest)?;
    let rest = rest.strip_suffix(b") pair in WeakMap (table @")?;
    let (rest, _) = digits_at_end(rest)?;
    let rest = rest.strip_suffix(b" @")?;
    // The rest is `Key @1) -> value (Value`, where both names can contain anything.
    const ARROW: &[u8] = b") -> value (";
    let is_arrow = |at: usize| {
        let key = &rest[..at];
        rest[at..].starts_with(ARROW)
            && digits_at_end(key).is_some_and(|(key, _)| key.ends_with(b" @"))
    };
    let has_line_break = rest.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    if has_line_break || !(0..rest.len()).any(is_arrow) {
        return None;
    }
    Some((pair, std::str::from_utf8(table).ok()?.parse().ok()?))
}

fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| text.split_at(count))
}

fn digits_at_end(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (count > 0).then(|| text.split_at(text.len() - count))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_name_of_an_entry_has_a_pair_and_a_table() {
        let name =
            b"2 / part of key (Object @1) -> value (system / Map @3) pair in WeakMap (table @57)";
        let pair = &name[1..];
        assert_eq!(parse(name), Some((pair, 57)));
        assert_eq!(
            parse(b"part of key (Object @1) -> value (A @3) pair in WeakMap (table @5)"),
            None
        );
        assert_eq!(
            parse(b"1 / part of key (Object) -> value (A @3) pair in WeakMap (table @5)"),
            None
        );
        assert_eq!(
            parse(b"1 / part of key (Object @1) -> value (A @3) pair in WeakMap (table @5) "),
            None
        );
    }
}
