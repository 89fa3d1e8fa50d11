//! The allocators of C and Rust without names: dlmalloc and that of Rust, by what their code does.
//!
//! The function that allocates has constants that no other function has. It shares the addresses of its state with
//! the function that frees. Each other function with these addresses must be known too, or else what it does would be
//! in no profile.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{FunctionFacts, outer};
use super::hook::{AllocatedSize, BlockAddress, Hook, HookKind};
use super::search::FunctionsByName;
use crate::InstrumentError;
use base::error::{Error, Result};

/// An allocator.
struct Known {
    name: &'static str,
    /// Constants of the function that allocates.
    allocates: &'static [i32],
}

const KNOWN: [Known; 3] = [
    // The largest small block, the largest request, the mask of sizes, and the shift of a large size.
    Known {
        name: "dlmalloc",
        allocates: &[244, -65, -8, 11],
    },
    // The same with blocks at multiples of 16, as in wasi-libc.
    Known {
        name: "dlmalloc",
        allocates: &[236, -65, -8, 11],
    },
    // The largest small block and 1, the mask of sizes, the mask of pages, and the least large size.
    Known {
        name: "Rust's dlmalloc",
        allocates: &[245, -8, -65536, 256],
    },
];

/// Constants of the function that frees, one of each: the largest small block, or more, and the mask of flags.
const FREES: [&[i32]; 2] = [&[255, 256], &[3]];
/// How many addresses of the state a function has that works with it.
const STATE_ADDRESSES: usize = 3;

/// An allocator in a module.
struct UnnamedAllocator<'a> {
    known: &'a Known,
    facts: &'a BTreeMap<u32, FunctionFacts>,
    malloc: u32,
    free: u32,
    /// The addresses of its state.
    state: BTreeSet<u32>,
}

impl FunctionsByName<'_, '_> {
    /// The functions of an allocator by what they do. Empty if there is none, or if it was found by names that say more,
    /// as those of Rust.
    ///
    /// # Errors
    /// [`InstrumentError::AllocatorMissing`] if only a part of an allocator is known; [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable).
    pub(super) fn unnamed_c(
        &self,
        facts: &BTreeMap<u32, FunctionFacts>,
        found: &[Hook],
    ) -> Result<Vec<Hook>> {
        for known in &KNOWN {
            let allocates = |facts: &&FunctionFacts| {
                let all = known.allocates.iter();
                facts.signature == Some((1, 1))
                    && all.into_iter().all(|value| facts.constants.contains(value))
            };
            let mallocs: Vec<u32> = facts
                .iter()
                .filter(|(_, facts)| allocates(facts))
                .map(|(&function, _)| function)
                .collect();
            let [malloc] = mallocs[..] else { continue };
            let is_found = found.iter().any(|hook| hook.function == malloc);
            let has_name = self.module.functions.name(malloc).is_some();
            if has_name && !is_found && !found.is_empty() {
                return Ok(Vec::new());
            }
            let allocator = match UnnamedAllocator::of(known, facts, malloc) {
                // All of it is exported by its names.
                Err(_) if is_whole(found, malloc) => return Ok(Vec::new()),
                allocator => allocator?,
            };
            let list = allocator.hooks();
            let exports = self.module.functions.exports();
            let exported = exports.map(|(_, function)| function).collect();
            let hooked = list.iter().chain(found).map(|hook| hook.function);
            allocator.check(&hooked.collect(), &exported)?;
            return Ok(list);
        }
        Ok(Vec::new())
    }
}

impl<'a> UnnamedAllocator<'a> {
    fn of(known: &'a Known, facts: &'a BTreeMap<u32, FunctionFacts>, malloc: u32) -> Result<Self> {
        let shared = |function: &u32| -> BTreeSet<u32> {
            let other = &facts[function].addresses;
            facts[&malloc]
                .addresses
                .intersection(other)
                .copied()
                .collect()
        };
        let frees = |function: &&u32| {
            let FunctionFacts {
                constants,
                signature,
                ..
            } = &facts[function];
            let has_one = |values: &&[i32]| values.iter().any(|value| constants.contains(value));
            *signature == Some((1, 0))
                && FREES.iter().all(has_one)
                && shared(function).len() >= STATE_ADDRESSES
        };
        let all: Vec<u32> = facts.keys().filter(frees).copied().collect();
        let [free] = all[..] else {
            let found = format!("its function that frees in {} functions", all.len());
            return Err(unknown(known.name, &found));
        };
        Ok(Self {
            known,
            facts,
            malloc,
            free,
            state: shared(&free),
        })
    }

