//! Views for JavaScript: handles that return rows at once, and instances on demand.

use std::io::{self, Read};
use std::sync::Arc;

use napi::bindgen_prelude::{BufferSlice, Env, ObjectFinalize, Uint32Array};
use napi_derive::napi;

use super::error::Result;
use super::guard::guarded;
use crate::error::Error;
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

    fn document(&self) -> Arc<dyn Document + Send + Sync> {
        match &self.view {
            View::Constructor(view) => Arc::clone(view) as _,
            View::Comparison(view) => Arc::clone(view) as _,
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
    /// The totals, as `[key, number]` in the order of the public result.
    #[napi]
    pub fn totals(&self) -> Result<Vec<(&'static str, i64)>> {
        guarded(|| {
            let totals = self.document().totals();
            Ok(totals.iter().flat_map(|total| total.entries()).collect())
        })
    }

    /// The keys of a row's numbers.
    #[napi]
    pub fn columns(&self) -> Result<Vec<&'static str>> {
        guarded(|| {
            let columns = self.document().columns().iter();
            Ok(columns.map(|column| column.key).collect())
        })
    }

    /// All rows, in order.
    #[napi]
    pub fn rows(&self) -> Result<Vec<RowData>> {
        guarded(|| {
            let document = self.document();
            let rows = (0..document.row_count()).filter_map(|nth| document.row(nth));
            Ok(rows
                .map(|row| RowData {
                    class_name: row.class_name.to_owned(),
                    numbers: row.numbers,
                })
                .collect())
        })
    }

    /// The instances of a row, in order.
    #[napi]
    pub fn instances(&self, row: u32) -> Result<Option<InstanceData>> {
        guarded(|| {
            let Some(instances) = self.document().instances(row as usize)? else {
                return Ok(None);
            };
            let columns = instances.columns()?;
            Ok(Some(InstanceData {
                addresses: columns.addresses.into(),
                shallow_sizes: columns.shallow_sizes.into(),
                retained_sizes: columns.retained_sizes.into(),
                new_count: instances.new_count().map(|count| count as u32),
            }))
        })
    }

    /// The warnings of all heaps of the view.
    #[napi]
    pub fn warnings(&self) -> Result<Vec<WarningData>> {
        guarded(|| {
            let warnings = self.heaps().flat_map(|heap| &heap.warnings);
            Ok(warnings
                .map(|warning| WarningData {
                    code: warning.code().to_owned(),
                    message: warning.to_string(),
                })
                .collect())
        })
    }

    /// Whether a heap is damaged and the view covers only a part of it.
    #[napi]
    pub fn is_partial(&self) -> Result<bool> {
        guarded(|| Ok(self.document().is_partial()))
    }

    /// What every byte is used for, as JSON text; null for a comparison.
    #[napi]
    pub fn accounting(&self) -> Result<Option<String>> {
        guarded(|| Ok(self.document().accounting().map(accounting_json)))
    }

    /// The whole view as JSON text.
    #[napi]
    pub fn json(&self, with_accounting: bool) -> Result<JsonText> {
        guarded(|| {
            let stream = JsonStream::new(self.document());
            Ok(JsonText(match with_accounting {
                true => stream.with_accounting(),
                false => stream,
            }))
        })
    }

    /// The rows as a table.
    #[napi]
    pub fn table(&self, options: TableData) -> Result<String> {
        guarded(|| {
            let options = TableOptions {
                width: options.width.map(|width| width as usize),
                color: options.color,
            };
            Ok(render_table(&*self.document(), options))
        })
    }
}

/// JSON text that is produced while it is read.
#[napi]
pub struct JsonText(JsonStream<Arc<dyn Document + Send + Sync>>);

#[napi]
impl JsonText {
    /// Fills a buffer with the next part of the text in UTF-8. Returns its number of bytes; 0 at the end.
    #[napi]
    pub fn read(&mut self, mut buffer: BufferSlice<'_>) -> Result<u32> {
        guarded(|| {
            let mut buffer: &mut [u8] = &mut buffer;
            let room = buffer.len();
            while !buffer.is_empty() {
                match self.0.read(buffer) {
                    Ok(0) => break,
                    Ok(length) => buffer = &mut buffer[length..],
                    // Tried again at the next call.
                    Err(_) if buffer.len() < room => break,
                    Err(error) => return Err(why(error).into()),
                }
            }
            Ok((room - buffer.len()) as u32)
        })
    }

    /// The part of the text that was read: from 0 to 1.
    #[napi]
    pub fn fraction(&self) -> Result<f64> {
        guarded(|| Ok(self.0.fraction()))
    }
}

/// The engine's error inside an error of reading.
fn why(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(|error| Error::Internal {
        message: error.to_string(),
    })
}

fn memory_of(heap: &Heap) -> i64 {
    heap.memory_size() as i64
}
