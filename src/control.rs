//! Stopping work that is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// A handle on running work: clone it, give one to the analysis, and cancel with the other.
#[derive(Clone, Debug, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
}

impl Control {
    /// Makes the work stop with [`Error::Aborted`] soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// To be asked by long loops every few thousand steps.
    ///
    /// # Errors
    /// [`Error::Aborted`] once [`cancel`](Self::cancel) was called.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Error::Aborted);
        }
        Ok(())
    }
}
