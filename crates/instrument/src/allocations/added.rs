//! What is added to a module: its indexes, and the entries of its sections.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasm_encoder::{ConstExpr, Encode, EntityType, ExportKind, FuncType, GlobalType, ValType};

use super::contexts::Contexts;
use super::hooks::{Hook, HookKind, Hooks};
use super::interface::{
    EXPORT_COUNTDOWN, EXPORT_MEMORY, IMPORT_ALLOCATED, IMPORT_ENTERED, IMPORT_FREED, IMPORT_KEEP,
    IMPORT_KEEP_AS, IMPORT_KNOWN, IMPORT_MASK, IMPORT_MODULE,
};
use super::types::Types;
use wasm::allocation_table::{EXPORT_COUNT, added_imports};
use wasm::module::Module;

/// The globals that are added, and those for contexts.
const GLOBALS: u32 = 4;
const CONTEXT_GLOBALS: u32 = 2;

/// The types that are added, by what has them.
mod ty {
    pub(super) const ALLOCATED: u32 = 0;
    pub(super) const KEEP: u32 = 1;
    pub(super) const FREED: u32 = 2;
    pub(super) const MASK: u32 = 3;
    pub(super) const RECORD: u32 = 4;
    pub(super) const FORGET: u32 = 5;
    pub(super) const KNOWN: u32 = 6;
    pub(super) const KEEP_AS: u32 = 7;
    pub(super) const RECORD_WITH_CONTEXT: u32 = 8;
}

/// Entries of a section, and their number.
pub(super) type CountedEntries = (u32, Vec<u8>);

/// The indexes of what was added to a module.
pub(super) struct Added {
    pub(super) import_allocated: u32,
    pub(super) import_keep: u32,
    pub(super) import_freed: u32,
    pub(super) import_mask: u32,
    /// Function of the allocator → its copy without additions.
    pub(super) inner: BTreeMap<u32, u32>,
    /// The function that gives a sample to the host.
    pub(super) record: u32,
    /// The function that reports that an address is freed.
    pub(super) forget: u32,
    /// Function that frees → the function that does so if the address may be that of a sample.
    pub(super) free_slowly: BTreeMap<u32, u32>,
    pub(super) countdown: u32,
    pub(super) count: u32,
    /// For bits of addresses, whether a sample has them.
    pub(super) masks: [u32; 2],
    /// Ranges of Go's function values: those of the functions that allocate, if there are several.
    pub(super) go_allocates: Vec<Range<u32>>,
    pub(super) contexts: Option<Contexts>,
    /// Whether blocks are freed one by one.
    pub(super) frees: bool,
    imported: u32,
    first_type: u32,
}

/// What Go's linker adds to the number of a function, not counting imports, for its value.
const GO_FUNCTION_VALUES: u32 = 0x1000;

/// The values of Go's functions that allocate. A function that is alone is called by no other.
fn go_allocates(hooks: &Hooks, imported: u32) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let of_go = |hook: &&Hook| matches!(hook.kind, HookKind::GoAllocate);
    if hooks.list.iter().filter(of_go).count() < 2 {
        return ranges;
    }
    for hook in hooks.list.iter().filter(of_go) {
        let value = hook.function - imported + GO_FUNCTION_VALUES;
        match ranges.last_mut() {
            Some(last) if last.end == value => last.end += 1,
            _ => ranges.push(value..value + 1),
        }
    }
    ranges
}

impl Added {
    pub(super) fn new(
        module: &Module<'_>,
        types: &Types,
        hooks: &Hooks,
        leading: Option<BTreeSet<u32>>,
    ) -> Self {
        let imported = module.functions.imported();
        let defined = module.functions.defined().count() as u32;
        let mut next = imported + added_imports(leading.is_some()) + defined;
        let mut numbers = |functions: &mut dyn Iterator<Item = u32>| -> BTreeMap<u32, u32> {
            let numbered: BTreeMap<_, _> = functions.zip(next..).collect();
            next += numbered.len() as u32;
            numbered
        };
        let inner = numbers(&mut hooks.copied.iter().copied());
        let frees = hooks
            .list
            .iter()
            .filter(|hook| matches!(hook.kind, HookKind::Free(_)));
        let free_slowly = numbers(&mut frees.map(|hook| hook.function));
        let first_global = module.globals.iter().len() as u32;
        let contexts = leading.map(|leading| Contexts {
            import_entered: imported + 4,
            import_known: imported + 5,
            import_keep_as: imported + 6,
            passed: first_global + GLOBALS,
            below_host: first_global + GLOBALS + 1,
            leading,
            next_site: Cell::new(1),
        });
        Self {
            import_allocated: imported,
            import_keep: imported + 1,
            import_freed: imported + 2,
            import_mask: imported + 3,
            inner,
            free_slowly,
            record: next,
            forget: next + 1,
            countdown: first_global,
            count: first_global + 1,
            masks: [first_global + 2, first_global + 3],
            go_allocates: go_allocates(hooks, imported),
            contexts,
            frees: hooks.frees(),
            imported,
            first_type: types.all.len() as u32,
        }
    }

