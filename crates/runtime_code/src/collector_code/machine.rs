//! Executes functions of a module, step by step, in a separate memory. The effects of a program's collector
//! can then be observed, however an optimiser changed its code.
//!
//! The machine runs what compilers generate for a runtime: integers, floats, memory, globals, direct calls.
//! Anything else (an indirect call, vectors, exceptions) ends the run, as does a trap. The code of a module is not
//! validated, so every operand is checked. Imported functions do nothing and return 1.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use wasmparser::{BlockType, Operator};

use super::call::{ActiveCall, OpenBlock};
use super::decoded::Decoded;
use super::memory::{MachineMemory, Pages, SparseMemory};
use super::observer::Observer;
use base::control::{CHECK_INTERVAL, Control};
use wasm::module::{Functions, Signature};

/// The largest number of nested calls. The deepest recursion of a runtime is a few calls.
const MOST_FRAMES: usize = 200;

/// The largest number of values in all frames together.
const MOST_VALUES: usize = 1 << 16;

/// The number of globals that are copied in the time of a step.
const GLOBALS_PER_STEP: u64 = 16;

/// The number of values that are moved in the time of a step.
const VALUES_PER_STEP: u64 = 64;

/// The state that runs change.
#[derive(Clone, Debug)]
pub(super) struct MachineState<M = SparseMemory> {
    pub(super) memory: M,
    /// The values of all globals, by index.
    pub(super) globals: Vec<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The function returned.
    Returned,
    /// The observer ended it.
    Stopped,
    /// It trapped, used up its steps, or did something that the machine cannot do.
    Failed,
}

/// The globals that a run used.
#[derive(Debug, Default)]
pub(super) struct GlobalUse {
    pub(super) read: BTreeSet<u32>,
    pub(super) written: BTreeSet<u32>,
}

/// Executes functions of one module.
#[derive(Debug)]
pub(super) struct Machine<'m, 'a> {
    pub(super) functions: &'m Functions<'a>,
    /// Steps that may still be executed: hostile code must not take forever.
    pub(super) budget: u64,
    /// The last result of the call that was executed last.
    pub(super) result: Option<u64>,
    pub(super) control: Control,
    /// A function that was executed before is not decoded again.
    decoded: HashMap<u32, Option<Rc<Decoded<'a>>>>,
}

impl<'m, 'a> Machine<'m, 'a> {
    /// A machine with a budget of 0 steps.
    pub(super) fn new(functions: &'m Functions<'a>, control: &Control) -> Self {
        Self {
            functions,
            budget: 0,
            result: None,
            control: control.clone(),
            decoded: HashMap::new(),
        }
    }

    /// Takes the steps of the next run from those that are `left`: `budget` at most, and none for cancelled work. What
    /// the last run did not need is given back.
    pub(super) fn begin(&mut self, budget: u64, left: &mut u64) {
        *left += std::mem::take(&mut self.budget);
        // A run may be too short for a check.
        if self.control.count(1).is_ok() {
            self.budget = budget.min(*left);
            *left -= self.budget;
        }
    }

    /// A copy of a state for a run. It costs steps, because a module has as many globals as it likes. `None` if too
    /// few steps are left, or the work was cancelled.
    pub(super) fn copy(&mut self, state: &MachineState, left: &mut u64) -> Option<MachineState> {
        *left += std::mem::take(&mut self.budget);
        let steps = 1 + state.globals.len() as u64 / GLOBALS_PER_STEP;
        let Some(rest) = left.checked_sub(steps) else {
            *left = 0;
            return None;
        };
        *left = rest;
        self.control.count(steps).ok()?;
        Some(state.clone())
    }

    /// Executes a function.
    pub(super) fn call<M: MachineMemory>(
        &mut self,
        function: u32,
        arguments: &[u64],
        state: &mut MachineState<M>,
        uses: &mut GlobalUse,
        observer: &mut impl Observer,
    ) -> End {
        let mut run = MachineRun {
            machine: self,
            state,
            uses,
            observer,
            codes: Vec::new(),
            frames: Vec::new(),
            values: arguments.to_vec(),
            is_stopped: false,
        };
        let done = run.enter(function).and_then(|()| run.execute());
        let (is_stopped, result) = (run.is_stopped, run.values.last().copied());
        self.result = result;
        match (done, is_stopped) {
            (_, true) => End::Stopped,
            (Some(()), _) => End::Returned,
            (None, _) => End::Failed,
        }
    }

