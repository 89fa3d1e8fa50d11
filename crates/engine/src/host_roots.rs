//! Pointers that the host holds, where the heap is of another kind.

use base::error::{Error, Result};
use dumps::HostRoot;
use questions::QuestionError;

/// Refuses pointers of the host for a heap that is not of C, C++, Rust or Zig.
pub(crate) fn refuse_host_roots(host_roots: &[HostRoot]) -> Result<()> {
    let Some(first) = host_roots.first() else {
        return Ok(());
    };
    Err(Error::from(QuestionError::InvalidOption {
        name: "hostRoots",
        found: first.address.to_string(),
        expected: "a dump of a program of C, C++, Rust or Zig; what the host holds of other heaps is in these heaps",
    }))
}
