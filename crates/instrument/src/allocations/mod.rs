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
//! Everything else keeps its bytes, except indexes of functions: four imports are added before them. If the module is to
//! know the way of calls to each allocation, there are three more, and calls get code (`contexts`).

mod added;
mod bodies;
mod code;
mod contexts;
mod edits;
mod hooks;
mod interface;
mod names;
mod rewrite;
mod types;

pub use interface::{
    CONTEXTS_MODULE, EXPORT_COUNTDOWN, EXPORT_MEMORY, IMPORT_ALLOCATED, IMPORT_ENTERED,
    IMPORT_FREED, IMPORT_KEEP, IMPORT_KEEP_AS, IMPORT_KNOWN, IMPORT_MASK, IMPORT_MODULE,
    LIVE_SAMPLES_MODULE,
};
pub use wasm::allocation_table::{AllocationTable, EXPORT_COUNT, Family};

use base::control::Control;
use base::error::Result;
use wasm::module::Module;

/// Returns the same module with its allocations reported, and the table about it. A module that was
/// instrumented before comes back unchanged. With `contexts`, it knows the way of calls to each allocation, except if it
/// is of Go, whose stacks are in memory.
///
/// # Errors
/// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable), [`ModuleError::Kind`](wasm::ModuleError::Kind);
/// [`InstrumentError::AllocatorMissing`](crate::InstrumentError::AllocatorMissing) if no allocator is found, or not all of it.
pub fn instrument_allocations(wasm: &[u8], contexts: bool) -> Result<(Vec<u8>, AllocationTable)> {
    if let Some(table) = AllocationTable::read(wasm)? {
        return Ok((wasm.to_vec(), table));
    }
    let module = Module::parse(wasm, &Control::default())?;
    let types = types::Types::read(wasm)?;
    let hooks = hooks::Hooks::find(&module, &types)?;
    let contexts = contexts && hooks.family != Family::Go;
    let leading = contexts
        .then(|| contexts::leading(&module, &hooks))
        .transpose()?;
    rewrite::rewrite(wasm, &module, &types, &hooks, leading)
}
