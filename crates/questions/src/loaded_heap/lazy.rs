//! A value that is created once, by the first thread that needs it.

use std::sync::{Mutex, OnceLock, PoisonError};

use base::error::Result;

/// A value that is created when it is first needed. If this fails, the next call tries again.
#[derive(Debug)]
pub(super) struct Lazy<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Self {
            value: OnceLock::new(),
            making: Mutex::new(()),
        }
    }
}

impl<T> Lazy<T> {
    /// A value that exists already.
    pub(super) fn of(value: T) -> Self {
        Self {
            value: OnceLock::from(value),
            making: Mutex::new(()),
        }
    }

    /// The value, if it was created.
    pub(super) fn ready(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, which is created if needed. Other threads that need it wait.
    pub(super) fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.value.get_or_init(|| value))
    }
}
