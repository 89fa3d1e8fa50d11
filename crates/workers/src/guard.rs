//! Catches panics. Every function of the binding does its work in [`guarded`].

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base::error::{Error, Result};

/// Runs `work`. A panic in it becomes an error.
///
/// After a panic no value can be in an inconsistent state: values that the work owns are dropped, and the
/// values that it shares are caches, which are filled in one step.
pub fn guarded<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(internal_error(&*panic).into()))
}

/// The error for a caught panic.
pub fn internal_error(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Error::Internal {
        message: text.unwrap_or("a panic without a message").into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use rayon::prelude::*;

    use super::*;

    fn error_of<T>(work: impl FnOnce() -> Result<T>) -> Error {
        guarded(work).err().unwrap()
    }

    #[test]
    fn a_panic_is_an_internal_error_with_its_message_and_the_place_to_report_it() {
        let error = error_of(|| -> Result<()> { panic!("a wrong {}", "turn") });
        assert_eq!(error.code(), "ERR_INTERNAL");
        let text = error.to_string();
        assert!(text.starts_with("internal error: a wrong turn; "), "{text}");
        assert!(text.contains("please report it"), "{text}");
        assert!(text.contains("https://github.com/"), "{text}");
    }

    #[test]
    fn a_panic_may_have_any_payload() {
        let error = error_of(|| -> Result<()> { std::panic::panic_any(7) });
        let text = error.to_string();
        assert!(text.contains("a panic without a message"), "{text}");
    }

    #[test]
    fn after_a_panic_in_parallel_work_the_threads_still_work() {
        let sum = |bad: u64| {
            (0..10_000u64).into_par_iter().map(move |each| {
                assert_ne!(each, bad, "piece {bad}");
                each
            })
        };
        let error = error_of(|| Ok(sum(4321).sum::<u64>()));
        assert!(error.to_string().contains("piece 4321"), "{error}");
        assert_eq!(
            guarded(|| Ok::<_, Error>(sum(u64::MAX).sum::<u64>())).unwrap(),
            49_995_000
        );
    }

    #[test]
    fn an_error_is_returned_unchanged() {
        assert_eq!(
            error_of(|| -> Result<()> { Err(Error::Aborted) }).code(),
            "ABORT_ERR"
        );
    }
}
