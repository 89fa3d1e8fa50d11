//! What was being done with a file when that failed.

use std::fmt;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileAction {
    /// To open it.
    Open,
    /// To ask for its kind and size.
    Inspect,
    /// To read its contents.
    Read,
    /// To map its contents.
    Map,
    /// To write to it.
    Write,
}

impl FileAction {
    /// The name of the system call, as in Node's `error.syscall`.
    pub fn system_call(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Inspect => "fstat",
            Self::Read => "read",
            Self::Map => "mmap",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "cannot open the file",
            Self::Inspect => "cannot get the size of the file",
            Self::Read => "cannot read the file",
            Self::Map => "cannot map the file",
            Self::Write => "cannot write the export",
        })
    }
}
