//! Where objects were allocated, if V8 recorded it: `trace_function_infos` are the functions, `trace_tree` the calls
//! between them, and `trace_node_id` of a node is the call that allocated it.

use std::collections::HashMap;

use super::json::Cursor;
use super::numbers::Numbers;
use super::reader::File;
use super::strings::Strings;
use base::columns;
use base::control::Step;
use base::error::{Error, Result};
use heap::{AllocationPlace, AllocationPlaces, NO_ALLOCATION};

/// The number of nodes between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 16;
/// The parent of the first call.
const NO_PARENT: u32 = u32::MAX;
/// The fields of a call that are read, in the order in which all versions of V8 write them.
const CALL_FIELDS: [&str; 5] = ["id", "function_info_index", "count", "size", "children"];

/// A call in the tree.
struct Call {
    id: u64,
    /// The row of its function.
    function: u64,
    /// The position of the call that made it.
    parent: u32,
}

/// The tree of calls, each after the one that made it.
#[derive(Default)]
pub(super) struct Calls(Vec<Call>);

impl Calls {
    /// Reads the tree, without recursion. Trees with other fields are skipped.
    pub(super) fn read(
        cursor: &mut Cursor<'_>,
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

impl File<'_, '_> {
    /// The place that allocated each node, given the ids of their calls.
    pub(super) fn allocation_places(
        &self,
        calls: &Calls,
        functions: &Numbers,
        traces: &[(u32, u64)],
        nodes: usize,
        strings: &Strings,
    ) -> Result<Option<AllocationPlaces>> {
        if calls.0.is_empty() || traces.is_empty() {
            return Ok(None);
        }
        let functions = self.functions(functions, strings)?;
        let mut places: Vec<AllocationPlace> = Vec::new();
        let mut numbers: HashMap<AllocationPlace, u32> = HashMap::new();
        // By call: the place of the innermost function that has a script. A call comes after its parent.
        let mut place_of_call: Vec<u32> = columns::with_capacity(calls.0.len())?;
        let mut by_id: HashMap<u64, u32> = HashMap::new();
        for call in &calls.0 {
            let function = usize::try_from(call.function).ok();
            let place = function.and_then(|row| functions.get(row));
            let place = match place {
                Some(place) if !place.file.is_empty() => {
                    let next = places.len() as u32;
                    let number = *numbers.entry(place.clone()).or_insert(next);
                    if number == next {
                        columns::push(&mut places, place.clone())?;
                    }
                    number
                }
                _ => place_of_call
                    .get(call.parent as usize)
                    .copied()
                    .unwrap_or(NO_ALLOCATION),
            };
            by_id.insert(call.id, place);
            place_of_call.push(place);
        }
        let mut place_of = columns::repeated(NO_ALLOCATION, nodes)?;
        for (nth, &(node, call)) in traces.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            if let Some(&place) = by_id.get(&call) {
                place_of[node as usize] = place;
            }
        }
        Ok(Some(AllocationPlaces { places, place_of }))
    }

    fn functions(&self, numbers: &Numbers, strings: &Strings) -> Result<Vec<AllocationPlace>> {
        let fields = &self.meta.function_fields;
        let place = |name: &str| fields.iter().position(|field| field == name);
        let (Some(at_name), Some(at_script), Some(at_line)) =
            (place("name"), place("script_name"), place("line"))
        else {
            return Ok(Vec::new());
        };
        let mut functions = columns::with_capacity(numbers.rows)?;
        for piece in 0..numbers.pieces.len() {
            numbers.read(self.bytes, piece, |nth, row| {
                let text = |field: usize| match row[field] {
                    number if number < strings.len() as u64 => {
                        Ok(strings.text(number as u32).into_owned())
                    }
                    number => Err(self.bad_number(
                        numbers,
                        numbers.pieces[piece].1 + nth,
                        field,
                        "a name of a function",
                        number,
                        "the number of a string",
                    )),
                };
                functions.push(AllocationPlace {
                    function: text(at_name)?,
                    file: text(at_script)?,
                    line: u32::try_from(row[at_line]).unwrap_or_default(),
                });
                Ok(())
            })?;
        }
        Ok(functions)
    }
}
