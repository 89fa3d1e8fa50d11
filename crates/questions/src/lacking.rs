//! Refuses questions about what a heap does not have.

use base::error::{Error, Result};
use heap::Source;

use crate::QuestionError;

/// The error of a question that this kind of heap cannot answer.
pub fn not_in_heap(source: &dyn Source, question: &'static str, reason: &'static str) -> Error {
    let lacks = &source.facts().lacks;
    Error::from(QuestionError::NotInHeap {
        code: lacks.code,
        heap: lacks.heap,
        question,
        reason,
    })
}

/// Refuses a question if what it needs is lacking, for a reason.
///
/// # Errors
/// [`not_in_heap`].
pub(crate) fn require(
    source: &dyn Source,
    question: &'static str,
    lacking: Option<&'static str>,
) -> Result<()> {
    match lacking {
        Some(reason) => Err(not_in_heap(source, question, reason)),
        None => Ok(()),
    }
}
