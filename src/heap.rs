//! The handle of a loaded heap for JavaScript. A heap is opened once and answers any number of questions.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::de::DeserializeOwned;

use super::analysis::{WorkControl, borrowed, is_snapshot, read_program};
use super::error::{JsError, Result};
use super::export::{ExportHandle, Request as ExportRequest};
use super::inputs::{NamedPath, Pending, SourceInput, open_all};
use super::options::{Request, ViewOptions, checked};
use super::tasks::Outcome;
use super::views::{TableData, ViewHandle, WarningData};
use base::Input;
use base::control::Control;
use base::tolerance::Tolerance;
use engine::heap::views::{ComparisonSort, ConstructorSort};
use engine::outputs::exports::Export;
use engine::outputs::formats::{TableOptions, accounting_json, render_json, render_text};
use engine::questions::{Answer, LoadedHeap, Question};
use workers::guard::guarded;
use workers::threads::run_on_own_thread;

/// A loaded heap that stays on the native side until it is closed.
#[napi(custom_finalize)]
pub struct HeapHandle {
    /// `None` after it was closed. Running work holds another reference.
    heap: Option<Arc<OpenHeap>>,
    /// The number of bytes that are registered with V8.
    registered_bytes: i64,
}

/// A heap, and the inputs from which it was opened.
pub(super) struct OpenHeap {
    loaded: LoadedHeap,
    /// The size of the copy of the caller's dump.
    kept_bytes: u64,
}

/// `OpenOptions` of the public API, as far as the addon needs them.
#[napi(object)]
pub struct OpenData {
    /// Continue although the dump was not taken from the module.
    pub force: Option<bool>,
    /// Report the part before the damage.
    pub partial: Option<bool>,
    /// Build all indexes at once.
    pub prepare: Option<bool>,
    /// The path that stands for standard input, if there is one.
    pub standard_input: Option<String>,
    /// Files that are open already.
    pub descriptors: Option<Descriptors>,
}

/// The open files that are read instead of what is at their paths now. Systems other than Unix read the paths.
#[napi(object)]
pub struct Descriptors {
    /// That of the dump.
    pub dump: i32,
    /// That of the module, if there is one.
    pub wasm: Option<i32>,
}

impl OpenData {
    /// For the dump and the module.
    fn descriptors(&self) -> [Option<i32>; 2] {
        let descriptors = self.descriptors.as_ref();
        [
            descriptors.map(|open| open.dump),
            descriptors.and_then(|open| open.wasm),
        ]
    }
}

#[derive(Clone, Copy)]
struct OpenRequest {
    tolerance: Tolerance,
    prepare: bool,
}

impl From<&OpenData> for OpenRequest {
    fn from(options: &OpenData) -> Self {
        Self {
            tolerance: Tolerance {
                mismatch: options.force.unwrap_or_default(),
                damage: options.partial.unwrap_or_default(),
            },
            prepare: options.prepare.unwrap_or_default(),
        }
    }
}

/// Opens a heap from bytes, of which it keeps a copy.
#[napi]
pub fn open_heap(
    env: Env,
    dump: &[u8],
    wasm: Option<&[u8]>,
    options: OpenData,
) -> Result<HeapHandle> {
    guarded(|| {
        let request = OpenRequest::from(&options);
        let heap = run_on_own_thread(|| {
            let inputs = [Some(("dump", dump)), wasm.map(|wasm| ("wasm", wasm))];
            opened(inputs.map(borrowed), request, &Control::default())
        })?;
        Ok(heap.registered(env))
    })
}

/// Opens a heap from files. Questions read the dump again.
#[napi]
pub fn open_heap_file(
    env: Env,
    dump: Either<String, Buffer>,
    wasm: Option<Either<String, Buffer>>,
    options: OpenData,
) -> Result<HeapHandle> {
    guarded(|| {
        let request = OpenRequest::from(&options);
        let [of_dump, of_wasm] = options.descriptors();
        let files = [
            Some(NamedPath::from(dump).with_descriptor(of_dump)),
            NamedPath::of(wasm).map(|path| path.with_descriptor(of_wasm)),
        ];
        let heap = run_on_own_thread(|| opened(open_all(&files)?, request, &Control::default()))?;
        Ok(heap.registered(env))
    })
}

