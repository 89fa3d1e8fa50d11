// The names of the exports that `exposeGlobals` adds. They are the same as in crates/instrument/src/exports.rs.

export const RESERVED_PREFIX = "__warpo_heap_analyzer:";
/** Before the wasm index of a mutable i32 global. */
export const GLOBAL_PREFIX = `${RESERVED_PREFIX}global:`;
export const STACK_POINTER = `${RESERVED_PREFIX}stack_pointer`;
export const MEMORY = `${RESERVED_PREFIX}memory`;
