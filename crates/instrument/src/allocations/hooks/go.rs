//! Go's allocator.

use std::collections::BTreeSet;

use super::calls::CallGraph;
use super::hook::{Hook, HookKind};
use super::search::FunctionsByName;
use crate::InstrumentError;
use base::error::{Error, Result};
use base::units::GlobalIndex;
use wasm::allocation_table::Family;

/// Since Go 1.26, the allocator has functions for classes of sizes, which the compiler calls without `mallocgc`: in Go
/// 1.26 with `GOEXPERIMENT=sizespecializedmalloc`, and since Go 1.27 always. A number follows the name.
const BY_SIZE: [&str; 4] = [
    "runtime.mallocgcSmallNoScanSC",
    "runtime.mallocgcSmallScanNoHeaderSC",
    "runtime.mallocgcTinySC",
    "runtime.mallocgcTinySize",
];

/// What all allocations end in: a block of a span, or a span of its own. In `name` sections, Go's linker writes `_` for
/// characters that are no letters.
const INNERMOST: [&str; 2] = ["runtime.__mcache_.nextFree", "runtime.__mcache_.allocLarge"];

impl FunctionsByName<'_, '_> {
    /// `mallocgc` and its variants. The stack pointer is the first global.
    pub(super) fn go(&self) -> Option<(Family, Vec<Hook>)> {
        let mut list = Vec::new();
        let stack_pointer = self.module.globals.get(GlobalIndex(0))?;
        if stack_pointer.is_i32 && stack_pointer.mutable {
            self.add(&mut list, "runtime.mallocgc", (1, 1), HookKind::GoAllocate);
        }
        if list.is_empty() {
            return None;
        }
        for name in BY_SIZE {
            let is_class = |class: &str| class.bytes().all(|byte| byte.is_ascii_digit());
            for variant in self.names_starting(name) {
                if !is_class(&variant[name.len()..]) {
                    continue;
                }
                for function in self.functions(variant, 1, 1) {
                    list.push(Hook {
                        function,
                        name,
                        kind: HookKind::GoAllocate,
                    });
                }
            }
        }
        Some((Family::Go, list))
    }

    /// Checks that all allocations of a Go program pass a hook: that the functions in which they end are called
    /// only by hooks, or by other parts of `mallocgc` that only hooks call.
    ///
    /// # Errors
    /// [`InstrumentError::AllocatorMissing`] if another function allocates; [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable).
    pub(super) fn check_go(&self, list: &[Hook]) -> Result<()> {
        let unknown = |found: String| {
            Error::from(InstrumentError::AllocatorMissing {
                found: format!("a version of Go's allocator that is not known: {found}"),
                expected: "a module that a version from Go 1.18 to Go 1.27 compiled",
            })
        };
        let mut waiting = Vec::new();
        for name in INNERMOST {
            let functions = self.functions(name, 1, 1);
            if functions.is_empty() {
                return Err(unknown(format!("{name} is missing")));
            }
            waiting.extend(functions);
        }
        let callers = CallGraph::read(self.module)?.callers();
        let hooked: BTreeSet<u32> = list.iter().map(|hook| hook.function).collect();
        let mut seen: BTreeSet<u32> = waiting.iter().copied().collect();
        while let Some(function) = waiting.pop() {
            for &caller in callers.get(&function).into_iter().flatten() {
                if hooked.contains(&caller) || !seen.insert(caller) {
                    continue;
                }
                let name = self.module.functions.name(caller).unwrap_or_default();
                if !name.starts_with("runtime.mallocgc") {
                    let found = format!("{name} allocates without runtime.mallocgc");
                    return Err(unknown(found));
                }
                waiting.push(caller);
            }
        }
        Ok(())
    }
}
