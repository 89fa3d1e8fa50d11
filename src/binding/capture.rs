//! What dump capture in a Node host needs of the engine. The host side is `js/capture.ts`.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use super::error::Result;
use super::guard::guarded;
use crate::{columns, module};

/// How much memory the work takes, for each byte of the module.
const ROOM_PER_BYTE: usize = 16;

/// The same module with every mutable i32 global, the boundary globals and the memory exported
/// under reserved names.
#[napi]
pub fn expose_globals(wasm: &[u8]) -> Result<Buffer> {
    guarded(|| {
        columns::check_room(wasm.len().saturating_mul(ROOM_PER_BYTE))?;
        Ok(module::expose_globals(wasm)?.into())
    })
}