    pub(super) fn spend(&mut self, steps: u64) -> Option<()> {
        let rest = self.budget.checked_sub(steps)?;
        let interval = CHECK_INTERVAL as u64;
        if rest / interval != self.budget / interval {
            self.control.count(steps.max(interval)).ok()?;
        }
        self.budget = rest;
        Some(())
    }

    fn decode(&mut self, function: u32) -> Option<Rc<Decoded<'a>>> {
        if let Some(decoded) = self.decoded.get(&function) {
            return decoded.clone();
        }
        let functions = self.functions;
        let decoded = Decoded::new(functions, function, || self.spend(1)).map(Rc::new);
        self.decoded.insert(function, decoded.clone());
        decoded
    }
}

pub(super) struct MachineRun<'r, 'm, 'a, O, M> {
    pub(super) machine: &'r mut Machine<'m, 'a>,
    pub(super) state: &'r mut MachineState<M>,
    uses: &'r mut GlobalUse,
    pub(super) observer: &'r mut O,
    /// The code of each frame.
    codes: Vec<Rc<Decoded<'a>>>,
    pub(super) frames: Vec<ActiveCall>,
    /// Locals and operands of all frames.
    pub(super) values: Vec<u64>,
    pub(super) is_stopped: bool,
}

impl<'a, O: Observer, M: MachineMemory> MachineRun<'_, '_, 'a, O, M> {
    /// Begins a call, whose arguments are the last values.
    fn enter(&mut self, function: u32) -> Option<()> {
        let signature = self.machine.functions.signature(function)?;
        let locals = self
            .values
            .len()
            .checked_sub(signature.parameters as usize)?;
        if self.machine.functions.body(function).is_none() {
            self.values.truncate(locals);
            self.values.extend((0..signature.results).map(|_| 1));
            return (signature.results <= 1 && self.observer.may_call_host()).then_some(());
        }
        let code = self.machine.decode(function)?;
        if self.frames.len() == MOST_FRAMES || self.values.len() + code.locals > MOST_VALUES {
            return None;
        }
        self.machine
            .spend(1 + (code.locals - code.parameters) as u64)?;
        let arguments = self.values[locals..].to_vec();
        self.values.resize(locals + code.locals, 0);
        self.frames.push(ActiveCall {
            function,
            arguments,
            locals,
            at: 0,
            labels: vec![OpenBlock {
                target: code.operators.len(),
                is_loop: false,
                arity: code.results,
                height: self.values.len(),
            }],
            code: self.codes.len(),
        });
        self.codes.push(code);
        Some(())
    }

    /// Executes until the outermost call has returned.
    fn execute(&mut self) -> Option<()> {
        while let Some(frame) = self.frames.last_mut() {
            let code = Rc::clone(self.codes.get(frame.code)?);
            let Some(operator) = code.operators.get(frame.at) else {
                self.leave(code.results)?;
                continue;
            };
            let at = frame.at;
            frame.at += 1;
            self.machine.spend(1)?;
            if self.values.len() > MOST_VALUES {
                return None;
            }
            self.step(operator, at, &code)?;
        }
        Some(())
    }

    /// Ends the innermost call: its results are the last values.
    fn leave(&mut self, results: usize) -> Option<()> {
        let frame = self.frames.pop()?;
        self.codes.truncate(frame.code);
        let first = self.values.len().checked_sub(results)?;
        if first < frame.locals {
            return None;
        }
        self.machine.spend(results as u64 / VALUES_PER_STEP)?;
        self.values.drain(frame.locals..first);
        Some(())
    }

