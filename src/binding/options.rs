//! Options as JavaScript passes them, checked before any work is done.

use napi_derive::napi;

use crate::error::{Error, Result};
use crate::tolerance::Tolerance;
use crate::views::{ComparisonSort, ConstructorSort};

/// `AnalyzeOptions` and `DiffOptions` of the public API.
#[napi(object)]
pub struct ViewOptions {
    /// The name of an order.
    pub sort: Option<String>,
    /// How many rows to keep.
    pub top: Option<f64>,
    /// Go on although dump and module do not belong together.
    pub force: Option<bool>,
    /// Report what lies before damage.
    pub partial: Option<bool>,
}

/// An order of rows that JavaScript knows by name.
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
    pub(super) sort: S,
    pub(super) top: Option<usize>,
    pub(super) tolerance: Tolerance,
}

/// Checks the options.
pub(super) fn checked<S: SortByName>(options: Option<ViewOptions>) -> Result<Request<S>> {
    let Some(options) = options else {
        return Ok(Request::default());
    };
    let ViewOptions { sort, top, .. } = options;
    let sort = match sort {
        None => S::default(),
        Some(name) => S::named(&name).ok_or(Error::InvalidOption {
            name: "sort",
            found: format!("{name:?}"),
            expected: S::EXPECTED,
        })?,
    };
    if let Some(top) = top
        && !(top >= 1.0 && top.fract() == 0.0)
    {
        return Err(Error::InvalidOption {
            name: "top",
            found: top.to_string(),
            expected: "a whole number ≥ 1",
        });
    }
    // Numbers beyond usize saturate: they keep every row.
    Ok(Request {
        sort,
        top: top.map(|top| top as usize),
        tolerance: Tolerance {
            mismatch: options.force.unwrap_or_default(),
            damage: options.partial.unwrap_or_default(),
        },
    })
}
