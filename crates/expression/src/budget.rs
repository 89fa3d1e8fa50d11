//! Bounds what an expression reads: a million objects can refer to one text of a gigabyte, or to one object with a million
//! properties.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use base::control::Control;
use base::error::Result;

use super::tokens::{ExpressionOption, wrong};

/// The characters that the expressions of one question may read, and the units of work that reading may take.
const MOST: u64 = 1 << 33;
/// How many characters a member of a container counts as: it is put in order.
pub(crate) const MEMBER: u64 = 16;
/// How many characters a thread takes at once.
const PIECE: u64 = 1 << 16;

/// What is left to read for one question.
#[derive(Debug)]
pub struct ReadBudget {
    left: AtomicU64,
    control: Control,
    /// The work that was done before.
    work: u64,
}

impl ReadBudget {
    /// For a question that begins.
    pub fn new(control: &Control) -> Self {
        Self {
            left: AtomicU64::new(MOST),
            control: control.clone(),
            work: control.work(),
        }
    }
}

/// What is left to read for one expression in one thread.
pub(crate) struct Allowance<'b> {
    budget: &'b ReadBudget,
    option: ExpressionOption,
    left: Cell<u64>,
}

impl<'b> Allowance<'b> {
    pub(crate) fn new(budget: &'b ReadBudget, option: ExpressionOption) -> Self {
        Self {
            budget,
            option,
            left: Cell::new(0),
        }
    }

    /// Takes characters.
    pub(crate) fn take(&self, units: u64) -> Result<()> {
        let left = self.left.get();
        if let Some(rest) = left.checked_sub(units) {
            self.left.set(rest);
            return Ok(());
        }
        let missing = (units - left).max(PIECE);
        let taken = self
            .budget
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rest| {
                rest.checked_sub(missing)
            });
        if taken.is_err() {
            return Err(self.exhausted());
        }
        self.left.set(left + missing - units);
        Ok(())
    }

    /// Checks how much work reading has taken, which the readers count.
    pub(crate) fn check(&self) -> Result<()> {
        let ReadBudget { control, work, .. } = self.budget;
        if control.work().saturating_sub(*work) > MOST {
            return Err(self.exhausted());
        }
        Ok(())
    }

    fn exhausted(&self) -> base::error::Error {
        wrong(
            self.option,
            1,
            "an expression that reads more than 8 billion characters, or half a billion members",
            "a class with fewer objects, or a condition before that leaves most objects out",
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn all_threads_together_take_no_more_than_there_is() {
        let control = Control::default();
        let budget = ReadBudget::new(&control);
        let [one, other] = [(); 2].map(|()| Allowance::new(&budget, ExpressionOption::GroupBy));
        one.take(MOST - PIECE).unwrap();
        other.take(1).unwrap();
        other.take(PIECE - 1).unwrap();
        for allowance in [&one, &other] {
            let error = allowance.take(1).unwrap_err();
            assert_eq!(error.code(), "ERR_WHERE");
            assert!(error.to_string().starts_with("option groupBy"), "{error}");
        }
    }

    #[test]
    fn work_of_this_question_counts_and_work_before_does_not() {
        let control = Control::default();
        control.count(MOST).unwrap();
        let budget = ReadBudget::new(&control);
        let allowance = Allowance::new(&budget, ExpressionOption::Where);
        control.count(MOST).unwrap();
        allowance.check().unwrap();
        control.count(1).unwrap();
        assert!(allowance.check().is_err());
    }
}
