//! emmalloc, the small allocator of Emscripten, without names, by what its code does.
//!
//! It keeps free regions in 64 lists by size. The formula for the list of a size is in each function that takes a
//! region from its list or puts one into it, and its constants are in no other function.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{FunctionFacts, outer};
use super::hook::{AllocatedSize, BlockAddress, Hook, HookKind};
use super::search::FunctionsByName;
use super::unnamed_c::{is_whole, unknown};
use base::error::Result;

const NAME: &str = "emmalloc";
/// Constants of the formula: the last list, and what the leading zeros of a size are subtracted from.
const LISTS: [i32; 3] = [63, 71, 110];
/// The largest request, or the least that is too large.
const LARGEST: [i32; 2] = [-57, -56];
/// The constants of the function that takes more memory: the size of a guard before the end, and what tells that
/// there is no more.
const CLAIMS: [i32; 2] = [-16, -1];

/// emmalloc in a module.
struct Emmalloc<'a> {
    facts: &'a BTreeMap<u32, FunctionFacts>,
    memalign: u32,
}

impl FunctionsByName<'_, '_> {
    /// The functions of emmalloc by what they do. Empty if there is none, or if they have names.
    ///
    /// # Errors
    /// [`InstrumentError::AllocatorMissing`](crate::InstrumentError::AllocatorMissing) if only a part of it is known.
    pub(super) fn unnamed_emmalloc(
        &self,
        facts: &BTreeMap<u32, FunctionFacts>,
        found: &[Hook],
    ) -> Result<Vec<Hook>> {
        let mut allocating = facts
            .iter()
            .filter(|(_, facts)| allocates(facts))
            .map(|(&function, _)| function);
        let Some(memalign) = allocating.next() else {
            return Ok(Vec::new());
        };
        if self.module.functions.name(memalign).is_some() {
            return Ok(Vec::new());
        }
        let is_copied = facts[&memalign].signature != Some((2, 1));
        if let Some(copy) = allocating.next().or(is_copied.then_some(memalign)) {
            let what = format!("a copy of its function that allocates in function {copy}");
            return Err(unknown(NAME, &what));
        }
        let emmalloc = Emmalloc { facts, memalign };
        let list = emmalloc.hooks();
        let exports = self.module.functions.exports();
        let exported = exports.map(|(_, function)| function).collect();
        match emmalloc.check(&list, found, &exported) {
            // All of it is exported by its names.
            Err(_) if is_whole(found, memalign) => Ok(Vec::new()),
            checked => checked.map(|()| list),
        }
    }
}

/// Whether a function takes a free region from its list, or puts one into it.
fn uses_lists(facts: &FunctionFacts) -> bool {
    let has = |value: &i32| facts.constants.contains(value);
    facts.counts_leading && LISTS.iter().all(has)
}

/// Whether it is the function that allocates, or a copy of it: it searches the mask of the lists that have regions.
fn allocates(facts: &FunctionFacts) -> bool {
    let has = |value: &i32| facts.constants.contains(value);
    facts.counts_trailing && uses_lists(facts) && LARGEST.iter().any(has)
}

/// Whether it takes more memory, and puts it into a list. It returns no block.
fn claims(facts: &FunctionFacts) -> bool {
    let has = |value: &i32| facts.constants.contains(value);
    facts.signature == Some((1, 1)) && !facts.counts_trailing && CLAIMS.iter().all(has)
}

impl Emmalloc<'_> {
    /// Whether a function tries to resize a region where it is.
    fn resizes(&self, function: u32) -> bool {
        self.facts.get(&function).is_some_and(|facts| {
            facts.signature == Some((2, 1)) && !facts.counts_trailing && uses_lists(facts)
        })
    }

    /// What a function does, and its name in C. Functions that only call the one that allocates need no hook: it
    /// counts their blocks.
    fn kind(&self, function: u32, facts: &FunctionFacts) -> Option<(&'static str, HookKind)> {
        let result = BlockAddress::Result { below: 0 };
        let old = BlockAddress::Parameter { at: 0, below: 0 };
        if function == self.memalign {
            let kind = HookKind::Allocate {
                address: result,
                size: AllocatedSize::Parameter(1),
            };
            return Some(("memalign", kind));
        }
        if facts.calls.contains(&self.memalign) {
            let in_place = facts.calls.iter().any(|&callee| self.resizes(callee));
            let is_realloc = in_place || (uses_lists(facts) && !facts.counts_trailing);
            let size = match facts.signature {
                Some((2, 1)) if is_realloc => AllocatedSize::Parameter(1),
                Some((3, 1)) if is_realloc => AllocatedSize::Parameter(2),
                _ => return None,
            };
            let kind = HookKind::Reallocate {
                old,
                address: result,
                size,
            };
            return Some(("realloc", kind));
        }
        let frees = facts.signature == Some((1, 0)) && uses_lists(facts);
        frees.then_some(("free", HookKind::Free(old)))
    }

    fn hooks(&self) -> Vec<Hook> {
        let kinds = self.facts.iter().filter_map(|(&function, facts)| {
            let (name, kind) = self.kind(function, facts)?;
            Some(Hook {
                function,
                name,
                kind,
            })
        });
        kinds.collect()
    }

    /// Checks that there is one function that frees, and that each other function that uses the lists is a hook, takes
    /// more memory, or is called by such functions only.
    fn check(&self, list: &[Hook], found: &[Hook], exported: &BTreeSet<u32>) -> Result<()> {
        let frees = list
            .iter()
            .filter(|hook| matches!(hook.kind, HookKind::Free(_)))
            .count();
        if frees != 1 {
            let what = format!("its function that frees in {frees} functions");
            return Err(unknown(NAME, &what));
        }
        let hooked = list.iter().chain(found).map(|hook| hook.function).collect();
        let working = self
            .facts
            .iter()
            .filter(|(_, facts)| uses_lists(facts) && !claims(facts))
            .map(|(&function, _)| function)
            .collect();
        if let Some(function) = outer(self.facts, &working, &hooked, exported) {
            let what = format!("function {function}, which works with its state");
            return Err(unknown(NAME, &what));
        }
        Ok(())
    }
}
