//! What dump capture in a Node host needs of the engine. The host side is `js/capture.ts`.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use super::error::Result;
use crate::module;

/// The same module with every mutable i32 global, the boundary globals and the memory exported
/// under reserved names.
#[napi(catch_unwind)]
pub fn expose_globals(wasm: &[u8]) -> Result<Buffer> {
    Ok(module::expose_globals(wasm)?.into())
}