    fn step(&mut self, operator: &Operator<'a>, at: usize, code: &Decoded<'a>) -> Option<()> {
        use Operator as Op;
        match operator {
            Op::Nop => {}
            Op::Block { blockty } => self.open(*blockty, code.end[at] as usize + 1, false)?,
            Op::Loop { blockty } => self.open(*blockty, at + 1, true)?,
            Op::If { blockty } => {
                let condition = self.pop32()?;
                self.open(*blockty, code.end[at] as usize + 1, false)?;
                if condition == 0 {
                    let next = code.next_part[at] as usize;
                    let has_else = matches!(code.operators.get(next), Some(Op::Else));
                    // If the target is an `end`, it is executed, so that the block is closed.
                    self.jump(next + usize::from(has_else));
                }
            }
            // The end of the first part of an `if`.
            Op::Else => {
                self.frames.last_mut()?.labels.pop()?;
                self.jump(code.end[at] as usize + 1);
            }
            Op::End => {
                self.frames.last_mut()?.labels.pop()?;
            }
            Op::Br { relative_depth } => self.branch(*relative_depth)?,
            Op::BrIf { relative_depth } => {
                if self.pop32()? != 0 {
                    self.branch(*relative_depth)?;
                }
            }
            Op::BrTable { targets } => {
                let index = self.pop32()?;
                // Targets are read one by one, so that each counts as a step.
                let mut depth = targets.default();
                if index < targets.len() {
                    self.machine.spend(u64::from(index / 16))?;
                    depth = targets.targets().nth(index as usize)?.ok()?;
                }
                self.branch(depth)?;
            }
            Op::Return => {
                let results = code.results;
                self.leave(results)?;
            }
            Op::Call { function_index } => self.enter(*function_index)?,
            Op::Drop => {
                self.values.pop()?;
            }
            Op::Select | Op::TypedSelect { .. } => {
                let condition = self.pop32()?;
                let second = self.values.pop()?;
                if condition == 0 {
                    *self.values.last_mut()? = second;
                }
            }
            Op::LocalGet { local_index } => {
                let value = *self.local(*local_index, code)?;
                self.values.push(value);
            }
            Op::LocalSet { local_index } => {
                let value = self.values.pop()?;
                *self.local(*local_index, code)? = value;
            }
            Op::LocalTee { local_index } => {
                let value = *self.values.last()?;
                *self.local(*local_index, code)? = value;
            }
            Op::GlobalGet { global_index } => {
                self.values
                    .push(*self.state.globals.get(*global_index as usize)?);
                self.uses.read.insert(*global_index);
            }
            Op::GlobalSet { global_index } => {
                let value = self.values.pop()?;
                *self.state.globals.get_mut(*global_index as usize)? = value;
                self.uses.written.insert(*global_index);
            }
            Op::I32Const { value } => self.values.push(u64::from(*value as u32)),
            Op::I64Const { value } => self.values.push(*value as u64),
            Op::F32Const { value } => self.values.push(value.bits().into()),
            Op::F64Const { value } => self.values.push(value.bits()),
            Op::MemorySize { mem: 0 } => {
                let (Pages::Enough(pages) | Pages::Exactly(pages)) = self.state.memory.pages();
                self.values.push(pages);
            }
            Op::MemoryGrow { mem: 0 } => {
                let Pages::Enough(pages) = self.state.memory.pages() else {
                    return None;
                };
                self.pop32()?;
                self.values.push(pages);
            }
            Op::MemoryFill { mem: 0 } => self.fill()?,
            Op::MemoryCopy {
                dst_mem: 0,
                src_mem: 0,
            } => self.copy()?,
            _ => self.compute(operator)?,
        }
        Some(())
    }

    fn open(&mut self, ty: BlockType, target: usize, is_loop: bool) -> Option<()> {
        let signature = match ty {
            BlockType::Empty => Signature::default(),
            BlockType::Type(_) => Signature {
                parameters: 0,
                results: 1,
            },
            BlockType::FuncType(index) => self.machine.functions.signature_of_type(index)?,
        };
        let height = self
            .values
            .len()
            .checked_sub(signature.parameters as usize)?;
        let arity = if is_loop {
            signature.parameters
        } else {
            signature.results
        };
        let frame = self.frames.last_mut()?;
        if frame.labels.len() == MOST_VALUES {
            return None;
        }
        frame.labels.push(OpenBlock {
            target,
            is_loop,
            arity: arity as usize,
            height,
        });
        Some(())
    }

    fn branch(&mut self, depth: u32) -> Option<()> {
        let frame = self.frames.last_mut()?;
        let index = frame.labels.len().checked_sub(1 + depth as usize)?;
        let label = *frame.labels.get(index)?;
        frame.labels.truncate(index + usize::from(label.is_loop));
        frame.at = label.target;
        let kept = self.values.len().checked_sub(label.arity)?;
        if kept < label.height {
            return None;
        }
        self.machine.spend(label.arity as u64 / VALUES_PER_STEP)?;
        self.values.drain(label.height..kept);
        Some(())
    }

    fn jump(&mut self, to: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = to;
        }
    }

    fn local(&mut self, index: u32, code: &Decoded<'_>) -> Option<&mut u64> {
        let index = index as usize;
        if index >= code.locals {
            return None;
        }
        let first = self.frames.last()?.locals;
        self.values.get_mut(first + index)
    }

    pub(super) fn pop32(&mut self) -> Option<u32> {
        self.values.pop().map(|value| value as u32)
    }
}
