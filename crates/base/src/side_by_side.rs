//! Runs two pieces of work at the same time. Large parts of each are sequential.

use std::panic::resume_unwind;

use crate::error::{Error, Result};

/// Runs two pieces of work at the same time. If both fail, the error is that of the first.
///
/// Rayon is not used: a rayon thread that waits for a part of its work would start another long one, and
/// could not continue before that is done. In a page there are no threads: the second begins when the first is done.
pub fn side_by_side<S, T: Send>(
    first: impl FnOnce() -> Result<S>,
    second: impl FnOnce() -> Result<T> + Send,
) -> Result<(S, T)> {
    if cfg!(target_family = "wasm") {
        return Ok((first()?, second()?));
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("heap-analyzer".to_owned());
        let second = thread
            .spawn_scoped(scope, second)
            .map_err(|source| Error::Threads { source })?;
        let first = first();
        let second = second.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok((first?, second?))
    })
}
