//! Options as JavaScript passes them, checked before any work is done.

use napi_derive::napi;

use std::sync::Arc;

use base::control::Control;
use base::error::{Error, Result};
use base::tolerance::Tolerance;
use engine::Reading;
use engine::heap::Heap;
use engine::heap::views::{
    ComparisonSort, ConstructorSort, ConstructorView, RetainedColumns, Selection,
};
use engine::questions::QuestionError;

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
    /// That the input is raw memory, and the values of its globals.
    pub raw: Option<Vec<GlobalValueData>>,
    /// Of a coredump with several instances of the module, the number of the one to read.
    pub instance: Option<u32>,
    /// Which retained sizes rows have: `sum` (the default), `set` or `both`. Only for constructor views.
    pub retained: Option<String>,
    /// Bytes of memory that the process can still use.
    pub available_memory: Option<f64>,
}

/// The value of a global in raw memory.
#[napi(object)]
pub struct GlobalValueData {
    /// Its name or its index.
    pub name: String,
    /// As the dump has it.
    pub value: u32,
}

/// The values of globals as the engine takes them.
pub(super) fn raw_values(raw: Option<Vec<GlobalValueData>>) -> Option<Vec<(String, u32)>> {
    let values = raw?.into_iter();
    Some(values.map(|global| (global.name, global.value)).collect())
}

/// An order of rows that has a name in JavaScript.
pub(super) trait SortByName: Default {
    const EXPECTED: &'static str;
    fn named(name: &str) -> Option<Self>;
}

impl SortByName for ConstructorSort {
    const EXPECTED: &'static str = "\"retained\", \"shallow\", \"count\" or \"retained-set\"";

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "retained" => Self::Retained,
            "shallow" => Self::Shallow,
            "count" => Self::Count,
            "retained-set" => Self::RetainedSet,
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

/// The checked options.
#[derive(Clone, Debug, Default)]
pub(super) struct ViewRequest<S> {
    pub(super) selection: Selection<S>,
    pub(super) retained: RetainedColumns,
    pub(super) reading: Reading,
    pub(super) available_memory: Option<f64>,
}

pub(super) fn checked<S: SortByName>(options: Option<ViewOptions>) -> Result<ViewRequest<S>> {
    let Some(options) = options else {
        return Ok(ViewRequest::default());
    };
    let sort = match options.sort {
        None => S::default(),
        Some(name) => S::named(&name).ok_or(Error::from(QuestionError::InvalidOption {
            name: "sort",
            found: format!("{name:?}"),
            expected: S::EXPECTED,
        }))?,
    };
    Ok(ViewRequest {
        selection: Selection {
            sort,
            top: count("top", options.top, 1.0, "a whole number ≥ 1")?,
            instances: count("instances", options.instances, 0.0, "a whole number ≥ 0")?,
        },
        retained: match options.retained.as_deref() {
            Some("set") => RetainedColumns::Set,
            Some("both") => RetainedColumns::Both,
            _ => RetainedColumns::Sum,
        },
        reading: Reading {
            tolerance: Tolerance {
                mismatch: options.force.unwrap_or_default(),
                damage: options.partial.unwrap_or_default(),
            },
            raw: raw_values(options.raw),
            instance: options.instance,
            largest: None,
        },
        available_memory: options.available_memory,
    })
}

impl ViewRequest<ConstructorSort> {
    /// Groups the live objects of a heap.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(super) fn constructor_view(
        &self,
        heap: Arc<Heap>,
        control: &Control,
    ) -> base::Result<ConstructorView> {
        let Self {
            selection,
            retained,
            ..
        } = *self;
        let is_needed = selection.sort == ConstructorSort::RetainedSet;
        match (retained, is_needed) {
            (RetainedColumns::Sum, false) => ConstructorView::new(heap, selection, control),
            _ => ConstructorView::with_retained_sets(heap, selection, retained, control),
        }
    }
}

/// A whole number. Numbers beyond `usize` saturate, so everything is kept.
fn count(
    name: &'static str,
    value: Option<f64>,
    least: f64,
    expected: &'static str,
) -> Result<Option<usize>> {
    match value {
        Some(value) if !(value >= least && value.fract() == 0.0) => {
            Err(QuestionError::InvalidOption {
                name,
                found: value.to_string(),
                expected,
            }
            .into())
        }
        _ => Ok(value.map(|value| value as usize)),
    }
}
