//! Views by class, as the addon hands them over.

use base::control::Control;
use engine::heap::views::{ComparisonView, ConstructorView};
use engine::outputs::formats::{Document, accounting_json};
use engine::questions::{LoadedHeap, WarningText, warnings_beside};
use serde_json::{Value, json};

use crate::failure::{CallFailure, shown};
use crate::numbers::bytes_of;

/// A view of open heaps.
pub(crate) struct HeapView {
    kind: ViewKind,
    warnings: Vec<WarningText>,
}

enum ViewKind {
    One(ConstructorView),
    Two(ComparisonView),
}

impl HeapView {
    pub(crate) fn of_one(view: ConstructorView, heap: &LoadedHeap) -> Self {
        Self {
            kind: ViewKind::One(view),
            warnings: heap.warnings().iter().map(WarningText::from).collect(),
        }
    }

    pub(crate) fn of_two(view: ComparisonView, heap: &LoadedHeap, before: &LoadedHeap) -> Self {
        Self {
            kind: ViewKind::Two(view),
            warnings: warnings_beside(heap, before),
        }
    }

    fn document(&self) -> &dyn Document {
        match &self.kind {
            ViewKind::One(view) => view,
            ViewKind::Two(view) => view,
        }
    }

    /// Everything but the objects.
    pub(crate) fn facts(&self, number: u32) -> Value {
        let document = self.document();
        let totals = document.totals();
        let totals: Vec<_> = totals.iter().flat_map(|total| total.entries()).collect();
        let columns: Vec<_> = document.columns().iter().map(|column| column.key).collect();
        let rows = (0..document.row_count()).filter_map(|nth| document.row(nth));
        let rows: Vec<Value> = rows
            .map(|row| {
                json!({
                    "className": row.class_name,
                    "typeEvidence": row.type_evidence,
                    "numbers": row.numbers,
                })
            })
            .collect();
        json!({
            "view": number,
            "totals": totals,
            "columns": columns,
            "rows": rows,
            "warnings": self.warnings,
            "isPartial": document.is_partial(),
            "accounting": document.accounting().map(accounting_json),
        })
    }

    /// The objects of a row: [`bytes_of`].
    pub(crate) fn instances(&self, row: usize) -> Result<Vec<u8>, CallFailure> {
        let Some(instances) = self.document().instances(row)? else {
            return Ok(Vec::new());
        };
        let columns = instances.columns()?;
        let new_count = instances.new_count().unwrap_or(instances.len());
        Ok(bytes_of(&columns, new_count)?)
    }

    /// By row: what its objects retain as a set; null for a comparison.
    pub(crate) fn retained_sets(&self, control: &Control) -> Result<Vec<u8>, CallFailure> {
        match &self.kind {
            ViewKind::One(view) => shown(&view.retained_set_sizes(control)?),
            ViewKind::Two(_) => shown(&Value::Null),
        }
    }
}
