//! Which functions call which.

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::Operator;

use base::error::Result;
use wasm::module::{Module, unreadable};

/// Direct calls between functions.
pub(crate) struct CallGraph {
    pub(super) callees: BTreeMap<u32, Vec<u32>>,
}

impl CallGraph {
    pub(crate) fn read(module: &Module<'_>) -> Result<Self> {
        let mut callees = BTreeMap::new();
        for (function, body) in module.functions.defined() {
            let mut called = Vec::new();
            for operator in body.get_operators_reader().map_err(unreadable)? {
                if let Operator::Call { function_index } | Operator::ReturnCall { function_index } =
                    operator.map_err(unreadable)?
                {
                    called.push(function_index);
                }
            }
            called.sort_unstable();
            called.dedup();
            callees.insert(function, called);
        }
        Ok(Self { callees })
    }

    /// The functions that call each function.
    pub(super) fn callers(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut callers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&caller, called) in &self.callees {
            for &callee in called {
                callers.entry(callee).or_default().push(caller);
            }
        }
        callers
    }

    /// The functions that call these, directly or not.
    pub(crate) fn above(&self, functions: &BTreeSet<u32>) -> BTreeSet<u32> {
        let callers = self.callers();
        reached(functions, |function| {
            callers.get(&function).into_iter().flatten()
        })
    }

    /// Functions that these call, directly or not, and that call these again.
    pub(super) fn between(&self, hooks: &BTreeSet<u32>) -> BTreeSet<u32> {
        let callees = |function| self.callees.get(&function).into_iter().flatten();
        let below = reached(hooks, callees);
        let above = self.above(hooks);
        let both = below.intersection(&above).copied();
        both.filter(|function| !hooks.contains(function)).collect()
    }
}

/// Everything that can be reached from these in at least one step.
pub(super) fn reached<'n, Next: IntoIterator<Item = &'n u32>>(
    from: &BTreeSet<u32>,
    next: impl Fn(u32) -> Next,
) -> BTreeSet<u32> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<u32> = from.iter().copied().collect();
    while let Some(function) = waiting.pop() {
        for &other in next(function) {
            if reached.insert(other) {
                waiting.push(other);
            }
        }
    }
    reached
}
