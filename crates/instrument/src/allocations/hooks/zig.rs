//! Zig's own allocator, `std.heap.wasm_allocator`.

use std::collections::BTreeSet;

use wasmparser::Operator;

use super::hook::{AllocatedSize, BlockAddress, Hook, HookKind};
use super::search::FunctionsByName;
use base::error::Result;
use wasm::module::unreadable;

/// The functions of `std.heap.wasm_allocator`: until Zig 0.15, and later.
const ZIG: [[&str; 4]; 2] = [
    [
        "heap.WasmAllocator.alloc",
        "heap.WasmAllocator.remap",
        "heap.WasmAllocator.resize",
        "heap.WasmAllocator.free",
    ],
    [
        "heap.BrkAllocator.alloc",
        "heap.BrkAllocator.remap",
        "heap.BrkAllocator.resize",
        "heap.BrkAllocator.free",
    ],
];

/// The bytes of a list of Zig's allocator: a word for each of 13 classes of sizes.
const ZIG_LIST: u64 = 52;
/// Offsets below are those of fields, and not of variables.
const FIELDS: u64 = 1024;

impl FunctionsByName<'_, '_> {
    /// Whether the optimiser copied Zig's allocator into functions that do not report what they do: they write
    /// where the allocator keeps its lists, of which constant offsets are in the code.
    pub(super) fn zig_is_inlined(&self, list: &[Hook]) -> Result<bool> {
        let is_zig = |name: &str| ZIG.iter().flatten().any(|&other| other == name);
        if !list.iter().any(|hook| is_zig(hook.name)) {
            return Ok(false);
        }
        let mut own = BTreeSet::new();
        let mut others = BTreeSet::new();
        for (function, body) in self.module.functions.defined() {
            let hook = list.iter().find(|hook| hook.function == function);
            let name = self.module.functions.name(function).unwrap_or_default();
            let stores = match hook {
                Some(hook) if is_zig(hook.name) => &mut own,
                // Functions of the C library that contain the allocator report what they do themselves.
                Some(_) => continue,
                _ if name.starts_with("heap.") || name.starts_with("c.malloc.") => continue,
                _ => &mut others,
            };
            for operator in body.get_operators_reader().map_err(unreadable)? {
                if let Operator::I32Store { memarg } = operator.map_err(unreadable)?
                    && memarg.offset >= FIELDS
                {
                    stores.insert(memarg.offset);
                }
            }
        }
        let last = own.iter().next_back().copied();
        // An optimiser adds the position in a list to its offset if the size is constant.
        let lists = own.iter().map(|&list| {
            let length = if Some(list) == last { 1 } else { ZIG_LIST };
            list..list + length
        });
        Ok(lists
            .into_iter()
            .any(|list| others.range(list).next().is_some()))
    }

    /// Zig's allocator of memory pages and what they are divided into. All its functions have a context first
    /// and a return address last; without optimisation, one parameter more comes before them.
    pub(super) fn zig(&self, list: &mut Vec<Hook>) {
        for more in [0, 1] {
            let old = BlockAddress::Parameter {
                at: more + 1,
                below: 0,
            };
            let resized = |address| HookKind::Reallocate {
                old,
                address,
                size: AllocatedSize::Parameter(more + 4),
            };
            let allocated = HookKind::Allocate {
                address: BlockAddress::Result { below: 0 },
                size: AllocatedSize::Parameter(more + 1),
            };
            for [alloc, remap, resize, free] in ZIG {
                let mut add = |name, parameters: u32, results, kind| {
                    self.add(list, name, ((more + parameters) as usize, results), kind);
                };
                add(alloc, 4, 1, allocated);
                add(remap, 6, 1, resized(BlockAddress::Result { below: 0 }));
                add(resize, 6, 1, resized(BlockAddress::Kept { at: more + 1 }));
                add(free, 5, 0, HookKind::Free(old));
            }
        }
    }
}
