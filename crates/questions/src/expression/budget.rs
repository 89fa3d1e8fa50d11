//! Bounds what an expression reads of texts and containers: a million objects can refer to one text of a gigabyte.

use std::sync::atomic::{AtomicU64, Ordering};

use base::error::{Error, Result};

use crate::QuestionError;

/// The characters and members that one question may read.
const MOST: u64 = 1 << 33;

/// What is left to read.
#[derive(Debug)]
pub(crate) struct ReadBudget {
    left: AtomicU64,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self {
            left: AtomicU64::new(MOST),
        }
    }
}

impl ReadBudget {
    /// Takes units.
    pub(super) fn take(&self, units: u64) -> Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        let Some(rest) = left.checked_sub(units) else {
            return Err(Error::from(QuestionError::Where {
                option: "where",
                column: 1,
                found: "an expression that reads more than 8 billion characters and members"
                    .to_owned(),
                expected:
                    "a class with fewer objects, or a condition before that leaves most objects out"
                        .to_owned(),
            }));
        };
        // Threads that take at the same time may take a little more.
        self.left.store(rest, Ordering::Relaxed);
        Ok(())
    }
}