    /// Whether a function works with the state of the allocator.
    fn touches(&self, function: u32) -> bool {
        self.facts.get(&function).is_some_and(|facts| {
            let own = facts.addresses.intersection(&self.state);
            own.count() >= STATE_ADDRESSES
        })
    }

    /// Whether a function calls a part of the allocator that takes or gives back the rest of a block.
    fn calls_part(&self, facts: &FunctionFacts) -> bool {
        facts.calls.iter().any(|&callee| {
            let callee_facts = self.facts.get(&callee);
            let is_part = callee_facts.is_some_and(|part| {
                matches!(part.signature, Some((2, 0 | 1))) && !part.calls.contains(&self.malloc)
            });
            is_part && callee != self.malloc && callee != self.free && self.touches(callee)
        })
    }

    /// What a function of the allocator does, and its name in C. A function that clears its block needs no hook: the
    /// one that allocates counts it.
    fn kind(&self, function: u32, facts: &FunctionFacts) -> Option<(&'static str, HookKind)> {
        let signature = facts.signature?;
        let address = BlockAddress::Result { below: 0 };
        let old = BlockAddress::Parameter { at: 0, below: 0 };
        let allocated = |address, size| HookKind::Allocate {
            address,
            size: AllocatedSize::Parameter(size),
        };
        if function == self.malloc {
            return Some(("malloc", allocated(address, 0)));
        }
        if function == self.free {
            return Some(("free", HookKind::Free(old)));
        }
        let part = self.calls_part(facts);
        if !facts.calls.contains(&self.malloc) || !(part || self.touches(function)) {
            return None;
        }
        let size = match (facts.calls.contains(&self.free), signature) {
            (true, (2, 1)) => AllocatedSize::Parameter(1),
            (true, (4, 1)) => AllocatedSize::Parameter(3),
            (false, (2, 1)) if part => return Some(("memalign", allocated(address, 1))),
            (false, (3, 1)) if part => {
                return Some((
                    "posix_memalign",
                    allocated(BlockAddress::Pointer { at: 0 }, 2),
                ));
            }
            _ => return None,
        };
        let kind = HookKind::Reallocate { old, address, size };
        Some(("realloc", kind))
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

    /// Checks that each function that works with the state is a hook, or is called by such functions only.
    fn check(&self, hooked: &BTreeSet<u32>, exported: &BTreeSet<u32>) -> Result<()> {
        let touching = self
            .facts
            .iter()
            .filter(|&(&function, _)| self.touches(function));
        let working: BTreeSet<u32> = touching.map(|(&function, _)| function).collect();
        if let Some(function) = outer(self.facts, &working, hooked, exported) {
            let found = format!("function {function}, which works with its state");
            return Err(unknown(self.known.name, &found));
        }
        Ok(())
    }
}

/// Whether functions that were found are all of an allocator.
pub(super) fn is_whole(found: &[Hook], malloc: u32) -> bool {
    let has = |is: fn(&HookKind) -> bool| found.iter().any(|hook| is(&hook.kind));
    found.iter().any(|hook| hook.function == malloc)
        && has(|kind| matches!(kind, HookKind::Free(_)))
        && has(|kind| matches!(kind, HookKind::Reallocate { .. }))
}

/// Says that only a part of an allocator without names is known.
pub(super) fn unknown(allocator: &str, found: &str) -> Error {
    Error::from(InstrumentError::AllocatorMissing {
        found: format!("{allocator} without names, and {found}"),
        expected: "an allocator of which every function is known; compile with names and without inlining it",
    })
}
