//! Finds the functions of a module that allocate, reallocate and free.
//!
//! Each file knows the allocators of some languages (`assemblyscript`, `c`, `go`, `zig`): it looks for functions by
//! name and type in a `FunctionsByName`, or by what their code does.

mod assemblyscript;
mod c;
mod calls;
mod facts;
mod go;
mod hook;
mod rust;
mod search;
mod unnamed_c;
mod unnamed_emmalloc;
mod zig;

use std::collections::BTreeSet;

pub(crate) use self::hook::{AllocatedSize, BlockAddress, Hook, HookKind};

pub(crate) use self::calls::CallGraph;
use self::search::FunctionsByName;
use super::types::Types;
use crate::InstrumentError;
use base::error::{Error, Result};
use wasm::allocation_table::Family;
use wasm::module::Module;

/// All functions of an allocator.
#[derive(Debug)]
pub(crate) struct Hooks {
    pub(crate) family: Family,
    /// In the order of the functions.
    pub(crate) list: Vec<Hook>,
    /// The inside of the allocator: the functions that allocate, and every function on a way of calls from one of
    /// them to another. If one of these calls another, the allocation was counted at the first already.
    pub(crate) within: BTreeSet<u32>,
    /// Functions of which there is a copy without additions.
    pub(crate) copied: BTreeSet<u32>,
}

impl Hooks {
    /// Finds the allocator of a module.
    ///
    /// # Errors
    /// [`InstrumentError::AllocatorMissing`], [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable).
    pub(crate) fn find(module: &Module<'_>, types: &Types) -> Result<Self> {
        let search = FunctionsByName::new(module, types);
        let named = search
            .stub()
            .or_else(|| search.named_tlsf())
            .or_else(|| search.go())
            .or_else(|| search.c());
        let found = match named {
            Some(found) => Some(found),
            None => search.unnamed_tlsf()?,
        };
        let (family, mut list) = found.unwrap_or((Family::C, Vec::new()));
        if family == Family::C {
            // What has a name may be a wrapper only, which the program itself does not call.
            let facts = search.facts()?;
            let copied = search.copied_rust(&list, &facts);
            if copied.is_some() {
                list.retain(|hook| !rust::is_rust(hook));
            }
            list.extend(search.unnamed_c(&facts, &list)?);
            list.extend(search.unnamed_emmalloc(&facts, &list)?);
            if let Some(copied) = copied {
                copied.check(&list, &facts)?;
            }
        }
        if list.is_empty() {
            return Err(missing());
        }
        if !module.has_memory {
            return Err(InstrumentError::AllocatorMissing {
                found: "functions with the names of an allocator, but no memory".to_owned(),
                expected: "a module that imports or defines a memory",
            }
            .into());
        }
        if family == Family::Go {
            search.check_go(&list)?;
        }
        if search.zig_is_inlined(&list)? {
            return Err(InstrumentError::AllocatorMissing {
                found: "Zig's allocator copied into other functions".to_owned(),
                expected: "a build without optimisation, or one that allocates with std.heap.c_allocator",
            }.into());
        }
        list.sort_by_key(|hook| hook.function);
        list.dedup_by_key(|hook| hook.function);
        let functions = |frees: bool| {
            let kinds = list
                .iter()
                .filter(move |hook| matches!(hook.kind, HookKind::Free(_)) == frees);
            kinds.map(|hook| hook.function)
        };
        let mut copied: BTreeSet<u32> = functions(true).collect();
        let mut within = BTreeSet::new();
        // Go's functions are called through a table and resumed, so that they find out by the return address
        // on the stack in memory whether another of them called. A call
        // that frees counts always: a collector frees what it finds while an allocation is made, and what was
        // freed already is not known any more.
        if family != Family::Go {
            let allocating = functions(false).collect();
            let calls = CallGraph::read(module)?;
            within = calls.between(&allocating);
            within.retain(|function| !copied.contains(function));
            within.extend(allocating);
            let called = within
                .iter()
                .filter_map(|function| calls.callees.get(function));
            copied.extend(
                called
                    .flatten()
                    .filter(|function| within.contains(function)),
            );
        }
        Ok(Self {
            family,
            list,
            within,
            copied,
        })
    }

    /// The functions that allocate.
    pub(crate) fn allocating(&self) -> BTreeSet<u32> {
        let hooks = self.list.iter();
        let allocating = hooks.filter(|hook| !matches!(hook.kind, HookKind::Free(_)));
        allocating.map(|hook| hook.function).collect()
    }

    /// Whether blocks are freed one by one.
    pub(crate) fn frees(&self) -> bool {
        let mut kinds = self.list.iter().map(|hook| hook.kind);
        kinds.any(|kind| matches!(kind, HookKind::Free(_)))
    }
}

fn missing() -> Error {
    Error::from(InstrumentError::AllocatorMissing {
        found: "no function of an allocator by its name".to_owned(),
        expected: "functions named ~lib/rt/tlsf/searchBlock and ~lib/rt/tlsf/insertBlock, or \
                   ~lib/rt/stub/__new (AssemblyScript, WARPO), malloc or dlmalloc (C, C++, \
                   Zig with the C library), heap.BrkAllocator.alloc or heap.WasmAllocator.alloc (Zig), \
                   __rust_alloc (Rust), runtime.alloc (TinyGo), runtime.mallocgc \
                   (Go); compile with names",
    })
}
