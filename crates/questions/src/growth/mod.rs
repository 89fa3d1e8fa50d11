//! What grows over two dumps or many, of one build or of several: the place of the program that holds more and
//! more, and by how much.
//!
//! A thing grows if it rises in every interval. What holds it, and what it holds, often grows with it, so
//! each growing thing is folded into the one that explains it.

mod answer;
mod check;
mod find;
mod fold;
mod growing;
mod growing_thing;
mod hint;
mod may_grow;
mod records;
mod same;
mod series;
mod tables;
mod trend;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, AnswerBody};
use crate::parts::page::{default_limit, limit_schema, offset_schema, page};
use crate::place_table::PlaceTable;
use crate::warning::QuestionWarning;
use crate::warnings::{WarningText, refuse_other_build};
pub use answer::{
    Check, CheckedRule, FoldedPlace, GrowingPlace, Growth, GrowthDump, LiveGrowth, Rate,
    UndecidedPlace,
};
use base::control::Control;
use base::error::Result;
pub use check::{Accepted, CheckOptions, MaxGrowth, MaxObjects, check};
use fold::fold;
use growing::{Growing, GrowthRules};
pub use may_grow::may_grow;
use series::Merged;
use tables::{FEW_DUMPS, check_sums, checked_warmup, dumps, is_partial};

/// How growth is looked for.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-command" = { "about": "what grows from dump to dump, with its path and its rate: leaks", "modules": "many" }))]
pub struct GrowthOptions {
    /// The number of dumps to ignore at the start, while caches fill: a whole number ≥ 0 (default: 0).
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--warmup <n>: leave out the first n dumps, in which caches fill (default: 0)",
        "x-agent" = { "description": "dumps at the start to leave out", "maximum": 98, "default": 0 }
    ))]
    pub warmup: u64,
    /// Whether a place also counts as growing if it never falls, and rises in every two intervals, as with a leak of one
    /// object every second round (default: false). This causes more false alarms.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--slow: also report what rises only in every second interval",
        "x-agent" = { "description": "also places that rise only in every second interval", "default": false }
    ))]
    pub slow: bool,
    /// Whether places that may have stopped growing count as growing (default: false). See `UndecidedPlace`.
    #[serde(default)]
    #[schemars(extend("x-cli" = "--strict: also report as growing what may have stopped in the last dumps"))]
    pub strict: bool,
    /// How many entries to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
    /// How many entries to leave out before the first (default: 0).
    #[serde(default)]
    #[schemars(schema_with = "offset_schema")]
    pub offset: u64,
}

/// What grows from table to table, in their order.
///
/// # Errors
/// [`QuestionError::InvalidOption`](crate::QuestionError::InvalidOption) for less than two tables after the warm-up and for a limit of 0,
/// [`QuestionError::JoinedTable`](crate::QuestionError::JoinedTable),
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub fn growth(
    tables: &[&PlaceTable],
    options: &GrowthOptions,
    control: &Control,
) -> Result<Answer> {
    let page = page(options.offset, options.limit)?;
    check_sums(tables)?;
    refuse_other_build(tables.iter().flat_map(|table| &table.warnings))?;
    let warmup = checked_warmup(tables, options.warmup)?;
    let merged = Merged::new(tables, warmup, control)?;
    let search = GrowthRules {
        warmup,
        slow: options.slow,
        strict: options.strict,
    };
    let growing = Growing::find(&merged, tables, search, control)?;
    let groups = fold(&merged, &growing.things)?;
    let places = growing.shown(groups, page);
    let body = AnswerBody::Growth(Growth {
        dumps: dumps(tables),
        warmup: options.warmup,
        per_interval: growing.live_growth(&tables[warmup..], &[]),
        total: places.0,
        offset: options.offset,
        limit: options.limit,
        places: places.1,
        undecided: growing.undecided()?,
    });
    let mut warnings = growing.warnings(tables);
    let count = tables.len() - warmup;
    if count < FEW_DUMPS {
        let count = count as u64;
        warnings.push(WarningText::from(
            &QuestionWarning::FewDumps { count }.into(),
        ));
    }
    Ok(Answer::new(body, is_partial(tables), warnings))
}
