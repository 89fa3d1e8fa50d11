//! The allocators of AssemblyScript and WARPO: `stub`, which never collects, and `tlsf`, by name or by its code.

use std::collections::BTreeMap;

use wasmparser::{FunctionBody, Operator, ValType};

use super::hook::{AllocatedSize, BlockAddress, Hook, HookKind};
use super::search::FunctionsByName;
use base::error::Result;
use wasm::allocation_table::Family;
use wasm::module::unreadable;

const SEARCH_BLOCK: &str = "~lib/rt/tlsf/searchBlock";
const INSERT_BLOCK: &str = "~lib/rt/tlsf/insertBlock";
const BLOCK_HEADER: i32 = 4;
const OBJECT_HEADERS: i32 = 20;
/// The callers of the search: names, the number of parameters, and where the block is below the result.
const SEARCHING: [(&[&str], usize, i32); 4] = [
    (
        &["~lib/rt/itcms/__new", "~lib/rt/tcms/__new", "__new"],
        2,
        OBJECT_HEADERS,
    ),
    (&["~lib/rt/tlsf/__alloc"], 1, BLOCK_HEADER),
    (&["~lib/rt/tlsf/allocateBlock"], 1, 0),
    (&["~lib/rt/tlsf/allocateBlock"], 2, 0),
];

/// A function of AssemblyScript's that resizes a block.
fn resized(at: u32, below: i32) -> HookKind {
    HookKind::Reallocate {
        old: BlockAddress::Parameter { at, below },
        address: BlockAddress::Result { below },
        size: AllocatedSize::Block,
    }
}

/// What a function does.
#[derive(Default)]
struct BodyCounts {
    /// Instructions that count trailing zeros.
    trailing: usize,
    /// Instructions that count leading zeros.
    leading: usize,
    /// Instructions that store an i32.
    stores: usize,
    /// The functions that it calls, once for each call.
    calls: Vec<u32>,
}

impl BodyCounts {
    fn of(body: &FunctionBody<'_>) -> Result<Self> {
        let mut facts = Self::default();
        for operator in body.get_operators_reader().map_err(unreadable)? {
            match operator.map_err(unreadable)? {
                Operator::I32Ctz => facts.trailing += 1,
                Operator::I32Clz => facts.leading += 1,
                Operator::I32Store { .. } => facts.stores += 1,
                Operator::Call { function_index } => facts.calls.push(function_index),
                _ => {}
            }
        }
        Ok(facts)
    }
}

impl FunctionsByName<'_, '_> {
    /// AssemblyScript's runtime that never collects.
    pub(super) fn stub(&self) -> Option<(Family, Vec<Hook>)> {
        let mut list = Vec::new();
        let block = |below| HookKind::Allocate {
            address: BlockAddress::Result { below },
            size: AllocatedSize::Block,
        };
        self.add(
            &mut list,
            "~lib/rt/stub/__new",
            (2, 1),
            block(OBJECT_HEADERS),
        );
        self.add(
            &mut list,
            "~lib/rt/stub/__alloc",
            (1, 1),
            block(BLOCK_HEADER),
        );
        if list.is_empty() {
            return None;
        }
        let freed = HookKind::Free(BlockAddress::Parameter {
            at: 0,
            below: BLOCK_HEADER,
        });
        self.add(
            &mut list,
            "~lib/rt/stub/__realloc",
            (2, 1),
            resized(0, BLOCK_HEADER),
        );
        self.add(
            &mut list,
            "~lib/rt/stub/__renew",
            (2, 1),
            resized(0, OBJECT_HEADERS),
        );
        self.add(&mut list, "~lib/rt/stub/__free", (1, 0), freed);
        Some((Family::Assemblyscript, list))
    }

    /// Every block that is taken was found by `searchBlock`, and every block that is given back goes through
    /// `insertBlock`. Both are too large for an optimiser to copy, unlike all functions between them and the
    /// program. Only a block that is resized where it is passes neither: the functions for that are hooked
    /// if there are any left, and profiles read the sizes of blocks from their headers.
    fn tlsf(&self, search: u32, insert: u32) -> (Family, Vec<Hook>) {
        let mut list = self.insertion(insert);
        list.push(Hook {
            function: search,
            name: SEARCH_BLOCK,
            kind: HookKind::Allocate {
                address: BlockAddress::Result { below: 0 },
                size: AllocatedSize::SplitBlock(self.last_parameter(search)),
            },
        });
        (Family::Assemblyscript, list)
    }

