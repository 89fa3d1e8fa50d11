//! The calls that V8 recorded while it tracked allocations: `trace_tree`.

use super::json::JsonCursor;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::{Error, Result};

/// The parent of the first call.
const NO_PARENT: u32 = u32::MAX;
/// The fields of a call that are read, in the order in which all versions of V8 write them.
const CALL_FIELDS: [&str; 5] = ["id", "function_info_index", "count", "size", "children"];

/// A call in the tree.
pub(super) struct Call {
    pub(super) id: u64,
    /// The row of its function.
    pub(super) function: u64,
    /// The position of the call that made it.
    pub(super) parent: u32,
}

/// The tree of calls, each after the one that made it.
#[derive(Default)]
pub(super) struct CallTree(pub(super) Vec<Call>);

impl CallTree {
    /// Reads the tree, without recursion. Trees with other fields are skipped.
    pub(super) fn read(
        cursor: &mut JsonCursor<'_>,
        fields: &[String],
        step: &Step<'_>,
    ) -> Result<Self> {
        let mut calls = Vec::new();
        if fields != CALL_FIELDS {
            cursor.skip_value()?;
            return Ok(Self(calls));
        }
        cursor.expect(b'[', "the calls of an allocation")?;
        let mut open: Vec<u32> = vec![NO_PARENT];
        while let Some(&parent) = open.last() {
            if calls.len().is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            if cursor.accept(b']') {
                open.pop();
                if !open.is_empty() {
                    cursor.accept(b',');
                }
                continue;
            }
            let mut number = || {
                let number = cursor.whole_number()?;
                cursor.expect(b',', "\",\" after a number")?;
                Ok::<u64, Error>(number)
            };
            let [id, function, _, _] = [number()?, number()?, number()?, number()?];
            cursor.expect(b'[', "the calls of a call")?;
            if calls.len() >= NO_PARENT as usize - 1 {
                return Err(cursor.error("fewer calls"));
            }
            columns::push(&mut open, calls.len() as u32)?;
            let call = Call {
                id,
                function,
                parent,
            };
            columns::push(&mut calls, call)?;
        }
        Ok(Self(calls))
    }
}
