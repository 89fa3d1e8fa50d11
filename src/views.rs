//! Views for JavaScript: handles that return rows at once, and instances on demand.

use std::io::{self, Read};
use std::sync::Arc;

use napi::bindgen_prelude::{BufferSlice, Either, Env, Float64Array, ObjectFinalize, Uint32Array};
use napi_derive::napi;

use super::error::{JsError, Result};
use super::outcome::Outcome;
use base::control::Control;
use base::error::Error;
use base::warning::Warning;
use engine::heap::views::{ComparisonView, ConstructorView, NumberColumn};
use engine::outputs::formats::{
    Document, JsonStream, NextCommand, TableOptions, accounting_json, render_table,
    render_text_with_next,
};
use engine::questions::{Answer, ClassParts, SizeParts, WarningText};
use workers::guard::guarded;
use workers::threads::run_on_own_thread;

/// A view that stays on the native side until it is closed.
#[napi(custom_finalize)]
pub struct ViewHandle {
    view: Option<View>,
    /// Whether the view owns the memory of the heaps. A view of a loaded heap does not.
    owns_heaps: bool,
    /// Of a comparison of loaded heaps: their warnings, which name the dumps.
    warnings: Option<Vec<WarningData>>,
    /// Of heaps that were joined: the sizes by heap.
    parts: Option<ViewPartsData>,
    /// The number of bytes that are registered with V8.
    registered_bytes: i64,
}

enum View {
    Constructor(Arc<ConstructorView>),
    Comparison(Arc<ComparisonView>),
}

/// A row without its instances: the numbers are in the order of `columns()`.
#[napi(object)]
pub struct RowData {
    /// In full, such as `assembly/game/Player`.
    pub class_name: String,
    /// How the type of the class was found, where that differs.
    pub type_evidence: Option<String>,
    /// One number per column.
    pub numbers: Vec<i64>,
}

/// Bytes of two heaps that were joined.
#[napi(object, object_from_js = false)]
#[derive(Clone)]
pub struct SizePartsData {
    /// Of objects of JavaScript.
    pub javascript: i64,
    /// Of objects in the memory of WebAssembly.
    pub wasm: i64,
}

impl From<SizeParts> for SizePartsData {
    fn from(SizeParts { javascript, wasm }: SizeParts) -> Self {
        Self {
            javascript: javascript as i64,
            wasm: wasm as i64,
        }
    }
}

/// The sizes of a row by heap.
#[napi(object, object_from_js = false)]
#[derive(Clone)]
pub struct RowPartsData {
    /// The sum of the shallow sizes.
    pub total_shallow_parts: SizePartsData,
    /// The sum of the retained sizes.
    pub total_retained_parts: SizePartsData,
    /// What the objects retain as a set.
    pub retained_set_parts: SizePartsData,
}

impl From<ClassParts> for RowPartsData {
    fn from(parts: ClassParts) -> Self {
        Self {
            total_shallow_parts: parts.shallow.into(),
            total_retained_parts: parts.retained.into(),
            retained_set_parts: parts.retained_set.into(),
        }
    }
}

/// The sizes of a view by heap.
#[napi(object, object_from_js = false)]
#[derive(Clone)]
pub struct ViewPartsData {
    /// Of all live objects.
    pub total_live_parts: SizePartsData,
    /// By row.
    pub rows: Vec<RowPartsData>,
}

/// The instances of a row, as columns.
#[napi(object)]
pub struct InstanceData {
    /// Payload addresses.
    pub addresses: Either<Uint32Array, Float64Array>,
    /// Block sizes.
    pub shallow_sizes: Either<Uint32Array, Float64Array>,
    /// Retained sizes.
    pub retained_sizes: Either<Uint32Array, Float64Array>,
    /// In a comparison: how many of them are new; the others are deleted.
    pub new_count: Option<u32>,
}

/// A warning of the engine.
#[napi(object)]
#[derive(Clone)]
pub struct WarningData {
    /// A stable name.
    pub code: String,
    /// The text.
    pub message: String,
}

impl From<WarningText> for WarningData {
    fn from(warning: WarningText) -> Self {
        Self {
            code: warning.code.into_owned(),
            message: warning.message,
        }
    }
}

impl From<TableData> for TableOptions {
    fn from(options: TableData) -> Self {
        Self {
            width: options.width.map(|width| width as usize),
            color: options.color,
            ascii_minus: !options.is_terminal,
        }
    }
}

impl From<&Warning> for WarningData {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code().to_owned(),
            message: warning.to_string(),
        }
    }
}

/// The optional parts of the JSON.
#[napi(object)]
pub struct JsonData {
    /// What every byte of the heap is used for.
    pub with_accounting: bool,
    /// Whether the view is partial, and the warnings.
    pub with_warnings: bool,
}

