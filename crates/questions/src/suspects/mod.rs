//! Suspects: objects and classes that retain a large part of the heap, and the place where these bytes
//! accumulate.

mod answer;
mod descent;
mod grown;
mod largest;
mod parts;
mod text;

use crate::loaded_heap::LoadedHeap;
pub use answer::{AccumulatedClass, Accumulation, Suspect, SuspectKind, Suspects};
use base::control::Control;
use base::error::{Error, Result};
use grown::grown_suspects;
use largest::{THRESHOLD, largest_suspects};

pub(crate) fn suspects(
    loaded: &LoadedHeap,
    threshold: Option<f64>,
    before: Option<&LoadedHeap>,
    limit: usize,
    control: &Control,
) -> Result<Suspects> {
    if let Some(threshold) = threshold
        && !(threshold > 0.0 && threshold <= 1.0)
    {
        return Err(Error::InvalidOption {
            name: "threshold",
            found: threshold.to_string(),
            expected: "a number above 0 and at most 1",
        });
    }
    let mut suspects = match before {
        Some(before) => grown_suspects(loaded, threshold, before, control)?,
        None => largest_suspects(loaded, threshold.unwrap_or(THRESHOLD), limit, control)?,
    };
    suspects.suspects.truncate(limit);
    Ok(suspects)
}
