//! Calls that fail, and answers as JSON.

use base::error::Error;
use serde::Serialize;

/// Why a call failed.
#[derive(Debug, Serialize)]
pub struct CallFailure {
    /// A stable name.
    pub code: &'static str,
    /// What was being done, and what was found.
    pub message: String,
}

impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        Self {
            code: error.code(),
            message: error.to_string(),
        }
    }
}

pub(crate) fn shown(value: &impl Serialize) -> std::result::Result<Vec<u8>, CallFailure> {
    serde_json::to_vec(value).map_err(|error| CallFailure {
        code: "ERR_INTERNAL",
        message: error.to_string(),
    })
}