/// As `openHeap`, as a task.
#[napi(ts_return_type = "Promise<HeapHandle>")]
pub fn open_heap_async<'env>(
    env: &'env Env,
    dump: &[u8],
    wasm: Option<&[u8]>,
    options: OpenData,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let request = OpenRequest::from(&options);
        let inputs = [
            Pending::copied("dump", dump)?,
            Pending::copied_if_given("wasm", wasm)?,
        ];
        control.start(env, inputs, move |inputs, control| {
            opened(inputs, request, control).map(Outcome::Heap)
        })
    })
}

/// As `openHeapFile`, as a task.
#[napi(ts_return_type = "Promise<HeapHandle>")]
pub fn open_heap_file_async<'env>(
    env: &'env Env,
    dump: Either<String, Buffer>,
    wasm: Option<Either<String, Buffer>>,
    options: OpenData,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let request = OpenRequest::from(&options);
        let standard_input = options.standard_input.as_deref();
        let inputs =
            [Some(dump), wasm].map(|path| Pending::file_or_standard_input(path, standard_input));
        let [dump, wasm] = inputs;
        let [of_dump, of_wasm] = options.descriptors();
        let inputs = [dump.with_descriptor(of_dump), wasm.with_descriptor(of_wasm)];
        control.start(env, inputs, move |inputs, control| {
            opened(inputs, request, control).map(Outcome::Heap)
        })
    })
}

fn opened(
    [dump, wasm]: [SourceInput<'_>; 2],
    request: OpenRequest,
    control: &Control,
) -> base::Result<HeapHandle> {
    let (loaded, kept_bytes) = match is_snapshot(&dump, &wasm)? {
        true => {
            let loaded = engine::open_snapshot(dump, control)?;
            if request.prepare {
                loaded.prepare(control)?;
            }
            (loaded, 0)
        }
        false => {
            let program = read_program(&wasm, &dump, control)?.tolerating(request.tolerance);
            let (bytes, contents, kept_bytes) = dump.bytes.kept()?;
            let input = Input {
                name: dump.name,
                bytes,
            };
            let loaded = match request.prepare {
                true => program.open_prepared(input, contents, control)?,
                false => program.open(input, contents, control)?,
            };
            (loaded, kept_bytes)
        }
    };
    Ok(HeapHandle {
        heap: Some(Arc::new(OpenHeap { loaded, kept_bytes })),
        registered_bytes: 0,
    })
}

impl HeapHandle {
    /// Registers what this handle holds with V8, whose collector counts it as pressure.
    pub(super) fn registered(mut self, env: Env) -> Self {
        self.register(env);
        self
    }

    pub(super) fn register(&mut self, env: Env) {
        let bytes = self.heap.as_ref().map_or(0, |heap| heap.memory_size()) as i64;
        // It fails only while the environment ends.
        let _ = env.adjust_external_memory(bytes - self.registered_bytes);
        self.registered_bytes = bytes;
    }

    pub(super) fn heap(&self) -> Result<Arc<OpenHeap>> {
        self.heap.clone().ok_or_else(|| {
            JsError::new(
                "ERR_HEAP_CLOSED",
                "the heap was closed: open it again, or call close() after the last question",
            )
        })
    }
}

impl OpenHeap {
    pub(super) fn loaded(&self) -> &LoadedHeap {
        &self.loaded
    }

    fn memory_size(&self) -> u64 {
        self.loaded.memory_size() + self.kept_bytes
    }

    fn ask(
        &self,
        question: &Question,
        before: Option<&Self>,
        text: Option<TableOptions>,
        control: &Control,
    ) -> base::Result<AnswerData> {
        if let (Question::Paths { new_since, .. }, Some(before)) = (question, before)
            && *new_since
        {
            before.check_same_module(self)?;
        }
        let before = before.map(|before| &before.loaded);
        let answer = engine::questions::ask(&self.loaded, question, before, control)?;
        Ok(AnswerData {
            text: rendered(&answer, text),
            warnings: answer.warnings.into_iter().map(Into::into).collect(),
        })
    }

    fn constructor_view(
        &self,
        request: &Request<ConstructorSort>,
        control: &Control,
    ) -> base::Result<ViewHandle> {
        let view = request.constructor_view(Arc::clone(self.loaded.heap()), control)?;
        Ok(ViewHandle::of_loaded_heap(view))
    }

    fn comparison_view(
        &self,
        before: &Self,
        request: Request<ComparisonSort>,
        control: &Control,
    ) -> base::Result<ViewHandle> {
        before.check_same_module(self)?;
        let view = self
            .loaded
            .compared_with(&before.loaded, request.selection, control)?;
        let warnings = engine::questions::warnings_beside(&self.loaded, &before.loaded).into_iter();
        let warnings = warnings.map(WarningData::from).collect();
        Ok(ViewHandle::of_loaded_heaps(view, warnings))
    }

    /// Refuses to compare addresses of two programs.
    fn check_same_module(&self, after: &Self) -> base::Result<()> {
        self.loaded.check_same_module(&after.loaded)
    }
}

/// A rendered answer and its warnings.
#[napi(object, object_from_js = false)]
pub struct AnswerData {
    /// JSON, or text without the warnings.
    pub text: String,
    /// The warnings.
    pub warnings: Vec<WarningData>,
}

/// Renders an answer: as text with these options; without options, as JSON.
pub(super) fn rendered(answer: &Answer, text: Option<TableOptions>) -> String {
    match text {
        Some(options) => render_text(answer, options),
        None => render_json(answer),
    }
}

pub(super) fn parsed<T: DeserializeOwned>(what: &str, json: &str) -> Result<T> {
    serde_json::from_str(json)
        .map_err(|error| JsError::new("ERR_INVALID_OPTION", format!("{what}: {error}")))
}

impl ObjectFinalize for HeapHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.registered_bytes)?;
        Ok(())
    }
}

