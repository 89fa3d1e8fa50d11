//! Problems that an analysis tolerates, with a warning, instead of failing.

use crate::error::Result;
use crate::mismatch::Mismatch;
use crate::mismatch::OtherModule;
use crate::warning::Warning;

/// Problems that an analysis tolerates, with a warning, instead of failing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// A dump that was not taken from the module.
    pub mismatch: bool,
    /// A heap that cannot be read to its end: the part before the damage is analyzed.
    pub damage: bool,
}

impl Tolerance {
    /// Reports a mismatch, as an error or as a warning. Returns whether there is one.
    pub fn check(self, found: Option<Mismatch>, warnings: &mut Vec<Warning>) -> Result<bool> {
        let Some(mismatch) = found else {
            return Ok(false);
        };
        if !self.mismatch {
            return Err(OtherModule { mismatch }.into());
        }
        warnings.push(Warning::ModuleMismatch { mismatch });
        Ok(true)
    }
}
