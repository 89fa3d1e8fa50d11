//! Whether a file that was captured with a dump belongs to it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::JoinError;
use base::error::Result;

/// A dump, by its size and hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpIdentity {
    size: u64,
    hash: String,
}

impl DumpIdentity {
    /// That of these bytes.
    pub fn of(dump: &[u8]) -> Self {
        let mut hash = String::new();
        for byte in Sha256::digest(dump) {
            // Writing to a string does not fail.
            _ = write!(hash, "{byte:02x}");
        }
        Self {
            size: dump.len() as u64,
            hash,
        }
    }

    /// Refuses a file of another dump.
    ///
    /// # Errors
    /// [`JoinError::OtherMoment`].
    pub(crate) fn check(&self, expected_size: u64, expected_hash: &str) -> Result<()> {
        if self.size == expected_size && self.hash.eq_ignore_ascii_case(expected_hash) {
            return Ok(());
        }
        Err(JoinError::OtherMoment {
            expected_size,
            expected_hash: expected_hash.to_owned(),
            size: self.size,
            hash: self.hash.clone(),
        }
        .into())
    }
}

/// A file of JSON that cannot be read.
pub(crate) fn unreadable(error: &serde_json::Error) -> JoinError {
    JoinError::Numbers {
        line: error.line(),
        column: error.column(),
        message: error.to_string(),
    }
}

/// A file whose contents are not what is expected.
pub(crate) fn unexpected(message: String) -> JoinError {
    JoinError::Numbers {
        line: 0,
        column: 0,
        message,
    }
}