/// Options of a table.
#[napi(object)]
pub struct TableData {
    /// The largest number of columns of text; absent for no limit.
    pub width: Option<u32>,
    /// Whether to use terminal colours.
    pub color: bool,
    /// Whether the text is for a terminal, and not for a file or another program.
    pub is_terminal: bool,
    /// What to run next, for each suspect and each growing place; absent to say nothing.
    pub next: Option<NextCommandData>,
}

/// The beginnings of commands that continue an answer.
#[napi(object)]
pub struct NextCommandData {
    /// A command about one object: its address follows.
    pub of_object: String,
    /// A command about a class: its name follows.
    pub of_class: String,
    /// A command that lists the objects of a place: its fingerprint follows.
    pub of_place: String,
    /// A command about a class in the heaps of program and host: its name follows.
    pub of_pinned: Option<String>,
}

/// How an answer becomes text.
pub(super) struct TextForm {
    options: TableOptions,
    next: Option<NextCommand>,
}

impl TextForm {
    pub(super) fn text(&self, answer: &Answer) -> String {
        render_text_with_next(answer, self.options, self.next.as_ref())
    }
}

impl From<TableData> for TextForm {
    fn from(mut data: TableData) -> Self {
        let next = data.next.take().map(|next| NextCommand {
            of_object: next.of_object,
            of_class: next.of_class,
            of_place: next.of_place,
            of_pinned: next.of_pinned,
        });
        Self {
            options: data.into(),
            next,
        }
    }
}

impl View {
    fn memory_size(&self, with_heaps: bool) -> u64 {
        let (own, heaps) = match self {
            Self::Constructor(view) => (view.memory_size(), view.heap().memory_size()),
            Self::Comparison(view) => (
                view.memory_size(),
                view.before().memory_size() + view.after().memory_size(),
            ),
        };
        if with_heaps { own + heaps } else { own }
    }
}

impl ViewHandle {
    /// A view of a heap that is not used otherwise: the parts that the view does not read are released.
    pub(super) fn constructor(mut view: ConstructorView) -> Self {
        view.release_unread();
        Self::new(View::Constructor(Arc::new(view)), true)
    }

    /// A comparison of heaps that are not used otherwise: the parts that it does not read are released.
    pub(super) fn comparison(mut view: ComparisonView) -> Self {
        view.release_unread();
        Self::new(View::Comparison(Arc::new(view)), true)
    }

    /// A view of a heap that stays loaded.
    pub(super) fn of_loaded_heap(
        view: ConstructorView,
        warnings: Vec<WarningData>,
        parts: Option<ViewPartsData>,
    ) -> Self {
        Self {
            warnings: Some(warnings),
            parts,
            ..Self::new(View::Constructor(Arc::new(view)), false)
        }
    }

    /// A comparison of heaps that stay loaded, with their warnings.
    pub(super) fn of_loaded_heaps(view: ComparisonView, warnings: Vec<WarningData>) -> Self {
        Self {
            warnings: Some(warnings),
            ..Self::new(View::Comparison(Arc::new(view)), false)
        }
    }

    fn new(view: View, owns_heaps: bool) -> Self {
        Self {
            view: Some(view),
            owns_heaps,
            warnings: None,
            parts: None,
            registered_bytes: 0,
        }
    }

    fn register(&mut self, env: Env) {
        let view = self.view.as_ref();
        let bytes = view.map_or(0, |view| view.memory_size(self.owns_heaps)) as i64;
        // It fails only while the environment ends.
        let _ = env.adjust_external_memory(bytes - self.registered_bytes);
        self.registered_bytes = bytes;
    }

    fn document(&self) -> Result<Arc<dyn Document + Send + Sync>> {
        match &self.view {
            Some(View::Constructor(view)) => Ok(Arc::clone(view) as _),
            Some(View::Comparison(view)) => Ok(Arc::clone(view) as _),
            None => Err(JsError::new(
                "ERR_VIEW_CLOSED",
                "the view was closed, and these instances were not read before: read them before close()",
            )),
        }
    }
}

impl Outcome for ViewHandle {
    /// Registers what this handle holds with V8, whose collector counts it as pressure.
    fn registered(mut self, env: Env) -> Self {
        self.register(env);
        self
    }
}

impl ObjectFinalize for ViewHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.registered_bytes)?;
        Ok(())
    }
}

#[napi]
impl ViewHandle {
    /// The totals, as `[key, number]` in the order of the public result.
    #[napi]
    pub fn totals(&self) -> Result<Vec<(&'static str, i64)>> {
        guarded(|| {
            let totals = self.document()?.totals();
            Ok(totals.iter().flat_map(|total| total.entries()).collect())
        })
    }

