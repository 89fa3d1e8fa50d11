//! The names by which an instrumented module and its host know each other, and the module between them.

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

/// The exported memory.
pub const EXPORT_MEMORY: &str = "__warpo_heap_analyzer_profile:memory";

/// The exported global with the countdown. By it, the host knows the bytes of all allocations.
pub const EXPORT_COUNTDOWN: &str = "__warpo_heap_analyzer_profile:countdown";
