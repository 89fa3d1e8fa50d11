//! What is known about an instrumented module: where its code was before, and which call gives the host samples.
//! The module contains it as a custom section.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

use crate::ModuleError;
use base::error::{Error, Result};

use crate::module::{check_start, unreadable};

/// The exported global with the number of all allocations.
pub const EXPORT_COUNT: &str = "__warpo_heap_analyzer_profile:count";
/// The number of imports that an instrumented module has more, before its functions.
const ADDED_IMPORTS: u32 = 4;
/// The same of a module that knows the way of calls to each allocation.
const ADDED_IMPORTS_WITH_CONTEXTS: u32 = 7;
/// The name of the section.
pub const SECTION: &str = "warpo_heap_analyzer_profile";

/// Whose allocator a module has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// AssemblyScript and WARPO. Sizes are those of whole blocks, and addresses are those of blocks.
    Assemblyscript,
    /// C, C++, Rust, Zig. Sizes are those requested.
    C,
    /// TinyGo: its collector frees without a call.
    Tinygo,
    /// Go: its collector frees without a call, and stacks are in memory.
    Go,
}

/// The table of an instrumented module. Offsets count bytes from the start of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AllocationTable {
    /// Whose allocator it is.
    pub family: Family,
    /// Whether the program frees blocks one by one, so that it is known what is in use.
    pub frees: bool,
    /// The offset of the original module's code section, from which DWARF counts.
    pub code_start: u64,
    /// The same of the instrumented module.
    pub new_code_start: u64,
    /// Whether the module knows the way of calls to each allocation.
    #[serde(default)]
    pub contexts: bool,
    /// The names by which the functions of the allocator were found.
    pub allocators: Vec<String>,
    /// The offset of the call that gives samples to the host, in the instrumented module.
    pub call: u64,
    /// Where instrumented code came from: (new offset, original offset), each up to the next. 0 as the
    /// original offset stands for code that was added.
    pub offsets: Vec<(u64, u64)>,
}

/// The number of imports that an instrumented module has more, before its functions; with contexts of calls, or without.
pub fn added_imports(contexts: bool) -> u32 {
    if contexts {
        ADDED_IMPORTS_WITH_CONTEXTS
    } else {
        ADDED_IMPORTS
    }
}

impl AllocationTable {
    /// The table of a module; `None` if it is not instrumented.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`] if the bytes are no module, or the table is damaged or was removed.
    pub fn read(wasm: &[u8]) -> Result<Option<Self>> {
        check_start(wasm)?;
        let mut export = None;
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.map_err(unreadable)? {
                Payload::CustomSection(section) if section.name() == SECTION => {
                    let read = serde_json::from_slice(section.data());
                    return read.map(Some).map_err(|error| {
                        Error::from(ModuleError::Unreadable {
                            offset: section.data_offset(),
                            message: format!("the profiler's table is damaged: {error}"),
                        })
                    });
                }
                Payload::ExportSection(section) => {
                    for one in section.into_iter_with_offsets() {
                        let (offset, one) = one.map_err(unreadable)?;
                        if one.name == EXPORT_COUNT {
                            export = Some(offset);
                        }
                    }
                }
                _ => {}
            }
        }
        match export {
            Some(offset) => Err(ModuleError::Unreadable {
                offset,
                message: format!(
                    "it was instrumented before, and its custom section {SECTION} was removed; \
                     instrument the original module"
                ),
            }
            .into()),
            None => Ok(None),
        }
    }

    /// The number of imports that the module has more than the original, before its functions.
    pub fn added_imports(&self) -> u32 {
        added_imports(self.contexts)
    }

    /// The original offset of an offset in the instrumented module; `None` for code that was added.
    pub fn original(&self, offset: u64) -> Option<u64> {
        let after = self.offsets.partition_point(|&(new, _)| new <= offset);
        let &(new, old) = self.offsets.get(after.checked_sub(1)?)?;
        (old != 0).then(|| old + (offset - new))
    }

    /// The original code of a function of the instrumented module, from its first byte that was there to its last.
    pub fn original_code(&self, code: Range<u64>) -> Option<Range<u64>> {
        let first = self.offsets.partition_point(|&(new, _)| new <= code.start);
        let first = first.saturating_sub(1);
        let stretches = self.offsets[first..].iter().enumerate();
        let stretches = stretches.take_while(|(_, stretch)| stretch.0 < code.end);
        let originals = stretches.filter(|(_, stretch)| stretch.1 != 0);
        let ranges = originals.map(|(nth, &(new, old))| {
            let next = self.offsets.get(first + nth + 1).map(|next| next.0);
            let end = next.unwrap_or(code.end).min(code.end);
            old + code.start.saturating_sub(new)..old + (end - new)
        });
        ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
    }
}
