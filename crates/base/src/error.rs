//! What can stop an analysis. Each crate owns its errors: an enumeration in its file `error.rs` that implements
//! [`Coded`]. [`Error`] holds any of them, and those that every crate can have.
//!
//! Findings that do not stop the analysis, but may make a number wrong, are a [`Warning`](crate::Warning).

use std::error::Error as StdError;
use std::fmt;

use crate::file_action::FileAction;
use crate::shown::Shown;

/// The result of everything in the engine that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of one crate: its text, for people, and its code, for programs.
///
/// The text states facts: what was being read, where, what was found, what was expected. It names no option, flag or
/// package, because the engine does not know how it was called. The command line, the API and the servers add that.
pub trait Coded: StdError + Send + Sync + 'static {
    /// A stable name for programs: `ERR_DUMP_TRUNCATED`, …
    fn code(&self) -> &'static str;
}

/// Why an analysis could not be made. Small, because every function that reads a value returns one.
///
/// The engine sees bytes, not files; [`Error::in_file`] adds the name of the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of one crate; [`Error::own`] returns it.
    #[error("{0}")]
    Own(Box<dyn Coded>),
    /// Another error, with the name of the input that caused it.
    #[error("{0}")]
    InFile(Box<InFile>),
    /// A bug in the engine: a caught panic.
    #[error(
        "internal error: {message}; this is a bug in the heap analyzer: please report it, with the dump and the module if you may share them, at {}/issues",
        env!("CARGO_PKG_REPOSITORY")
    )]
    Internal {
        /// The message of the panic.
        message: Box<str>,
    },
    /// The system refused memory. Nothing is allocated for this error.
    #[error(
        "out of memory: cannot allocate {bytes} bytes for {purpose}; free some memory, raise the memory limit of the process or its container, or use a larger machine"
    )]
    OutOfMemory {
        /// The size of the allocation.
        bytes: RefusedBytes,
        /// What it was for.
        purpose: &'static str,
    },
    /// The system refused a thread.
    #[error(
        "cannot start a thread: {source}; the process or its container is at its limit of threads or memory: raise the limit, or run fewer threads"
    )]
    Threads {
        /// The system's error.
        source: std::io::Error,
    },
    /// The caller asked to stop.
    #[error("the analysis was aborted")]
    Aborted,
    /// A file could not be read.
    #[error("{action}: {source}")]
    Io {
        /// What was being done.
        action: FileAction,
        /// The system's error.
        source: std::io::Error,
    },
}

/// An error and the name of the input that caused it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", Shown(file))]
pub struct InFile {
    /// A path, or the name of an argument.
    pub file: String,
    /// The error in it.
    pub source: Error,
}

/// A number of bytes below 2^56, in seven bytes: with eight, every [`Error`] were eight bytes larger. A larger number
/// becomes the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedBytes([u8; 7]);

impl From<u64> for RefusedBytes {
    fn from(bytes: u64) -> Self {
        let [low @ .., _] = bytes.min((1 << 56) - 1).to_le_bytes();
        Self(low)
    }
}

impl fmt::Display for RefusedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; 8];
        bytes[..7].copy_from_slice(&self.0);
        u64::from_le_bytes(bytes).fmt(f)
    }
}

impl<E: Coded> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Own(Box::new(error))
    }
}

impl Error {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Own(error) => error.code(),
            Self::InFile(in_file) => in_file.source.code(),
            Self::Internal { .. } => "ERR_INTERNAL",
            Self::OutOfMemory { .. } => "ERR_OUT_OF_MEMORY",
            Self::Threads { .. } => "ERR_NO_THREADS",
            Self::Aborted => "ABORT_ERR",
            Self::Io { .. } => "ERR_IO",
        }
    }

    /// The error of one crate, with or without the name of an input; `None` if it is another error.
    pub fn own<E: Coded>(&self) -> Option<&E> {
        match self {
            Self::Own(error) => {
                let error: &(dyn StdError + 'static) = &**error;
                error.downcast_ref()
            }
            Self::InFile(in_file) => in_file.source.own(),
            _ => None,
        }
    }

    /// The same error, preceded by the name of the input if the input caused it.
    pub fn in_file(self, file: impl Into<String>) -> Self {
        match self {
            Self::Aborted | Self::OutOfMemory { .. } | Self::Threads { .. } | Self::InFile(_) => {
                self
            }
            source => Self::InFile(Box::new(InFile {
                file: file.into(),
                source,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("found {0}")]
    struct Found(u32);

    impl Coded for Found {
        fn code(&self) -> &'static str {
            "ERR_NO_OBJECT"
        }
    }

    #[test]
    fn an_error_is_small() {
        assert_eq!(size_of::<Error>(), 24);
        assert_eq!(size_of::<Result<u64>>(), 24);
    }

    #[test]
    fn an_error_of_a_crate_keeps_its_code_text_and_type() {
        let error = Error::from(Found(7)).in_file("a.dump").in_file("outer");
        assert_eq!(error.to_string(), "a.dump: found 7");
        assert_eq!(error.code(), "ERR_NO_OBJECT");
        assert!(matches!(error.own(), Some(Found(7))));
        assert!(Error::Aborted.own::<Found>().is_none());
    }

    #[test]
    fn refused_bytes_are_shown_as_they_are() {
        for bytes in [0, 1, 24 << 20, (1 << 56) - 1] {
            assert_eq!(RefusedBytes::from(bytes).to_string(), bytes.to_string());
        }
        let most = ((1u64 << 56) - 1).to_string();
        assert_eq!(RefusedBytes::from(u64::MAX).to_string(), most);
    }
}
