//! The errors of this crate.

use base::error::Coded;

/// Why two inputs do not belong together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A heap dump without a module.
    #[error(
        "a heap dump can be read only with the module that it was taken from; only heap snapshots of V8 have none"
    )]
    ModuleMissing,
}

impl Coded for InputError {
    fn code(&self) -> &'static str {
        match self {
            Self::ModuleMissing => "ERR_MODULE_MISSING",
        }
    }
}
