//! The errors of this crate.

use base::error::Coded;
use base::shown::Shown;

/// Why a heap dump of a JVM cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HprofError {
    /// What the file says contradicts the format, or itself.
    #[error(
        "cannot read the heap dump of a JVM at offset {offset}: {}",
        Shown(message)
    )]
    Unreadable {
        /// The offset in the file.
        offset: u64,
        /// What was found and expected.
        message: String,
    },
    /// The file ends too early.
    #[error(
        "the heap dump of a JVM ends at byte {length}, inside or before {expected}: the JVM was stopped while it wrote the file, or the disk is full"
    )]
    Truncated {
        /// The length of the file.
        length: u64,
        /// What should follow.
        expected: &'static str,
    },
    /// A module beside the dump.
    #[error("a heap dump of a JVM is read without a module")]
    WithModule,
}

impl Coded for HprofError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "ERR_HPROF",
            Self::Truncated { .. } => "ERR_HPROF_TRUNCATED",
            Self::WithModule => "ERR_HPROF_WITH_MODULE",
        }
    }
}

impl HprofError {
    pub(crate) fn at(offset: u64, message: impl Into<String>) -> Self {
        Self::Unreadable {
            offset,
            message: message.into(),
        }
    }
}
