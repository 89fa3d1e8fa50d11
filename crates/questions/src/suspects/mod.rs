//! Suspects: objects and classes that retain a large part of the heap, and the place where these bytes
//! accumulate.

mod answer;
mod descent;
mod earlier;
mod group_sizes;
mod grown;
mod largest;
mod parts;
mod text;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::parts::page::{default_limit, limit_schema, page};
pub use answer::{AccumulatedClass, Accumulation, Suspect, SuspectKind, Suspects, Together};
use base::control::Control;
use base::error::Result;
use grown::grown_suspects;
use largest::{THRESHOLD, largest_suspects};

/// What is a suspect, and how many of them to list.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SuspectOptions {
    /// The least part of the live bytes that a suspect retains: above 0 and at most 1 (default: 0.1; with an earlier
    /// heap 0.02).
    #[serde(default)]
    #[schemars(
        range(max = 1),
        extend(
            "exclusiveMinimum" = 0,
            "x-cli" = "--threshold <percent>: list only suspects with at least this part of the live bytes (default: 10; with --before 2)",
            "x-agent" = { "description": "the least part of the live bytes (default: 0.1; with before 0.02)" }
        )
    )]
    pub threshold: Option<f64>,
    /// How many suspects to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
}

/// The objects and classes that retain the most; with an earlier heap, those that grew the most.
///
/// # Errors
/// [`Error`](base::Error): `InvalidOption` for a limit of 0 and an invalid threshold, `DumpChanged` and `Io` if
/// the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn suspects(
    loaded: &LoadedHeap,
    options: &SuspectOptions,
    before: Option<&LoadedHeap>,
    control: &Control,
) -> Result<Suspects> {
    let limit = page(0, options.limit)?.end();
    let threshold = options.threshold;
    if let Some(threshold) = threshold
        && !(threshold > 0.0 && threshold <= 1.0)
    {
        return Err(QuestionError::InvalidOption {
            name: "threshold",
            found: threshold.to_string(),
            expected: "a number above 0 and at most 1",
        }
        .into());
    }
    let mut suspects = match before {
        Some(before) => grown_suspects(loaded, threshold, before, control)?,
        None => largest_suspects(loaded, threshold.unwrap_or(THRESHOLD), limit, control)?,
    };
    suspects.suspects.truncate(limit);
    Ok(suspects)
}