    /// The functions that give back and resize.
    fn insertion(&self, insert: u32) -> Vec<Hook> {
        let mut list = vec![Hook {
            function: insert,
            name: INSERT_BLOCK,
            kind: HookKind::Free(BlockAddress::Parameter {
                at: self.last_parameter(insert),
                below: 0,
            }),
        }];
        let realloc = "~lib/rt/tlsf/__realloc";
        self.add(&mut list, realloc, (2, 1), resized(0, BLOCK_HEADER));
        let reallocate = "~lib/rt/tlsf/reallocateBlock";
        self.add(&mut list, reallocate, (3, 1), resized(1, 0));
        self.add(&mut list, reallocate, (2, 1), resized(0, 0));
        list
    }

    /// An optimiser may remove the parameter for the root of the allocator, which is always the same.
    fn last_parameter(&self, function: u32) -> u32 {
        let ty = self.types.of(self.module, function);
        ty.map_or(0, |ty| ty.params().len() as u32)
            .saturating_sub(1)
    }

    /// The allocator by its names.
    pub(super) fn named_tlsf(&self) -> Option<(Family, Vec<Hook>)> {
        let only = |name: &str, results| {
            let one = self.functions(name, 1, results);
            let found = [one, self.functions(name, 2, results)].concat();
            match found[..] {
                [function] => Some(function),
                _ => None,
            }
        };
        Some(self.tlsf(only(SEARCH_BLOCK, 1)?, only(INSERT_BLOCK, 0)?))
    }

    /// Finds the two functions by what they do. The search counts trailing zeros in both maps of free blocks
    /// and stores nothing; its callers then remove the block from its list. The insertion and the removal
    /// count leading zeros of a size, and the insertion removes the free neighbours of the block.
    pub(super) fn unnamed_tlsf(&self) -> Result<Option<(Family, Vec<Hook>)>> {
        let mut facts = BTreeMap::new();
        for (function, body) in self.module.functions.defined() {
            facts.insert(function, BodyCounts::of(body)?);
        }
        // The number of results, if there are only numbers of 32 bits.
        let results = |function: u32| {
            let ty = self.types.of(self.module, function)?;
            let is_i32 = |&ty: &ValType| ty == ValType::I32;
            let fits = (1..=2).contains(&ty.params().len()) && ty.params().iter().all(is_i32);
            (fits && ty.results().iter().all(is_i32)).then_some(ty.results().len())
        };
        let lists = |function: &u32| {
            let facts = facts.get(function);
            facts.is_some_and(|facts| facts.leading > 0 && facts.trailing == 0)
                && results(*function) == Some(0)
        };
        let mut searches = Vec::new();
        let mut insertions = Vec::new();
        let mut copies = Vec::new();
        for (&function, facts) in &facts {
            let removes = facts.calls.iter().filter(|call| lists(call)).count();
            let searching = facts.trailing >= 2 && facts.leading > 0 && facts.stores == 0;
            if searching && results(function) == Some(1) {
                searches.push(function);
            } else if facts.trailing >= 3 && facts.leading >= 2 && removes > 0 {
                copies.push(function);
            }
            if lists(&function) && removes == 2 {
                insertions.push(function);
            }
        }
        Ok(match (&searches[..], &insertions[..]) {
            ([search], [insert]) => Some(self.tlsf(*search, *insert)),
            ([], [insert]) => self.tlsf_in_callers(&copies, *insert),
            _ => None,
        })
    }

    /// The optimiser of WARPO copies the search into its callers. Each of them must be known by its name,
    /// because the names say where the block is.
    fn tlsf_in_callers(&self, copies: &[u32], insert: u32) -> Option<(Family, Vec<Hook>)> {
        let mut known = Vec::new();
        for (names, parameters, below) in SEARCHING {
            for name in names {
                let kind = HookKind::Allocate {
                    address: BlockAddress::Result { below },
                    size: AllocatedSize::Block,
                };
                self.add(&mut known, name, (parameters, 1), kind);
            }
        }
        let mut list = self.insertion(insert);
        for copy in copies {
            if list.iter().any(|hook| hook.function == *copy) {
                continue;
            }
            list.push(known.iter().find(|hook| hook.function == *copy)?.clone());
        }
        (!copies.is_empty()).then_some((Family::Assemblyscript, list))
    }
}
