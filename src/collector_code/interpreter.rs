//! Runs a function without running it: every value is what is known of it (a constant, the object
//! that is being visited, one of its fields, a global), both sides of every open condition are
//! taken, and every call is noted with what is known of its arguments.
//!
//! That is enough to read what a compiler generated as straight-line code, inlined or not, and it
//! stays linear: where branches meet, values that differ become unknown; loops are read once, with
//! everything that the function assigns unknown from their start on.

use std::collections::HashMap;
use std::rc::Rc;

use wasmparser::{BlockType, BrTable, Operator};

use super::value::{Base, Value};
use crate::control::Control;
use crate::module::{Functions, Signature};

/// A call that was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Call {
    /// The function index; `None` for an indirect call.
    pub(super) function: Option<u32>,
    /// What is known of its arguments.
    pub(super) arguments: Vec<Value>,
}

/// What a function does.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Its calls, in code order.
    pub(super) calls: Vec<Call>,
    /// What it returns, if it always returns the same known value.
    pub(super) result: Option<Value>,
}

/// The class id of the object, which decides where a visitor branches to: it lies in the header.
const CLASS_ID_OFFSET: i32 = -8;

/// Functions that call each other for a value are followed this deep.
const CALL_DEPTH: u32 = 4;

/// Reads functions of one module.
#[derive(Debug)]
pub(super) struct Interpreter<'m, 'a> {
    pub(super) functions: &'m Functions<'a>,
    /// The class id of the object that is visited, if one is assumed.
    pub(super) class_id: Option<u32>,
    /// Instructions that may still be read, and values copied: hostile code must not take forever, nor
    /// all memory.
    pub(super) budget: u64,
    control: Control,
    decoded: HashMap<u32, Rc<Decoded<'a>>>,
}

/// A function that was read before is not decoded again.
#[derive(Debug)]
struct Decoded<'a> {
    operators: Vec<Operator<'a>>,
    /// Where the frame ends, or its `else` is, that each operator opens; 0 for the others.
    next_parts: Vec<usize>,
    /// The locals that it assigns.
    assigned: Vec<usize>,
}

impl<'m, 'a> Interpreter<'m, 'a> {
    /// An interpreter that may not read anything yet.
    pub(super) fn new(functions: &'m Functions<'a>, control: Control) -> Self {
        Self {
            functions,
            class_id: None,
            budget: 0,
            control,
            decoded: HashMap::new(),
        }
    }

    /// Reads a function. `None` if it has no body, uses instructions that no visitor uses, or
    /// exceeds the budget, or if the work was cancelled.
    pub(super) fn read(&mut self, function: u32, arguments: &[Value]) -> Option<Reading> {
        self.read_at_depth(function, arguments, 0)
    }

    fn read_at_depth(&mut self, function: u32, arguments: &[Value], depth: u32) -> Option<Reading> {
        let signature = self.functions.signature(function)?;
        let body = self.functions.body(function)?;
        let mut locals = arguments.to_vec();
        locals.resize(signature.parameters as usize, Value::Unknown);
        for declaration in body.get_locals_reader().ok()? {
            let (count, ty) = declaration.ok()?;
            let initial = if ty == wasmparser::ValType::I32 {
                Value::constant(0)
            } else {
                Value::Unknown
            };
            // Engines allow 50,000 locals.
            let length = locals
                .len()
                .checked_add(count as usize)
                .filter(|&length| length <= 50_000)?;
            self.spend(1 + u64::from(count))?;
            locals.resize(length, initial);
        }
        let decoded = self.decode(function)?;

        let mut run = Run {
            interpreter: self,
            depth,
            assigned: &decoded.assigned,
            state: Some(State {
                locals,
                stack: Vec::new(),
            }),
            frames: Vec::new(),
            calls: Vec::new(),
        };
        run.open(
            false,
            Signature {
                parameters: 0,
                results: signature.results,
            },
        );
        run.frames.last_mut()?.next_part = decoded.operators.len().checked_sub(1)?;
        let mut at = 0;
        while let Some(operator) = decoded.operators.get(at) {
            run.step(operator)?;
            if let Some(frame) = run.frames.last_mut()
                && decoded.next_parts[at] != 0
            {
                frame.next_part = decoded.next_parts[at];
            }
            at = run.next_reached(at + 1);
        }
        let result = run.state.as_mut().and_then(|state| state.stack.pop());
        Some(Reading {
            calls: run.calls,
            result,
        })
    }

