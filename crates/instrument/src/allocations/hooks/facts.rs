//! What the code of a function contains, by which allocators without names are found.

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{FunctionBody, Operator, ValType};

use super::search::FunctionsByName;
use base::error::Result;
use wasm::module::unreadable;

/// Smaller numbers are not taken for addresses.
const LEAST_ADDRESS: u32 = 1024;

/// What a function contains.
pub(super) struct FunctionFacts {
    pub(super) constants: BTreeSet<i32>,
    /// Numbers that may be addresses.
    pub(super) addresses: BTreeSet<u32>,
    /// The functions that it calls.
    pub(super) calls: BTreeSet<u32>,
    /// The number of its parameters and results, if all are i32.
    pub(super) signature: Option<(usize, usize)>,
    /// Whether it counts the leading zeros of an i32, as a function does that finds the class of a size.
    pub(super) counts_leading: bool,
    /// Whether it counts the trailing zeros of an i64, as a function does that searches a mask of classes.
    pub(super) counts_trailing: bool,
}

impl FunctionFacts {
    fn of(body: &FunctionBody<'_>, signature: Option<(usize, usize)>) -> Result<Self> {
        let mut facts = Self {
            constants: BTreeSet::new(),
            addresses: BTreeSet::new(),
            calls: BTreeSet::new(),
            signature,
            counts_leading: false,
            counts_trailing: false,
        };
        let mut last = None;
        for operator in body.get_operators_reader().map_err(unreadable)? {
            let operator = operator.map_err(unreadable)?;
            let constant = last.take();
            match operator {
                Operator::I32Const { value } => {
                    facts.constants.insert(value);
                    facts.add_address(value as u32);
                    last = Some(value as u32);
                }
                Operator::I32Load { memarg } | Operator::I64Load { memarg } => {
                    let base = constant.unwrap_or(0);
                    facts.add_address(base.wrapping_add(memarg.offset as u32));
                }
                Operator::I32Store { memarg } | Operator::I64Store { memarg } => {
                    facts.add_address(memarg.offset as u32);
                }
                Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                    facts.calls.insert(function_index);
                }
                Operator::I32Clz => facts.counts_leading = true,
                Operator::I64Ctz => facts.counts_trailing = true,
                _ => {}
            }
        }
        Ok(facts)
    }

    fn add_address(&mut self, address: u32) {
        let is_number = address.is_power_of_two() || address.wrapping_add(1).is_power_of_two();
        if (LEAST_ADDRESS..i32::MAX as u32).contains(&address) && !is_number {
            self.addresses.insert(address);
        }
    }
}

impl FunctionsByName<'_, '_> {
    /// What each function of the module contains.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable).
    pub(super) fn facts(&self) -> Result<BTreeMap<u32, FunctionFacts>> {
        let mut facts = BTreeMap::new();
        for (function, body) in self.module.functions.defined() {
            facts.insert(function, FunctionFacts::of(body, self.signature(function))?);
        }
        Ok(facts)
    }

    fn signature(&self, function: u32) -> Option<(usize, usize)> {
        let ty = self.types.of(self.module, function)?;
        let mut all = ty.params().iter().chain(ty.results());
        all.all(|&ty| ty == ValType::I32)
            .then_some((ty.params().len(), ty.results().len()))
    }
}

/// The first of the functions that work with the state of an allocator that is neither hooked nor called by such
/// functions only.
pub(super) fn outer(
    facts: &BTreeMap<u32, FunctionFacts>,
    working: &BTreeSet<u32>,
    hooked: &BTreeSet<u32>,
    exported: &BTreeSet<u32>,
) -> Option<u32> {
    let is_inner = |function: u32| {
        let calls = |facts: &FunctionFacts| facts.calls.contains(&function);
        let mut callers = facts.iter().filter(|(_, facts)| calls(facts));
        let is_called = callers.clone().next().is_some();
        let known = |caller: &u32| hooked.contains(caller) || working.contains(caller);
        is_called && !exported.contains(&function) && callers.all(|(caller, _)| known(caller))
    };
    let mut unknown = working.difference(hooked).copied();
    unknown.find(|&function| !is_inner(function))
}