    /// The index of a function for all code outside the allocator.
    pub(super) fn outer(&self, function: u32) -> u32 {
        if function < self.imported {
            function
        } else {
            function + added_imports(self.contexts.is_some())
        }
    }

    /// The names of functions that only the profiler has.
    pub(super) fn names(&self) -> impl Iterator<Item = (u32, &'static str)> {
        let slowly = self.free_slowly.values();
        slowly
            .map(|&index| (index, "(profiler) free"))
            .chain([(self.record, "(profiler) record")])
            .chain([(self.forget, "(profiler) forget")])
    }

    pub(super) fn types(&self) -> CountedEntries {
        let (i32, i64, f64) = (ValType::I32, ValType::I64, ValType::F64);
        let types = [
            FuncType::new([i32, i32, f64], [f64]),
            FuncType::new([i32, i32], []),
            FuncType::new([i32], [i32]),
            FuncType::new([i32], [i64]),
            FuncType::new([i32, i32, i32], [i32]),
            FuncType::new([i32], []),
            FuncType::new([i64, i32], [i32]),
            FuncType::new([i32, i32, i32], []),
            FuncType::new([i32, i32, i32, i64], [i32]),
        ];
        let mut entries = Vec::new();
        for ty in &types {
            let mut section = wasm_encoder::TypeSection::new();
            section.ty().func_type(ty);
            let mut encoded = Vec::new();
            section.encode(&mut encoded);
            // The size of the section and the number of its types, a byte each.
            entries.extend_from_slice(encoded.get(2..).unwrap_or_default());
        }
        (types.len() as u32, entries)
    }

    pub(super) fn imports(&self) -> CountedEntries {
        let mut imports = vec![
            (IMPORT_ALLOCATED, ty::ALLOCATED),
            (IMPORT_KEEP, ty::KEEP),
            (IMPORT_FREED, ty::FREED),
            (IMPORT_MASK, ty::MASK),
        ];
        if self.contexts.is_some() {
            imports.extend([
                (IMPORT_ENTERED, ty::FREED),
                (IMPORT_KNOWN, ty::KNOWN),
                (IMPORT_KEEP_AS, ty::KEEP_AS),
            ]);
        }
        let mut entries = Vec::new();
        for &(name, ty) in &imports {
            IMPORT_MODULE.encode(&mut entries);
            name.encode(&mut entries);
            EntityType::Function(self.first_type + ty).encode(&mut entries);
        }
        (imports.len() as u32, entries)
    }

    /// The types of the functions, in the order of their indexes.
    pub(super) fn functions(&self, module: &Module<'_>) -> CountedEntries {
        let mut entries = Vec::new();
        let same = self
            .inner
            .keys()
            .chain(self.free_slowly.keys())
            .map(|&function| module.functions.type_index(function).unwrap_or(0));
        let record = match self.contexts {
            Some(_) => ty::RECORD_WITH_CONTEXT,
            None => ty::RECORD,
        };
        let own = [self.first_type + record, self.first_type + ty::FORGET];
        let mut count = 0;
        for ty in same.chain(own) {
            ty.encode(&mut entries);
            count += 1;
        }
        (count, entries)
    }

    pub(super) fn globals(&self) -> CountedEntries {
        let of_contexts = self.contexts.as_ref().map_or(0, |_| CONTEXT_GLOBALS);
        let count = GLOBALS + of_contexts;
        let mut entries = Vec::new();
        for _ in 0..count {
            GlobalType {
                val_type: ValType::I64,
                mutable: true,
                shared: false,
            }
            .encode(&mut entries);
            ConstExpr::i64_const(0).encode(&mut entries);
        }
        (count, entries)
    }

    pub(super) fn exports(&self) -> CountedEntries {
        let exports = [
            (EXPORT_COUNT, ExportKind::Global, self.count),
            (EXPORT_COUNTDOWN, ExportKind::Global, self.countdown),
            (EXPORT_MEMORY, ExportKind::Memory, 0),
        ];
        let mut entries = Vec::new();
        for (name, kind, index) in &exports {
            name.encode(&mut entries);
            kind.encode(&mut entries);
            index.encode(&mut entries);
        }
        (exports.len() as u32, entries)
    }
}