    fn spend(&mut self, steps: u64) -> Option<()> {
        self.control.check().ok()?;
        self.budget = self.budget.checked_sub(steps)?;
        Some(())
    }

    fn decode(&mut self, function: u32) -> Option<Rc<Decoded<'a>>> {
        if let Some(decoded) = self.decoded.get(&function) {
            return Some(Rc::clone(decoded));
        }
        let mut operators = Vec::new();
        let mut next_parts = Vec::new();
        let mut open = Vec::new();
        let mut assigned = Vec::new();
        for operator in self.functions.body(function)?.get_operators_reader().ok()? {
            self.spend(1)?;
            let operator = operator.ok()?;
            if let Operator::LocalSet { local_index } | Operator::LocalTee { local_index } =
                operator
            {
                assigned.push(local_index as usize);
            }
            let at = operators.len();
            if let Operator::Else | Operator::End = operator
                && let Some(part) = open.pop()
            {
                next_parts[part] = at;
            }
            if let Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else = operator
            {
                open.push(at);
            }
            operators.push(operator);
            next_parts.push(0);
        }
        assigned.sort_unstable();
        assigned.dedup();
        let decoded = Rc::new(Decoded {
            operators,
            next_parts,
            assigned,
        });
        self.decoded.insert(function, Rc::clone(&decoded));
        Some(decoded)
    }
}

#[derive(Clone)]
struct State {
    locals: Vec<Value>,
    stack: Vec<Value>,
}

impl State {
    fn pop(&mut self) -> Option<Value> {
        self.stack.pop()
    }

    fn join(&mut self, other: &Self) {
        let values = self.locals.iter_mut().zip(&other.locals);
        for (value, &other) in values.chain(self.stack.iter_mut().zip(&other.stack)) {
            *value = value.join(other);
        }
    }
}

struct Frame {
    /// Whether branches lead to the start.
    is_loop: bool,
    /// The height of the stack below the frame's parameters.
    height: usize,
    results: usize,
    /// What reaches the frame's end by branches.
    at_end: Option<State>,
    /// What the other side of an `if` starts with.
    otherwise: Option<State>,
    /// The position of the frame's `else` or end.
    next_part: usize,
}

struct Run<'i, 'm, 'a> {
    interpreter: &'i mut Interpreter<'m, 'a>,
    depth: u32,
    assigned: &'i [usize],
    /// `None` where the code cannot be reached.
    state: Option<State>,
    frames: Vec<Frame>,
    calls: Vec<Call>,
}

