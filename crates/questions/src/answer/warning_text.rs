//! Warnings as text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use base::shown::Shown;
use base::warning::Warning;

/// A warning with its stable name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningText {
    /// `WARN_…`.
    pub code: Cow<'static, str>,
    /// A sentence.
    pub message: String,
}

impl WarningText {
    /// The same, with a message that names the dump.
    pub(crate) fn in_dump(self, dump: &str) -> Self {
        let warning = self.message;
        Self {
            message: format!("{}: {warning}", Shown(dump)),
            ..self
        }
    }
}

impl From<&Warning> for WarningText {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code().into(),
            message: warning.to_string(),
        }
    }
}
