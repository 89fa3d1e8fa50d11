//! The part of dump capture that changes a module. `js/capture.ts` is the other part.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use super::error::Result;
use base::columns;
use engine::instrument::{Boundary, DumpGlobals};
use engine::wasm::module;
use workers::guard::guarded;

/// The memory that must be free before the work begins, per byte of the module.
const ROOM_PER_BYTE: u64 = 16;

/// The same module with every mutable i32 global, the boundary globals and the memory exported
/// under reserved names.
#[napi]
pub fn expose_globals(wasm: &[u8]) -> Result<Buffer> {
    guarded(|| {
        check_module(wasm)?;
        Ok(engine::instrument::expose_globals(wasm)?.into())
    })
}

/// Which globals the header of a dump is made of.
#[napi(object, object_from_js = false)]
pub struct DumpGlobalsData {
    /// Indexes of the mutable i32 globals, in the order of a dump.
    pub values: Vec<u32>,
    /// `__data_end`, `__heap_base` and `__stack_pointer`.
    pub boundaries: Vec<BoundaryData>,
}

/// An address that is in a global, or a constant.
#[napi(object, object_from_js = false)]
pub struct BoundaryData {
    pub global: Option<u32>,
    pub value: Option<u32>,
}

/// Which globals the header of a dump is made of, by their index.
#[napi]
pub fn dump_globals(wasm: &[u8]) -> Result<DumpGlobalsData> {
    guarded(|| {
        check_module(wasm)?;
        let found = DumpGlobals::find(wasm)?;
        let boundary = |boundary| match boundary {
            Boundary::Global(index) => BoundaryData {
                global: Some(index.0),
                value: None,
            },
            Boundary::Folded(value) => BoundaryData {
                global: None,
                value: Some(value),
            },
        };
        Ok(DumpGlobalsData {
            values: found.values.iter().map(|index| index.0).collect(),
            boundaries: found.boundaries.map(boundary).into(),
        })
    })
}

/// Checks that the bytes begin like a module, and that there is room to read them.
fn check_module(wasm: &[u8]) -> base::Result<()> {
    module::check_start(wasm)?;
    let room = (wasm.len() as u64).saturating_mul(ROOM_PER_BYTE);
    columns::check_room(room, "reading the module's globals")
}
