//! Which part of a view is requested.

/// Which rows, in which order, and how many instances of each. Totals cover all rows and instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection<Sort> {
    /// The order of the rows.
    pub sort: Sort,
    /// Keep this many rows; all if `None`.
    pub top: Option<usize>,
    /// List this many instances of each row; all if `None`.
    pub instances: Option<usize>,
}

impl<Sort: Default> Selection<Sort> {
    /// All rows and instances, in this order.
    pub fn sorted(sort: Sort) -> Self {
        Self {
            sort,
            ..Self::default()
        }
    }

    /// The same, but only the first `rows`.
    pub fn top(self, rows: usize) -> Self {
        Self {
            top: Some(rows),
            ..self
        }
    }

    /// The same, but of each row only the first `instances`.
    pub fn instances(self, instances: usize) -> Self {
        Self {
            instances: Some(instances),
            ..self
        }
    }
}
