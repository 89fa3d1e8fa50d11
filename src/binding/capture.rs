//! The part of dump capture that changes a module. `js/capture.ts` is the other part.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use super::error::Result;
use super::guard::guarded;
use crate::{columns, instrument, module};

/// The memory that must be free before the work begins, per byte of the module.
const ROOM_PER_BYTE: u64 = 16;

/// The same module with every mutable i32 global, the boundary globals and the memory exported
/// under reserved names.
#[napi]
pub fn expose_globals(wasm: &[u8]) -> Result<Buffer> {
    guarded(|| {
        module::check_start(wasm)?;
        let room = (wasm.len() as u64).saturating_mul(ROOM_PER_BYTE);
        columns::check_room(room, "exposing the module's globals")?;
        Ok(instrument::expose_globals(wasm)?.into())
    })
}
