//! The errors of this crate.

use base::error::Coded;

/// Why a process or a core file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutsideError {
    /// There is no such process, or it is not one that can be read.
    #[error("cannot read process {pid}: {why}")]
    Process {
        /// Its id.
        pid: u32,
        /// What the system said, or what is wrong with it.
        why: String,
    },
    /// The system does not let this user read the process.
    #[error("the system does not let this process read the memory of process {pid}: {why}")]
    Refused {
        /// Its id.
        pid: u32,
        /// Which right is missing.
        why: String,
    },
    /// Not a core file, or one that cannot be read.
    #[error("it is no core file that can be read: {why}")]
    Core {
        /// What was found, and what was expected.
        why: String,
    },
    /// There is no linear memory.
    #[error("{what} has no WebAssembly memory that can be seen from outside: {why}")]
    NoMemory {
        /// The process, or the core file.
        what: String,
        /// What was looked for.
        why: &'static str,
    },
    /// The module is not in the process.
    #[error("the module is needed: {why}")]
    NoModule {
        /// Why it was not found.
        why: String,
    },
    /// The memory is not one of this module.
    #[error(
        "the memory is not one of this module: {equal} of {all} bytes of its data are in the memory, expected most of them"
    )]
    OtherModule {
        /// How many bytes of the data segments are in the memory.
        equal: u64,
        /// How many bytes they have.
        all: u64,
    },
    /// The process has another module that fits the memory.
    #[error(
        "the memory is not one of this module: it is one of the module {name}, which is in the process and has other code"
    )]
    OtherCode {
        /// The short name of the module in the process.
        name: String,
    },
    /// The values of the globals were not found.
    #[error("the values of the globals were not found: {why}")]
    NoGlobals {
        /// What was looked for.
        why: String,
    },
    /// The process changed again and again while it was read.
    #[error("process {pid} changed while it was read, {tries} times: {why}")]
    Changed {
        /// Its id.
        pid: u32,
        /// How often it was read.
        tries: u32,
        /// What changed.
        why: String,
    },
    /// The dump could not be written.
    #[error("the dump could not be written: {source}")]
    Write {
        /// The system's error.
        source: std::io::Error,
    },
}

impl Coded for OutsideError {
    fn code(&self) -> &'static str {
        match self {
            Self::Process { .. } => "ERR_ATTACH_TARGET",
            Self::Refused { .. } => "ERR_OUTSIDE_REFUSED",
            Self::Core { .. } => "ERR_CORE_FILE",
            Self::NoMemory { .. } => "ERR_OUTSIDE_MEMORY",
            Self::NoModule { .. } => "ERR_MODULE_MISSING",
            Self::OtherModule { .. } | Self::OtherCode { .. } => "ERR_OUTSIDE_MODULE",
            Self::NoGlobals { .. } => "ERR_OUTSIDE_GLOBALS",
            Self::Changed { .. } => "ERR_OUTSIDE_CHANGED",
            Self::Write { .. } => "ERR_DUMP_WRITE",
        }
    }
}
