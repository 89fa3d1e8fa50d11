//! How much memory a file may stand for. A file of 30 bytes can declare 4 GiB, in a coredump as well as compressed.

use crate::ContainerError;
use base::error::Result;

/// What any file may stand for: more than the initial memory of nearly all programs.
const ALWAYS: u64 = 256 << 20;
/// What each byte of a file may stand for beyond that: as much as gzip can pack into it.
const FOR_EACH_BYTE: u64 = 1100;

/// The most bytes of memory that a file may stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proportion {
    /// The length of the file.
    length: u64,
    /// The most bytes.
    pub(crate) limit: u64,
}

impl Proportion {
    /// For a file of this length, of which the caller takes at most `largest` bytes.
    pub(crate) fn of(length: u64, largest: u64) -> Self {
        let in_proportion = ALWAYS.saturating_add(length.saturating_mul(FOR_EACH_BYTE));
        Self {
            length,
            limit: in_proportion.min(largest),
        }
    }

    /// # Errors
    /// [`ContainerError::OutOfProportion`] if there are more bytes.
    pub(crate) fn check(self, what: &'static str, bytes: u64) -> Result<()> {
        if bytes <= self.limit {
            return Ok(());
        }
        Err(ContainerError::OutOfProportion {
            what,
            at_least: bytes,
            length: self.length,
            limit: self.limit,
        }
        .into())
    }
}
