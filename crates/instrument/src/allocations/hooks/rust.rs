//! Rust's functions that allocate, which a compiler may copy into those that call them.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::reached;
use super::facts::FunctionFacts;
use super::hook::{Hook, HookKind};
use super::search::FunctionsByName;
use crate::InstrumentError;
use base::error::Result;

/// What a function calls before it allocates, since Rust 1.89.
const BEFORE: &str = "__rust_no_alloc_shim_is_unstable_v2";

/// Whether a hook is in a function of Rust's interface to allocators.
pub(super) fn is_rust(hook: &Hook) -> bool {
    hook.name.starts_with("__rust_")
}

/// Rust's functions that allocate, of which there are copies in others: a hook in one does not see what these allocate. So it
/// is with `#[global_allocator]`, whose code the compiler knows where it compiles the program.
pub(super) struct CopiedRust(BTreeSet<u32>);

impl CopiedRust {
    /// Checks that each of the functions allocates through one of the hooks that are left: the allocator's own.
    ///
    /// # Errors
    /// [`InstrumentError::AllocatorMissing`].
    pub(super) fn check(&self, left: &[Hook], facts: &BTreeMap<u32, FunctionFacts>) -> Result<()> {
        let allocating = left.iter().filter(|hook| allocates(hook));
        let allocating: BTreeSet<u32> = allocating.map(|hook| hook.function).collect();
        let is_counted = |&function: &u32| {
            let inner = reached(&BTreeSet::from([function]), |inner| calls_of(facts, inner));
            !inner.is_disjoint(&allocating)
        };
        if self.0.iter().all(is_counted) {
            return Ok(());
        }
        Err(InstrumentError::AllocatorMissing {
            found: "an allocator of the program's own (#[global_allocator]), copied into the functions that allocate".to_owned(),
            expected: "Rust's default allocator, or a build without optimisation",
        }
        .into())
    }
}

fn allocates(hook: &Hook) -> bool {
    !matches!(hook.kind, HookKind::Free(_))
}

fn calls_of(facts: &BTreeMap<u32, FunctionFacts>, function: u32) -> impl Iterator<Item = &u32> {
    let facts = facts.get(&function);
    facts.into_iter().flat_map(|facts| &facts.calls)
}

impl FunctionsByName<'_, '_> {
    /// Rust's functions, if there are copies of them.
    pub(super) fn copied_rust(
        &self,
        list: &[Hook],
        facts: &BTreeMap<u32, FunctionFacts>,
    ) -> Option<CopiedRust> {
        let functions = |is: fn(&Hook) -> bool| -> BTreeSet<u32> {
            let hooks = list.iter().filter(|hook| is_rust(hook) && is(hook));
            hooks.map(|hook| hook.function).collect()
        };
        let (hooks, allocating) = (functions(|_| true), functions(allocates));
        let is_copied = !allocating.is_empty()
            && (self.allocates_without(&allocating, facts)
                || is_passed_by(&hooks, &allocating, facts));
        is_copied.then_some(CopiedRust(allocating))
    }

    /// Whether a function announces that it allocates, but calls none of these.
    fn allocates_without(
        &self,
        allocating: &BTreeSet<u32>,
        facts: &BTreeMap<u32, FunctionFacts>,
    ) -> bool {
        let before: BTreeSet<u32> = self
            .names_ending(BEFORE)
            .flat_map(|name| self.functions(name, 0, 0))
            .collect();
        facts
            .values()
            .any(|facts| !facts.calls.is_disjoint(&before) && facts.calls.is_disjoint(allocating))
    }
}

/// Whether a part of the allocator that returns a block is called by a function that is not in the allocator.
fn is_passed_by(
    hooks: &BTreeSet<u32>,
    allocating: &BTreeSet<u32>,
    facts: &BTreeMap<u32, FunctionFacts>,
) -> bool {
    let inner = reached(hooks, |function| calls_of(facts, function));
    let returns_block = |function: &&u32| {
        let signature = facts.get(function).and_then(|facts| facts.signature);
        matches!(signature, Some((1.., 1))) && !hooks.contains(function)
    };
    let called = allocating
        .iter()
        .flat_map(|&function| calls_of(facts, function));
    let parts: BTreeSet<u32> = called.filter(returns_block).copied().collect();
    let mut others = facts
        .iter()
        .filter(|(function, _)| !hooks.contains(function) && !inner.contains(function));
    others.any(|(_, facts)| !facts.calls.is_disjoint(&parts))
}
