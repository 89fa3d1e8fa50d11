//! Finds the objects for which an expression is true.

use rayon::prelude::*;

use super::answer::{ConditionResult, FailedObjects};
use base::columns;
use base::control::Phase;
use base::error::Result;
use base::units::ObjectIndex;
use expression::{BATCH, Compiled, Evaluator, FAILURES, Scope, Value};

/// The number of objects of a task.
const PIECE: usize = 1 << 18;

/// What one task found.
#[derive(Default)]
struct Piece {
    found: Vec<ObjectIndex>,
    without_field: u64,
    failed: [u64; FAILURES.len()],
}

/// Keeps the objects for which a condition is true.
pub(super) fn keep(
    objects: &[ObjectIndex],
    condition: &Compiled,
    scope: Scope<'_>,
) -> Result<(Vec<ObjectIndex>, ConditionResult)> {
    let step = scope.control.begin(Phase::View, objects.len() as u64);
    let pieces: Vec<Piece> = objects
        .par_chunks(PIECE)
        .map(|objects| {
            let mut evaluator = Evaluator::new(condition, scope)?;
            let mut piece = Piece::default();
            for batch in objects.chunks(BATCH) {
                step.advance(batch.len() as u64)?;
                let values = evaluator.values(batch)?;
                for (&object, value) in batch.iter().zip(values) {
                    piece.add(object, value)?;
                }
            }
            Ok(piece)
        })
        .collect::<Result<_>>()?;
    let mut found = Vec::new();
    let mut result = ConditionResult {
        examined: objects.len() as u64,
        ..ConditionResult::default()
    };
    let mut failed = [0; FAILURES.len()];
    for piece in pieces {
        columns::extend(&mut found, &piece.found)?;
        result.without_field += piece.without_field;
        for (sum, count) in failed.iter_mut().zip(piece.failed) {
            *sum += count;
        }
    }
    let failed = FAILURES.iter().zip(failed).filter(|&(_, count)| count > 0);
    result.failed = failed
        .map(|(failure, count)| FailedObjects {
            reason: failure.reason(),
            count,
        })
        .collect();
    Ok((found, result))
}

impl Piece {
    fn add(&mut self, object: ObjectIndex, value: Value) -> Result<()> {
        match value {
            Value::Bool(true) => columns::push(&mut self.found, object)?,
            Value::Bool(false) => {}
            Value::Absent => self.without_field += 1,
            other => self.failed[other.failure() as usize] += 1,
        }
        Ok(())
    }
}
