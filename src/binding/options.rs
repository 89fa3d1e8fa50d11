//! Options as JavaScript passes them, checked before any work is done.

use napi_derive::napi;

use crate::error::{Error, Result};
use crate::tolerance::Tolerance;
use crate::views::{ComparisonSort, ConstructorSort, Selection};

/// `AnalyzeOptions` and `DiffOptions` of the public API.
#[napi(object)]
pub struct ViewOptions {
    /// The name of an order.
    pub sort: Option<String>,
    /// How many rows to keep.
    pub top: Option<f64>,
    /// How many instances to list of each row.
    pub instances: Option<f64>,
    /// Continue although the dump was not taken from the module.
    pub force: Option<bool>,
    /// If the heap is damaged, report the part before the damage.
    pub partial: Option<bool>,
    /// Bytes of memory that the process can still use.
    pub available_memory: Option<f64>,
}

/// An order of rows that has a name in JavaScript.
pub(super) trait SortByName: Default {
    const EXPECTED: &'static str;
    fn named(name: &str) -> Option<Self>;
}

impl SortByName for ConstructorSort {
    const EXPECTED: &'static str = "\"retained\", \"shallow\" or \"count\"";

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "retained" => Self::Retained,
            "shallow" => Self::Shallow,
            "count" => Self::Count,
            _ => return None,
        })
    }
}

impl SortByName for ComparisonSort {
    const EXPECTED: &'static str = "\"delta\", \"alloc\", \"freed\" or \"count\"";

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "delta" => Self::Delta,
            "alloc" => Self::Alloc,
            "freed" => Self::Freed,
            "count" => Self::Count,
            _ => return None,
        })
    }
}

/// What the options ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request<S> {
    pub(super) selection: Selection<S>,
    pub(super) tolerance: Tolerance,
    pub(super) available_memory: Option<f64>,
}

/// Checks the options.
pub(super) fn checked<S: SortByName>(options: Option<ViewOptions>) -> Result<Request<S>> {
    let Some(options) = options else {
        return Ok(Request::default());
    };
    let sort = match options.sort {
        None => S::default(),
        Some(name) => S::named(&name).ok_or(Error::InvalidOption {
            name: "sort",
            found: format!("{name:?}"),
            expected: S::EXPECTED,
        })?,
    };
    Ok(Request {
        selection: Selection {
            sort,
            top: count("top", options.top, 1.0, "a whole number ≥ 1")?,
            instances: count("instances", options.instances, 0.0, "a whole number ≥ 0")?,
        },
        tolerance: Tolerance {
            mismatch: options.force.unwrap_or_default(),
            damage: options.partial.unwrap_or_default(),
        },
        available_memory: options.available_memory,
    })
}

/// A whole number. Numbers beyond `usize` saturate, so everything is kept.
fn count(
    name: &'static str,
    value: Option<f64>,
    least: f64,
    expected: &'static str,
) -> Result<Option<usize>> {
    match value {
        Some(value) if !(value >= least && value.fract() == 0.0) => Err(Error::InvalidOption {
            name,
            found: value.to_string(),
            expected,
        }),
        _ => Ok(value.map(|value| value as usize)),
    }
}
