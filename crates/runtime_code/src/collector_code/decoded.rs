//! Functions, decoded for the machine.

use wasmparser::Operator;

use wasm::module::Functions;

/// The operators of a function, and where its blocks end.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) parameters: usize,
    pub(super) results: usize,
    /// Parameters and locals.
    pub(super) locals: usize,
    pub(super) operators: Vec<Operator<'a>>,
    /// For each operator that opens a block: the position of its `else` if it has one, or else of its `end`.
    pub(super) next_part: Vec<u32>,
    /// For each of those, and for `else`: the position of the block's `end`.
    pub(super) end: Vec<u32>,
}

impl<'a> Decoded<'a> {
    /// Decodes a function, and asks before each operator whether there is a step for it.
    pub(super) fn new(
        functions: &Functions<'a>,
        function: u32,
        mut spend: impl FnMut() -> Option<()>,
    ) -> Option<Self> {
        let body = functions.body(function)?;
        let signature = functions.signature(function)?;
        let parameters = signature.parameters as usize;
        let mut locals = parameters;
        for declaration in body.get_locals_reader().ok()? {
            let (count, _) = declaration.ok()?;
            // Engines allow 50,000 locals.
            locals = locals
                .checked_add(count as usize)
                .filter(|&locals| locals <= 50_000)?;
        }
        let mut decoded = Self {
            parameters,
            results: signature.results as usize,
            locals,
            operators: Vec::new(),
            next_part: Vec::new(),
            end: Vec::new(),
        };
        // The positions of an open block and of its `else`.
        let mut open: Vec<(usize, Option<usize>)> = Vec::new();
        for operator in body.get_operators_reader().ok()? {
            spend()?;
            let operator = operator.ok()?;
            let at = decoded.operators.len();
            match operator {
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                    open.push((at, None));
                }
                Operator::Else => {
                    let (start, middle) = open.last_mut()?;
                    *middle = Some(at);
                    decoded.next_part[*start] = at as u32;
                }
                Operator::End => {
                    if let Some((start, middle)) = open.pop() {
                        decoded.end[start] = at as u32;
                        match middle {
                            Some(middle) => decoded.end[middle] = at as u32,
                            None => decoded.next_part[start] = at as u32,
                        }
                    }
                }
                _ => {}
            }
            decoded.operators.push(operator);
            decoded.next_part.push(0);
            decoded.end.push(0);
        }
        Some(decoded)
    }
}
