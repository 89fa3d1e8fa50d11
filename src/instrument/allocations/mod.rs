//! Changes a module so that it reports its allocations to the host, for the profiler.
//!
//! Functions of the allocator (`hooks::Hooks`) that allocate get code after their own: it counts the allocation,
//! lowers a countdown by its size, and gives the allocation to the host when the countdown is used up. The code
//! of these functions is also copied as it was, as far as they call each other, and they call these copies. So
//! only the outermost call counts, and no state says that an allocator is running: a trap inside it leaves
//! nothing to repair.
//!
//! Functions that free get code before their own: two masks in globals say whether any sample has the same bits in
//! its address. If so, the address is looked up in the table of live samples (`live_samples.wat`). The host is
//! called only when a sample is due.
//!
//! Everything else keeps its bytes, except indexes of functions: four imports are added before them.

mod added;
mod bodies;
mod code;
mod edits;
mod hooks;
mod names;
mod rewrite;
mod table;
mod types;

pub(crate) use added::IMPORTS as ADDED_IMPORTS;
pub use hooks::Family;
pub use table::AllocationTable;

use crate::control::Control;
use crate::error::Result;
use crate::module::Module;

/// The module of the imports.
pub const IMPORT_MODULE: &str = "warpo_heap_analyzer_profile";
/// The import that records an allocation: (address, size, countdown) → the next countdown.
pub const IMPORT_ALLOCATED: &str = "allocated";
/// The import that keeps a sample that was recorded: (address, size).
pub const IMPORT_KEEP: &str = "keep";
/// The import that forgets an address: (address) → whether it was that of a sample.
pub const IMPORT_FREED: &str = "freed";
/// The import with the masks: (0 or 1) → the mask.
pub const IMPORT_MASK: &str = "mask";
/// The module with the live samples, which exports these imports except the first. `build.rs` translates it from
/// `live_samples.wat`.
pub const LIVE_SAMPLES_MODULE: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/live_samples.wasm"));
/// The exported global with the number of all allocations.
pub const EXPORT_COUNT: &str = "__warpo_heap_analyzer_profile:count";
/// The exported memory.
pub const EXPORT_MEMORY: &str = "__warpo_heap_analyzer_profile:memory";
/// The exported global with the countdown. By it, the host knows the bytes of all allocations.
pub const EXPORT_COUNTDOWN: &str = "__warpo_heap_analyzer_profile:countdown";

/// Returns the same module with its allocations reported, and the table about it. A module that was
/// instrumented before comes back unchanged.
///
/// # Errors
/// [`Error::Module`](crate::Error::Module), [`Error::ModuleKind`](crate::Error::ModuleKind);
/// [`Error::AllocatorMissing`](crate::Error::AllocatorMissing) if no allocator is found, or not all of it.
pub fn instrument_allocations(wasm: &[u8]) -> Result<(Vec<u8>, AllocationTable)> {
    if let Some(table) = AllocationTable::read(wasm)? {
        return Ok((wasm.to_vec(), table));
    }
    let module = Module::parse(wasm, &Control::default())?;
    let types = types::Types::read(wasm)?;
    let hooks = hooks::Hooks::find(&module, &types)?;
    rewrite::rewrite(wasm, &module, &types, &hooks)
}