impl Run<'_, '_, '_> {
    /// The next operator that matters from this position on. Code that cannot be reached is passed
    /// over, with all frames whose ends nothing reaches: a function that branches to one of ten
    /// thousand cases would otherwise take ten thousand times as long for each.
    fn next_reached(&mut self, position: usize) -> usize {
        if self.state.is_some() {
            return position;
        }
        let is_reached = |frame: &Frame| frame.at_end.is_some() || frame.otherwise.is_some();
        let mut frames = self.frames.iter();
        // The function's own end is as good as reached.
        let innermost = frames.rposition(is_reached).unwrap_or_default();
        self.frames.truncate(innermost + 1);
        self.frames.last().map_or(position, |frame| frame.next_part)
    }

    fn step(&mut self, operator: &Operator<'_>) -> Option<()> {
        match operator {
            Operator::Block { blockty } => {
                let signature = self.block_signature(*blockty)?;
                self.open(false, signature);
            }
            Operator::Loop { blockty } => {
                let signature = self.block_signature(*blockty)?;
                if let Some(state) = &mut self.state {
                    self.interpreter.spend(self.assigned.len() as u64)?;
                    for &local in self.assigned {
                        *state.locals.get_mut(local)? = Value::Unknown;
                    }
                }
                self.open(true, signature);
            }
            Operator::If { blockty } => {
                let signature = self.block_signature(*blockty)?;
                let condition = self.state.as_mut().and_then(State::pop);
                let (then, otherwise) = self.split(condition)?;
                self.state = then;
                self.open(false, signature);
                let frame = self.frames.last_mut()?;
                // The condition's side may be closed, but its stack is as high.
                frame.otherwise = otherwise;
                if let (None, Some(other)) = (&self.state, &frame.otherwise) {
                    frame.height = other
                        .stack
                        .len()
                        .checked_sub(signature.parameters as usize)?;
                }
            }
            Operator::Else => {
                let here = self.state.take();
                let frame = self.frames.last_mut()?;
                merge(&mut frame.at_end, here);
                self.state = frame.otherwise.take();
            }
            Operator::End => self.close()?,
            Operator::Br { relative_depth } => self.branch(*relative_depth)?,
            Operator::BrIf { relative_depth } => {
                let condition = self.state.as_mut().and_then(State::pop);
                let (taken, passed) = self.split(condition)?;
                self.state = taken;
                self.branch(*relative_depth)?;
                self.state = passed;
            }
            Operator::BrTable { targets } => self.branch_by_table(targets)?,
            Operator::Return => self.branch((self.frames.len() as u32).checked_sub(1)?)?,
            Operator::Unreachable => self.state = None,
            _ if self.state.is_none() => {}
            Operator::Call { function_index } => self.call(*function_index)?,
            Operator::CallIndirect { type_index, .. } => {
                let signature = self.interpreter.functions.signature_of_type(*type_index)?;
                self.replace(1, 0)?;
                let arguments = self.take_arguments(signature)?;
                self.calls.push(Call {
                    function: None,
                    arguments,
                });
                self.replace(0, signature.results)?;
            }
            other => self.compute(other)?,
        }
        self.interpreter.spend(1)
    }

    /// An instruction that neither branches nor calls.
    fn compute(&mut self, operator: &Operator<'_>) -> Option<()> {
        let class_id = self.interpreter.class_id;
        let state = self.state.as_mut()?;
        let value = match operator {
            Operator::I32Const { value } => Value::constant(*value as u32),
            Operator::LocalGet { local_index } => *state.locals.get(*local_index as usize)?,
            Operator::LocalSet { local_index } => {
                *state.locals.get_mut(*local_index as usize)? = state.stack.pop()?;
                return Some(());
            }
            Operator::LocalTee { local_index } => {
                *state.locals.get_mut(*local_index as usize)? = *state.stack.last()?;
                return Some(());
            }
            Operator::GlobalGet { global_index } => Value::base(Base::Global(*global_index)),
            Operator::I32Add => {
                let right = state.pop()?;
                state.pop()?.add(right)
            }
            Operator::I32Sub => {
                let right = state.pop()?;
                state.pop()?.subtract(right)
            }
            Operator::I32Load { memarg } => {
                let address = state.pop()?.add(Value::constant(memarg.offset as u32));
                loaded(address, class_id)
            }
            other => {
                // Arities that depend on types or labels belong to instructions that no visitor
                // contains.
                let (taken, given) = other.operator_arity(&NoTypes)?;
                return self.replace(taken, given);
            }
        };
        state.stack.push(value);
        Some(())
    }

    fn call(&mut self, function: u32) -> Option<()> {
        let signature = self.interpreter.functions.signature(function)?;
        let arguments = self.take_arguments(signature)?;
        let is_about_something = arguments.iter().any(|argument| *argument != Value::Unknown);
        // A getter, as unoptimised builds use them for every field.
        let result = (signature.results == 1 && is_about_something && self.depth < CALL_DEPTH)
            .then(|| {
                self.interpreter
                    .read_at_depth(function, &arguments, self.depth + 1)
            })
            .flatten()
            .and_then(|reading| reading.result);
        self.interpreter.spend(signature.results.into())?;
        let state = self.state.as_mut()?;
        for _ in 0..signature.results {
            state.stack.push(result.unwrap_or(Value::Unknown));
        }
        self.calls.push(Call {
            function: Some(function),
            arguments,
        });
        Some(())
    }

    fn take_arguments(&mut self, signature: Signature) -> Option<Vec<Value>> {
        self.interpreter.spend(signature.parameters.into())?;
        let stack = &mut self.state.as_mut()?.stack;
        let first = stack.len().checked_sub(signature.parameters as usize)?;
        Some(stack.split_off(first))
    }

    fn replace(&mut self, taken: u32, given: u32) -> Option<()> {
        self.interpreter.spend(given.into())?;
        let stack = &mut self.state.as_mut()?.stack;
        let kept = stack.len().checked_sub(taken as usize)?;
        stack.truncate(kept);
        stack.resize(kept + given as usize, Value::Unknown);
        Some(())
    }

    /// The states with which a condition holds and does not hold.
    fn split(&mut self, condition: Option<Value>) -> Option<(Option<State>, Option<State>)> {
        let state = self.state.take();
        Some(match condition.and_then(Value::as_constant) {
            Some(0) => (None, state),
            Some(_) => (state, None),
            None => (self.copy(&state)?, state),
        })
    }

    /// A copy, which counts with all its values: there may be 50,000 locals, and a branch at every turn.
    /// Whatever is joined or dropped later was copied before.
    fn copy(&mut self, state: &Option<State>) -> Option<Option<State>> {
        if let Some(state) = state {
            let values = state.locals.len() + state.stack.len();
            self.interpreter.spend(values as u64)?;
        }
        Some(state.clone())
    }

    fn open(&mut self, is_loop: bool, signature: Signature) {
        let height = self.state.as_ref().map_or(0, |state| state.stack.len());
        self.frames.push(Frame {
            is_loop,
            height: height.saturating_sub(signature.parameters as usize),
            results: signature.results as usize,
            at_end: None,
            otherwise: None,
            next_part: 0,
        });
    }

    fn close(&mut self) -> Option<()> {
        let here = self.state.take();
        let mut frame = self.frames.pop()?;
        merge(&mut frame.at_end, here);
        // An `if` without `else` may be passed over.
        merge(&mut frame.at_end, frame.otherwise);
        self.state = frame.at_end;
        Some(())
    }

    /// Carries the state to where a label leads.
    fn branch(&mut self, relative_depth: u32) -> Option<()> {
        let target = self.frames.len().checked_sub(relative_depth as usize + 1)?;
        let frame = self.frames.get_mut(target)?;
        let Some(mut state) = self.state.take() else {
            return Some(());
        };
        // A jump back to a loop's start adds nothing: what it assigns is unknown there anyway.
        if !frame.is_loop {
            let results = state.stack.len().checked_sub(frame.results)?;
            if results < frame.height {
                return None;
            }
            state.stack.drain(frame.height..results);
            merge(&mut frame.at_end, Some(state));
        }
        Some(())
    }

    fn branch_by_table(&mut self, targets: &BrTable<'_>) -> Option<()> {
        let index = self.state.as_mut().and_then(State::pop);
        let state = self.state.take();
        if state.is_none() {
            return Some(());
        }
        let chosen = index.and_then(Value::as_constant);
        let count = targets.len();
        self.interpreter.spend(count.into())?;
        let all = targets.targets().chain([Ok(targets.default())]);
        for (nth, target) in (0..).zip(all) {
            if chosen.is_none_or(|chosen| chosen.min(count) == nth) {
                self.state = self.copy(&state)?;
                self.branch(target.ok()?)?;
            }
        }
        self.state = None;
        Some(())
    }

    fn block_signature(&self, ty: BlockType) -> Option<Signature> {
        Some(match ty {
            BlockType::Empty => Signature::default(),
            BlockType::Type(_) => Signature {
                parameters: 0,
                results: 1,
            },
            BlockType::FuncType(index) => self.interpreter.functions.signature_of_type(index)?,
        })
    }
}

