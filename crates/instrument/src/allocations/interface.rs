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

/// The import that says who called, if it was the host: (whether functions of the program are on the stack) → a number
/// of the stack.
pub const IMPORT_ENTERED: &str = "entered";

/// The import that counts an allocation if the stack of its context is known: (context, size) → what the host knows of
/// it, or 0.
pub const IMPORT_KNOWN: &str = "known";

/// The import that keeps an allocation as a sample: (address, size, what the host knows of its stack).
pub const IMPORT_KEEP_AS: &str = "keepAs";

/// The module with the contexts whose stacks are known, which exports `known`. From `contexts.wat`.
pub const CONTEXTS_MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/contexts.wasm"));

/// The module with the live samples, which exports `keep`, `keepAs`, `freed` and `mask`. `build.rs` translates it from
/// `live_samples.wat`.
pub const LIVE_SAMPLES_MODULE: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/live_samples.wasm"));

/// The exported memory.
pub const EXPORT_MEMORY: &str = "__warpo_heap_analyzer_profile:memory";

/// The exported global with the countdown. By it, the host knows the bytes of all allocations.
pub const EXPORT_COUNTDOWN: &str = "__warpo_heap_analyzer_profile:countdown";
