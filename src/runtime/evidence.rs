//! Everything that a module tells about its classes and roots, from two independent sources.

use crate::collector_code::CollectorCode;
use crate::control::Control;
use crate::debug_info::DebugInfo;
use crate::error::Result;
use crate::module::Module;

/// The evidence that an analysis rests on.
#[derive(Debug)]
pub struct Evidence {
    /// What the producer declared; empty without debug sections.
    pub debug_info: DebugInfo,
    /// Whether there were debug sections.
    pub has_debug_info: bool,
    /// What the collector's own code does, if it could be found.
    pub code: Option<CollectorCode>,
}

impl Evidence {
    /// Reads all evidence of a module.
    ///
    /// # Errors
    /// [`Error::DebugInfo`](crate::Error::DebugInfo) if there are debug sections, but broken ones;
    /// [`Error::Aborted`](crate::Error::Aborted).
    pub fn read(module: &Module<'_>, control: &Control) -> Result<Self> {
        let debug_info = DebugInfo::read(module, control)?;
        let code = CollectorCode::find(module, control);
        // What was not read to its end says nothing.
        control.check()?;
        Ok(Self {
            has_debug_info: debug_info.is_some(),
            debug_info: debug_info.unwrap_or_default(),
            code,
        })
    }
}
