//! Where objects were allocated, if V8 recorded it: `trace_function_infos` are the functions, `trace_tree` the calls
//! between them, and `trace_node_id` of a node is the call that allocated it.

use base::control::CHECK_INTERVAL;
use std::collections::HashMap;

use super::calls::CallTree;
use super::numbers::NumberTexts;
use super::reader::File;
use super::strings::SnapshotStrings;
use base::columns;
use base::error::Result;
use heap::{AllocationLine, AllocationLines, NO_ALLOCATION};

impl File<'_, '_> {
    /// The line that allocated each node, given the ids of their calls.
    pub(super) fn allocation_lines(
        &self,
        calls: &CallTree,
        functions: &NumberTexts,
        traces: &[(u32, u64)],
        nodes: usize,
        strings: &SnapshotStrings,
    ) -> Result<Option<AllocationLines>> {
        if calls.0.is_empty() || traces.is_empty() {
            return Ok(None);
        }
        let functions = self.functions(functions, strings)?;
        let mut lines: Vec<AllocationLine> = Vec::new();
        let mut numbers: HashMap<AllocationLine, u32> = HashMap::new();
        // By call: the line of the innermost function that has a script. A call comes after its parent.
        let mut line_of_call: Vec<u32> = columns::with_capacity(calls.0.len())?;
        let mut by_id: HashMap<u64, u32> = HashMap::new();
        for call in &calls.0 {
            let function = usize::try_from(call.function).ok();
            let line = match function.and_then(|row| functions.get(row)) {
                Some(line) if !line.file.is_empty() => {
                    let next = lines.len() as u32;
                    let number = *numbers.entry(line.clone()).or_insert(next);
                    if number == next {
                        columns::push(&mut lines, line.clone())?;
                    }
                    number
                }
                _ => line_of_call
                    .get(call.parent as usize)
                    .copied()
                    .unwrap_or(NO_ALLOCATION),
            };
            by_id.insert(call.id, line);
            line_of_call.push(line);
        }
        let mut line_of = columns::repeated(NO_ALLOCATION, nodes)?;
        for (nth, &(node, call)) in traces.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                self.step.advance(0)?;
            }
            if let Some(&line) = by_id.get(&call) {
                line_of[node as usize] = line;
            }
        }
        Ok(Some(AllocationLines { lines, line_of }))
    }

    fn functions(
        &self,
        numbers: &NumberTexts,
        strings: &SnapshotStrings,
    ) -> Result<Vec<AllocationLine>> {
        let fields = &self.meta.function_fields;
        let column = |name: &str| fields.iter().position(|field| field == name);
        let (Some(at_name), Some(at_script), Some(at_line)) =
            (column("name"), column("script_name"), column("line"))
        else {
            return Ok(Vec::new());
        };
        let mut functions = columns::with_capacity(numbers.rows)?;
        for piece in 0..numbers.pieces.len() {
            numbers.read(self.bytes, piece, |function, row| {
                let text = |field: usize| match row[field] {
                    number if number < strings.len() as u64 => {
                        Ok(strings.text(number as u32).into_owned())
                    }
                    number => Err(self.bad_number(
                        numbers,
                        function,
                        field,
                        "a name of a function",
                        number,
                        "the number of a string",
                    )),
                };
                functions.push(AllocationLine {
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