    /// The keys of a row's numbers.
    #[napi]
    pub fn columns(&self) -> Result<Vec<&'static str>> {
        guarded(|| {
            let columns = self.document()?.columns().iter();
            Ok(columns.map(|column| column.key).collect())
        })
    }

    /// All rows, in order.
    #[napi]
    pub fn rows(&self) -> Result<Vec<RowData>> {
        guarded(|| {
            let document = self.document()?;
            let rows = (0..document.row_count()).filter_map(|nth| document.row(nth));
            Ok(rows
                .map(|row| RowData {
                    class_name: row.class_name.to_owned(),
                    type_evidence: row.type_evidence.map(str::to_owned),
                    numbers: row.numbers,
                })
                .collect())
        })
    }

    /// The instances of a row, in order.
    #[napi]
    pub fn instances(&mut self, env: Env, row: u32) -> Result<Option<InstanceData>> {
        guarded(|| {
            let instances = self.document()?.instances(row as usize)?;
            // The first call looks up the objects of all rows.
            self.register(env);
            let Some(instances) = instances else {
                return Ok(None);
            };
            let columns = instances.columns()?;
            Ok(Some(InstanceData {
                addresses: number_array(columns.addresses),
                shallow_sizes: number_array(columns.shallow_sizes),
                retained_sizes: number_array(columns.retained_sizes),
                new_count: instances.new_count().map(|count| count as u32),
            }))
        })
    }

    /// The warnings of all heaps of the view.
    #[napi]
    pub fn warnings(&self) -> Result<Vec<WarningData>> {
        guarded(|| {
            if let Some(warnings) = &self.warnings {
                return Ok(warnings.clone());
            }
            let document = self.document()?;
            let warnings = document.warnings().into_iter();
            Ok(warnings.map(WarningData::from).collect())
        })
    }

    /// Whether a heap is damaged and the view covers only a part of it.
    #[napi]
    pub fn is_partial(&self) -> Result<bool> {
        guarded(|| Ok(self.document()?.is_partial()))
    }

    /// What every byte is used for, as JSON text; null for a comparison.
    #[napi]
    pub fn accounting(&self) -> Result<Option<String>> {
        guarded(|| Ok(self.document()?.accounting().map(accounting_json)))
    }

    /// The whole view as JSON text.
    #[napi]
    pub fn json(&self, options: JsonData) -> Result<JsonText> {
        guarded(|| {
            let mut stream = JsonStream::new(self.document()?);
            if options.with_accounting {
                stream = stream.with_accounting();
            }
            if options.with_warnings {
                stream = stream.with_warnings();
            }
            Ok(JsonText(stream))
        })
    }

    /// Per row: the retained size of its objects as a set; null for a view whose graph was released.
    #[napi]
    pub fn retained_set_sizes(&self) -> Result<Option<Vec<i64>>> {
        guarded(|| {
            self.document()?;
            let view = match &self.view {
                Some(View::Constructor(view)) if !self.owns_heaps => view,
                _ => return Ok(None),
            };
            let sizes = run_on_own_thread(|| view.retained_set_sizes(&Control::default()))?;
            Ok(Some(sizes.into_iter().map(|size| size as i64).collect()))
        })
    }

    /// Of heaps that were joined: the sizes by heap; null for one heap.
    #[napi]
    pub fn parts(&self) -> Option<ViewPartsData> {
        self.parts.clone()
    }

    /// Releases the memory of this handle. Instances cannot be read any more.
    #[napi]
    pub fn close(&mut self, env: Env) -> Result<()> {
        guarded(|| {
            self.view = None;
            self.register(env);
            Ok(())
        })
    }

    /// The rows as a table.
    #[napi]
    pub fn table(&self, options: TableData) -> Result<String> {
        guarded(|| Ok(render_table(&*self.document()?, options.into())))
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
                    // The next call tries again.
                    Err(_) if buffer.len() < room => break,
                    Err(error) => return Err(engine_error(error).into()),
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

/// JavaScript's numbers hold whole sizes up to 8 PiB.
fn number_array(sizes: NumberColumn) -> Either<Uint32Array, Float64Array> {
    match sizes {
        NumberColumn::Narrow(sizes) => Either::A(sizes.into()),
        NumberColumn::Wide(sizes) => Either::B(
            sizes
                .into_iter()
                .map(|size| size as f64)
                .collect::<Vec<_>>()
                .into(),
        ),
    }
}

/// The engine's error inside an error of reading.
fn engine_error(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(|error| Error::Internal {
        message: error.to_string().into(),
    })
}