#[napi]
impl HeapHandle {
    /// Answers a question, given as JSON. The answer is text if `text` has options for it, otherwise JSON.
    #[napi]
    pub fn ask(
        &mut self,
        env: Env,
        question: String,
        before: Option<ClassInstance<HeapHandle>>,
        text: Option<TableData>,
    ) -> Result<AnswerData> {
        guarded(|| {
            let heap = self.heap()?;
            let before = before.map(|before| before.heap()).transpose()?;
            let question: Question = parsed("the question", &question)?;
            let text = text.map(TableOptions::from);
            let answer = run_on_own_thread(|| {
                heap.ask(&question, before.as_deref(), text, &Control::default())
            });
            // Questions build indexes, which the heap keeps.
            self.register(env);
            Ok(answer?)
        })
    }

    /// As `ask`, as a task.
    #[napi(ts_return_type = "Promise<AnswerData>")]
    pub fn ask_async<'env>(
        &mut self,
        env: &'env Env,
        question: String,
        before: Option<ClassInstance<HeapHandle>>,
        text: Option<TableData>,
        control: &WorkControl,
    ) -> Result<Object<'env>> {
        guarded(|| {
            self.register(*env);
            let heap = self.heap()?;
            let before = before.map(|before| before.heap()).transpose()?;
            let question: Question = parsed("the question", &question)?;
            let text = text.map(TableOptions::from);
            control.start(env, [], move |[], control| {
                let answer = heap.ask(&question, before.as_deref(), text, control)?;
                Ok(Outcome::Answer(answer))
            })
        })
    }

    /// Builds the indexes of all questions.
    #[napi]
    pub fn prepare(&mut self, env: Env) -> Result<()> {
        guarded(|| {
            let heap = self.heap()?;
            let built = run_on_own_thread(|| heap.loaded.prepare(&Control::default()));
            self.register(env);
            Ok(built?)
        })
    }

    /// As `prepare`, as a task.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn prepare_async<'env>(
        &self,
        env: &'env Env,
        control: &WorkControl,
    ) -> Result<Object<'env>> {
        guarded(|| {
            let heap = self.heap()?;
            control.start(env, [], move |[], control| {
                heap.loaded.prepare(control)?;
                Ok(Outcome::Done)
            })
        })
    }

    /// The bytes of memory that the heap and its indexes take now. It registers them with V8.
    #[napi(getter)]
    pub fn memory_size(&mut self, env: Env) -> Result<f64> {
        guarded(|| {
            let heap = self.heap()?;
            self.register(env);
            Ok(heap.memory_size() as f64)
        })
    }

    /// An export in a format that is given as JSON, to be read piece by piece.
    #[napi]
    pub fn start_export(
        &self,
        request: String,
        before: Option<ClassInstance<HeapHandle>>,
    ) -> Result<ExportHandle> {
        guarded(|| {
            let (heap, mut export): (_, Export) = (self.heap()?, parsed("the export", &request)?);
            let before = before.map(|before| before.heap()).transpose()?;
            export.check_earlier_heap(before.is_some())?;
            export.check_module(heap.loaded())?;
            if let (Export::HeapDiff(options), Some(before)) = (&mut export, &before) {
                before.check_same_module(&heap)?;
                options.baseline = before.loaded.dump_name().to_owned();
                options.target = heap.loaded.dump_name().to_owned();
            }
            let request = ExportRequest {
                heap,
                before,
                export,
            };
            Ok(ExportHandle::new(request))
        })
    }

    /// The constructor view.
    #[napi]
    pub fn constructors(&self, env: Env, options: Option<ViewOptions>) -> Result<ViewHandle> {
        guarded(|| {
            let heap = self.heap()?;
            let request: Request<ConstructorSort> = checked(options)?;
            let view = run_on_own_thread(|| heap.constructor_view(&request, &Control::default()))?;
            Ok(view.registered(env))
        })
    }

    /// As `constructors`, as a task.
    #[napi(ts_return_type = "Promise<ViewHandle>")]
    pub fn constructors_async<'env>(
        &self,
        env: &'env Env,
        options: Option<ViewOptions>,
        control: &WorkControl,
    ) -> Result<Object<'env>> {
        guarded(|| {
            let heap = self.heap()?;
            let request: Request<ConstructorSort> = checked(options)?;
            control.start(env, [], move |[], control| {
                heap.constructor_view(&request, control).map(Outcome::View)
            })
        })
    }

    /// The comparison view with an earlier heap of the same module.
    #[napi]
    pub fn compare_with(
        &self,
        env: Env,
        before: ClassInstance<HeapHandle>,
        options: Option<ViewOptions>,
    ) -> Result<ViewHandle> {
        guarded(|| {
            let (before, after) = (before.heap()?, self.heap()?);
            let request: Request<ComparisonSort> = checked(options)?;
            let view =
                run_on_own_thread(|| after.comparison_view(&before, request, &Control::default()))?;
            Ok(view.registered(env))
        })
    }

    /// As `compareWith`, as a task.
    #[napi(ts_return_type = "Promise<ViewHandle>")]
    pub fn compare_with_async<'env>(
        &self,
        env: &'env Env,
        before: ClassInstance<HeapHandle>,
        options: Option<ViewOptions>,
        control: &WorkControl,
    ) -> Result<Object<'env>> {
        guarded(|| {
            let (before, after) = (before.heap()?, self.heap()?);
            let request: Request<ComparisonSort> = checked(options)?;
            control.start(env, [], move |[], control| {
                after
                    .comparison_view(&before, request, control)
                    .map(Outcome::View)
            })
        })
    }

    /// What every byte is used for, as JSON text; null for a snapshot.
    #[napi]
    pub fn accounting(&self) -> Result<Option<String>> {
        guarded(|| {
            let heap = self.heap()?;
            Ok(heap.loaded.heap().accounting.as_ref().map(accounting_json))
        })
    }

    /// The reasons why numbers may be wrong.
    #[napi]
    pub fn warnings(&self) -> Result<Vec<WarningData>> {
        guarded(|| {
            let heap = self.heap()?;
            Ok(heap.loaded.warnings().iter().map(Into::into).collect())
        })
    }

    /// Whether the heap is damaged and only the part before the damage was read.
    #[napi]
    pub fn is_partial(&self) -> Result<bool> {
        guarded(|| Ok(self.heap()?.loaded.heap().is_partial))
    }

    /// Releases the heap. Running work keeps it until it ends.
    #[napi]
    pub fn close(&mut self, env: Env) -> Result<()> {
        guarded(|| {
            self.heap = None;
            self.register(env);
            Ok(())
        })
    }
}
