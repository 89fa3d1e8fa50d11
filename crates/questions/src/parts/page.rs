//! A part of a list, which a question asks for.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::QuestionError;
use base::error::Result;

pub(crate) const fn default_limit() -> u64 {
    20
}

/// The option `limit` of any question.
pub(crate) fn limit_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "integer",
        "minimum": 1,
        "x-cli": "-n, --limit <n>: list at most n entries (default: 20)",
        "x-agent": { "description": "entries to list", "maximum": 1000, "default": 20 },
    })
}

/// The option `offset` of any question.
pub(crate) fn offset_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "integer",
        "minimum": 0,
        "x-cli": "--offset <n>: leave out the first n entries (default: 0)",
        "x-agent": { "description": "entries to leave out first", "maximum": 4_294_967_296_u64, "default": 0 },
    })
}

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) offset: u64,
    pub(crate) limit: u64,
}

impl Page {
    /// The part of these values, which are in order.
    pub(crate) fn of<T>(self, values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let [offset, limit] = [self.offset, self.limit].map(|number| number.min(1 << 40) as usize);
        values.into_iter().skip(offset).take(limit)
    }

    /// The number of values that must be sorted, from the first.
    pub(crate) fn end(self) -> usize {
        self.offset.saturating_add(self.limit).min(1 << 40) as usize
    }
}

/// The part from `offset`, of at most `limit` values.
pub(crate) fn page(offset: u64, limit: u64) -> Result<Page> {
    match limit {
        0 => Err(QuestionError::InvalidOption {
            name: "limit",
            found: "0".to_owned(),
            expected: "a whole number of at least 1",
        }
        .into()),
        limit => Ok(Page { offset, limit }),
    }
}
