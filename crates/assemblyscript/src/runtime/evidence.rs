//! All facts in a module about its classes and roots, from two independent sources.

use base::control::Control;
use base::error::Result;
use runtime_code::collector_code::CollectorCode;
use wasm::debug_info::DebugInfo;
use wasm::module::Module;

/// The evidence for an analysis.
#[derive(Debug)]
pub struct Evidence {
    /// The debug information; empty without debug sections.
    pub debug_info: DebugInfo,
    /// Whether there were debug sections.
    pub has_debug_info: bool,
    /// The collector's code, if it was found.
    pub code: Option<CollectorCode>,
}

impl Evidence {
    /// Reads all evidence of a module.
    ///
    /// # Errors
    /// [`ModuleError::DebugInfo`](wasm::ModuleError::DebugInfo) if there are debug sections, but broken ones;
    /// [`Error::Aborted`](base::Error::Aborted).
    pub fn read(module: &Module<'_>, control: &Control) -> Result<Self> {
        let debug_info = DebugInfo::read(module, control)?;
        let code = CollectorCode::find(module, control);
        // A partly read module is not used.
        control.check()?;
        Ok(Self {
            has_debug_info: debug_info.is_some(),
            debug_info: debug_info.unwrap_or_default(),
            code,
        })
    }
}