/// The word at an address.
fn loaded(address: Value, class_id: Option<u32>) -> Value {
    match address {
        Value::Known {
            base: Base::Object,
            plus,
        } if plus as i32 == CLASS_ID_OFFSET => class_id.map_or(Value::Unknown, Value::constant),
        Value::Known {
            base: Base::Object,
            plus,
        } if plus as i32 >= 0 => Value::base(Base::Field(plus)),
        _ => Value::Unknown,
    }
}

fn merge(into: &mut Option<State>, other: Option<State>) {
    match (into.as_mut(), other) {
        (Some(state), Some(other)) => state.join(&other),
        (None, other) => *into = other,
        (Some(_), None) => {}
    }
}

/// For the arity of instructions that need no types.
struct NoTypes;

impl wasmparser::ModuleArity for NoTypes {
    fn sub_type_at(&self, _: u32) -> Option<&wasmparser::SubType> {
        None
    }

    fn tag_type_arity(&self, _: u32) -> Option<(u32, u32)> {
        None
    }

    fn type_index_of_function(&self, _: u32) -> Option<u32> {
        None
    }

    fn func_type_of_cont_type(&self, _: &wasmparser::ContType) -> Option<&wasmparser::FuncType> {
        None
    }

    fn sub_type_of_ref_type(&self, _: &wasmparser::RefType) -> Option<&wasmparser::SubType> {
        None
    }

    fn control_stack_height(&self) -> u32 {
        0
    }

    fn label_block(&self, _: u32) -> Option<(BlockType, wasmparser::FrameKind)> {
        None
    }
}
