//! Views as JavaScript sees them: handles that give out rows at once and instances on demand.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use crate::formats::{Document, JsonStream, TableOptions, accounting_json, render_table};
use crate::heap::Heap;
use crate::views::{ComparisonView, ConstructorView};

/// A view that stays on the native side.
#[napi(custom_finalize)]
pub struct ViewHandle {
    view: View,
    external_bytes: i64,
}

enum View {
    Constructor(Arc<ConstructorView>),
    Comparison(Arc<ComparisonView>),
}

/// A row without its instances: the numbers are in the order of `columns()`.
#[napi(object)]
pub struct RowData {
    /// The class name.
    pub class_name: String,
    /// One number per column.
    pub numbers: Vec<i64>,
}

/// The instances of a row, as columns.
#[napi(object)]
pub struct InstanceData {
    /// Payload addresses.
    pub addresses: Uint32Array,
    /// Block sizes.
    pub shallow_sizes: Uint32Array,
    /// Retained sizes.
    pub retained_sizes: Uint32Array,
    /// In a comparison: how many of them are new; the others are deleted.
    pub new_count: Option<u32>,
}

/// A warning of the engine.
#[napi(object)]
pub struct WarningData {
    /// A stable name.
    pub code: String,
    /// The text.
    pub message: String,
}

/// How a table is drawn.
#[napi(object)]
pub struct TableData {
    /// The most columns of text; absent for as many as needed.
    pub width: Option<u32>,
    /// Whether to use terminal colours.
    pub color: bool,
}

impl ViewHandle {
    pub(super) fn constructor(view: ConstructorView) -> Self {
        let external_bytes = memory_of(view.heap());
        Self {
            view: View::Constructor(Arc::new(view)),
            external_bytes,
        }
    }

    pub(super) fn comparison(view: ComparisonView) -> Self {
        let external_bytes = memory_of(view.before()) + memory_of(view.after());
        Self {
            view: View::Comparison(Arc::new(view)),
            external_bytes,
        }
    }

    /// Tells the JavaScript collector what this handle really holds, so that it hurries.
    pub(super) fn registered(self, env: Env) -> Self {
        let _ = env.adjust_external_memory(self.external_bytes);
        self
    }

    fn document(&self) -> &dyn Document {
        match &self.view {
            View::Constructor(view) => view,
            View::Comparison(view) => view,
        }
    }

    fn heaps(&self) -> impl Iterator<Item = &Heap> {
        let (first, second) = match &self.view {
            View::Constructor(view) => (view.heap(), None),
            View::Comparison(view) => (view.before(), Some(view.after())),
        };
        [first].into_iter().chain(second)
    }
}

impl ObjectFinalize for ViewHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.external_bytes)?;
        Ok(())
    }
}

#[napi]
impl ViewHandle {
    /// The sizes of the whole, as `[key, number]` in the order of the public result.
    #[napi]
    pub fn totals(&self) -> Vec<(&'static str, i64)> {
        self.document()
            .totals()
            .iter()
            .flat_map(|total| total.entries())
            .collect()
    }

    /// The keys of a row's numbers.
    #[napi]
    pub fn columns(&self) -> Vec<&'static str> {
        self.document()
            .columns()
            .iter()
            .map(|column| column.key)
            .collect()
    }

    /// All rows, in order.
    #[napi]
    pub fn rows(&self) -> Vec<RowData> {
        let document = self.document();
        let rows = (0..document.row_count()).filter_map(|nth| document.row(nth));
        rows.map(|row| RowData {
            class_name: row.class_name.to_owned(),
            numbers: row.numbers,
        })
        .collect()
    }

    /// The instances behind a row, in order.
    #[napi(catch_unwind)]
    pub fn instances(&self, row: u32) -> Option<InstanceData> {
        let data = self.document().instances(row as usize)?;
        Some(InstanceData {
            addresses: data.instances.addresses.into(),
            shallow_sizes: data.instances.shallow_sizes.into(),
            retained_sizes: data.instances.retained_sizes.into(),
            new_count: data.new_count.map(|count| count as u32),
        })
    }

    /// What may make a number wrong.
    #[napi]
    pub fn warnings(&self) -> Vec<WarningData> {
        let warnings = self.heaps().flat_map(|heap| &heap.warnings);
        warnings
            .map(|warning| WarningData {
                code: warning.code().to_owned(),
                message: warning.to_string(),
            })
            .collect()
    }

    /// Whether a heap is damaged and only a part of it is in here.
    #[napi]
    pub fn is_partial(&self) -> bool {
        self.document().is_partial()
    }

    /// Where every byte is, as JSON text; null for a comparison.
    #[napi]
    pub fn accounting(&self) -> Option<String> {
        self.document().accounting().map(accounting_json)
    }

    /// The whole view as JSON text, in pieces.
    #[napi]
    pub fn json(&self, with_accounting: bool) -> TextPieces {
        TextPieces(match &self.view {
            View::Constructor(view) => pieces(view, with_accounting),
            View::Comparison(view) => pieces(view, with_accounting),
        })
    }

    /// The rows as a table.
    #[napi(catch_unwind)]
    pub fn table(&self, options: TableData) -> String {
        let options = TableOptions {
            width: options.width.map(|width| width as usize),
            color: options.color,
        };
        render_table(self.document(), options)
    }
}

/// Text that is made piece by piece.
#[napi]
pub struct TextPieces(Box<dyn Iterator<Item = Vec<u8>> + Send>);

#[napi]
impl TextPieces {
    /// The next piece in UTF-8, or null after the last.
    #[napi(catch_unwind)]
    pub fn next(&mut self) -> Result<Option<Buffer>> {
        Ok(self.0.next().map(Buffer::from))
    }
}

fn pieces<D: Document + Send + Sync + 'static>(
    view: &Arc<D>,
    with_accounting: bool,
) -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
    let stream = JsonStream::new(Arc::clone(view));
    Box::new(match with_accounting {
        true => stream.with_accounting(),
        false => stream,
    })
}

fn memory_of(heap: &Heap) -> i64 {
    heap.memory_size() as i64
}
