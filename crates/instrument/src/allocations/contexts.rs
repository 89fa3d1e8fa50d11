//! Code by which a module knows the way of calls to each allocation, so that the engine's stack is captured once for
//! each way and not for each allocation.
//!
//! A _context_ is a hash of the calls that lead to a function: that of the caller, mixed with the number of the call.
//! It is passed in a global. The caller sets it before the call, and the function takes it and sets it to 0, so that
//! 0 says that the host called: then the host is asked who called (`entered`), because its own functions are on the
//! stack, too. While the program calls the host, a global says that functions of the program are on the stack below.
//! Only functions that may lead to an allocation have this code.

use std::cell::Cell;
use std::collections::BTreeSet;

use wasm_encoder::{BlockType, InstructionSink};
use wasmparser::{FunctionBody, Operator};

use super::edits::Edits;
use super::hooks::{CallGraph, Hooks};
use base::error::Result;
use wasm::module::{Module, unreadable};

/// The factors of the hash are odd, so that different calls from one context never have the same. The first is 2^64 by the
/// golden ratio: with numbers of calls below 2^31, different ways of two calls from one context never have the same either.
const CONTEXT_FACTOR: i64 = 0x9E37_79B9_7F4A_7C15_u64 as i64;
const SITE_FACTOR: u32 = 0x85EB_CA6B;
const SITE_MASK: u32 = (1 << 31) - 1;
/// What the host answers has 32 bits; this one says that it is not 0.
const ENTRY: i64 = 1 << 32;

/// The indexes of what contexts need, and the functions that have their code.
pub(super) struct Contexts {
    pub(super) import_entered: u32,
    pub(super) import_known: u32,
    pub(super) import_keep_as: u32,
    /// The global with the context of the function that is called next.
    pub(super) passed: u32,
    /// The global that says whether the program called the host.
    pub(super) below_host: u32,
    /// Functions that may lead to an allocation, by their original indexes.
    pub(super) leading: BTreeSet<u32>,
    pub(super) next_site: Cell<u32>,
}

/// The functions from which one that allocates can be reached. What is called through a table or a reference can be
/// any.
pub(super) fn leading(module: &Module<'_>, hooks: &Hooks) -> Result<BTreeSet<u32>> {
    let mut leading = hooks.allocating();
    for (function, body) in module.functions.defined() {
        for operator in body.get_operators_reader().map_err(unreadable)? {
            if is_indirect(&operator.map_err(unreadable)?) {
                leading.insert(function);
                break;
            }
        }
    }
    let above = CallGraph::read(module)?.above(&leading);
    leading.extend(above);
    Ok(leading)
}

fn is_indirect(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::CallIndirect { .. }
            | Operator::CallRef { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. }
    )
}

impl Contexts {
    /// Takes the context of a function at its start into this local variable.
    pub(super) fn take(&self, code: &mut InstructionSink<'_>, own: u32) {
        code.global_get(self.passed).local_tee(own).i64_eqz();
        code.if_(BlockType::Empty);
        code.global_get(self.below_host).i32_wrap_i64();
        code.call(self.import_entered).i64_extend_i32_u();
        code.i64_const(ENTRY).i64_or();
        code.i64_const(CONTEXT_FACTOR).i64_mul();
        code.local_set(own).end();
        code.i64_const(0).global_set(self.passed);
    }

    /// Passes a context to the function that is called next. Each call has its own.
    pub(super) fn pass(&self, code: &mut InstructionSink<'_>, own: u32) {
        let site = self.next_site.replace(self.next_site.get() + 1);
        let number = site.wrapping_mul(SITE_FACTOR) & SITE_MASK;
        code.local_get(own).i64_const(number.into()).i64_add();
        code.i64_const(CONTEXT_FACTOR).i64_mul();
        code.global_set(self.passed);
    }

    /// Adds the code at the calls of a function. `own` has its context, if it has one; `before` keeps whether the program
    /// called the host. `imported` is the number of imported functions. Whether it calls the host.
    pub(super) fn at_calls(
        &self,
        body: &FunctionBody<'_>,
        (own, before): (Option<u32>, u32),
        imported: u32,
        edits: &mut Edits,
    ) -> Result<bool> {
        let mut calls_host = false;
        let mut operators = body.get_operators_reader().map_err(unreadable)?;
        while !operators.eof() {
            let (operator, at) = operators.read_with_offset().map_err(unreadable)?;
            let after = operators.original_position() as usize;
            let mut first = Vec::new();
            let mut last = Vec::new();
            let (mut first_code, mut last_code) = (
                InstructionSink::new(&mut first),
                InstructionSink::new(&mut last),
            );
            match (&operator, own) {
                (Operator::Call { function_index }, _) if *function_index < imported => {
                    calls_host = true;
                    first_code.global_get(self.below_host).local_set(before);
                    first_code.i64_const(1).global_set(self.below_host);
                    last_code.local_get(before).global_set(self.below_host);
                }
                // After it, nothing can be restored. Then the host is asked more often than it has to be.
                (Operator::ReturnCall { function_index }, _) if *function_index < imported => {
                    first_code.i64_const(1).global_set(self.below_host);
                }
                (Operator::ReturnCallIndirect { .. } | Operator::ReturnCallRef { .. }, Some(_)) => {
                    first_code.i64_const(1).global_set(self.below_host);
                }
                (
                    Operator::Call { function_index } | Operator::ReturnCall { function_index },
                    Some(own),
                ) if self.leading.contains(function_index) => self.pass(&mut first_code, own),
                (Operator::CallIndirect { .. } | Operator::CallRef { .. }, Some(own)) => {
                    self.pass(&mut first_code, own);
                    // A function that leads to no allocation did not take it.
                    last_code.i64_const(0).global_set(self.passed);
                }
                _ => {}
            }
            if !first.is_empty() {
                edits.insert(at as usize, first);
            }
            if !last.is_empty() {
                edits.insert(after, last);
            }
        }
        Ok(calls_host)
    }
}
