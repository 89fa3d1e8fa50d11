//! Debug sections for the `asc` transform, because the compiler writes none.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use super::error::{JsError, Result};
use engine::wasm::debug_info::writer::{DebugInfoDescription, DebugSections, WriteError};
use workers::guard::guarded;

/// The contents of the custom sections `debug_info`, `debug_abbrev` and `debug_str`.
#[napi(object)]
pub struct EncodedDebugSections {
    /// The entries.
    pub debug_info: Buffer,
    /// The abbreviations, which are the layouts of the entries.
    pub debug_abbrev: Buffer,
    /// The strings that entries point to.
    pub debug_str: Buffer,
}

/// Encodes a description of classes and globals, given as JSON, as DWARF.
#[napi]
pub fn encode_debug_sections(description_json: String) -> Result<EncodedDebugSections> {
    guarded(|| {
        let sections = encode(&description_json)
            .map_err(|error| JsError::new("ERR_DEBUG_INFO_DESCRIPTION", error))?;
        Ok(EncodedDebugSections {
            debug_info: sections.debug_info.into(),
            debug_abbrev: sections.debug_abbrev.into(),
            debug_str: sections.debug_str.into(),
        })
    })
}

fn encode(description_json: &str) -> std::result::Result<DebugSections, WriteError> {
    DebugInfoDescription::from_json(description_json)?.encode()
}
