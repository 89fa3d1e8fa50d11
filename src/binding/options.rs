//! Options as JavaScript passes them, checked before any work is done.

use napi_derive::napi;

use crate::error::{Error, Result};
use crate::views::{ComparisonSort, ConstructorSort};

/// `AnalyzeOptions` and `DiffOptions` of the public API.
#[napi(object)]
pub struct ViewOptions {
    /// The name of an order.
    pub sort: Option<String>,
    /// How many rows to keep.
    pub top: Option<f64>,
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

/// The order and the number of rows that the options ask for.
pub(super) fn checked<S: SortByName>(options: Option<ViewOptions>) -> Result<(S, Option<usize>)> {
    let Some(ViewOptions { sort, top }) = options else {
        return Ok((S::default(), None));
    };
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
    Ok((sort, top.map(|top| top as usize)))
}
