//! What the handle of a loaded heap does. A heap is opened once and answers any number of questions.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::calls::{Returned, call};
use super::error::Result;
use super::export::{ExportHandle, ExportRequest};
use super::heap_handle::HeapHandle;
use super::input_bytes::{NamedBytes, given, given_owned};
use super::inputs::InputArg;
use super::open_heap::{AnswerData, OpenHeap, parsed};
use super::options::{GlobalValueData, ViewOptions, ViewRequest, checked, host_roots, raw_values};
use super::outcome::Outcome;
use super::views::{TableData, TextForm, ViewHandle, WarningData};
use super::work_control::WorkControl;
use base::control::Control;
use base::tolerance::Tolerance;
use engine::heap::views::{ComparisonSort, ConstructorSort};
use engine::outputs::exports::{Export, sampled_blocks};
use engine::outputs::formats::accounting_json;
use engine::questions::Question;
use engine::{HostFiles, Reading};
use workers::guard::guarded;
use workers::threads::run_on_own_thread;

/// `OpenOptions` of the public API, as far as the addon needs them.
#[napi(object)]
pub struct OpenData {
    /// Continue although the dump was not taken from the module.
    pub force: Option<bool>,
    /// Report the part before the damage.
    pub partial: Option<bool>,
    /// Build all indexes at once.
    pub prepare: Option<bool>,
    /// That the input is raw memory, and the values of its globals.
    pub raw: Option<Vec<GlobalValueData>>,
    /// Of a coredump with several instances of the module, the number of the one to read.
    pub instance: Option<u32>,
    /// Pointers that the host held.
    pub host_roots: Option<Vec<GlobalValueData>>,
    /// A heap profile of the same moment that recorded every allocation.
    pub profile: Option<Buffer>,
    /// The most bytes that the contents of a compressed file and the memory of a coredump may have.
    pub largest: Option<f64>,
    /// With a host: fields that have an index into an array of JavaScript.
    pub slots: Option<Vec<String>>,
}

struct OpenRequest {
    reading: Reading,
    prepare: bool,
    slots: Vec<String>,
}

impl OpenRequest {
    fn new(options: OpenData) -> base::Result<Self> {
        let profile = options.profile.as_deref().map(sampled_blocks).transpose()?;
        Ok(Self {
            reading: Reading {
                tolerance: Tolerance {
                    mismatch: options.force.unwrap_or_default(),
                    damage: options.partial.unwrap_or_default(),
                },
                raw: raw_values(options.raw),
                instance: options.instance,
                host_roots: host_roots(options.host_roots),
                profile,
                largest: options.largest.map(|largest| largest as u64),
            },
            prepare: options.prepare.unwrap_or_default(),
            slots: options.slots.unwrap_or_default(),
        })
    }
}

/// Opens a heap. It keeps a copy of bytes, and reads a file again for questions.
#[napi(
    ts_generic_types = "C extends WorkControl | undefined = undefined",
    ts_args_type = "dump: Uint8Array | FileData, wasm: Uint8Array | FileData | undefined | null, options: OpenData, control?: C",
    ts_return_type = "C extends WorkControl ? Promise<HeapHandle> : HeapHandle"
)]
pub fn open_heap<'env>(
    env: &'env Env,
    dump: InputArg<'_>,
    wasm: Option<InputArg<'_>>,
    options: OpenData,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, HeapHandle>> {
    guarded(|| {
        let request = OpenRequest::new(options)?;
        let inputs = [("dump", Some(dump)), ("wasm", wasm)];
        call(env, inputs, control, move |inputs, control| {
            opened(inputs, &request, control)
        })
    })
}

/// Opens a heap together with that of its host: a heap snapshot, the numbers that it does not show, and who pinned what.
#[napi(
    ts_generic_types = "C extends WorkControl | undefined = undefined",
    ts_args_type = "dump: Uint8Array | FileData, wasm: Uint8Array | FileData, host: Uint8Array | FileData, numbers: Uint8Array | FileData | undefined | null, handles: Uint8Array | FileData | undefined | null, options: OpenData, control?: C",
    ts_return_type = "C extends WorkControl ? Promise<HeapHandle> : HeapHandle"
)]
#[allow(
    clippy::too_many_arguments,
    reason = "one for each file, and JavaScript passes them by position"
)]
pub fn open_joined<'env>(
    env: &'env Env,
    dump: InputArg<'_>,
    wasm: InputArg<'_>,
    host: InputArg<'_>,
    numbers: Option<InputArg<'_>>,
    handles: Option<InputArg<'_>>,
    options: OpenData,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, HeapHandle>> {
    guarded(|| {
        let request = OpenRequest::new(options)?;
        let inputs = [
            ("dump", Some(dump)),
            ("wasm", Some(wasm)),
            ("host", Some(host)),
            ("numbers", numbers),
            ("handles", handles),
        ];
        call(env, inputs, control, move |inputs, control| {
            opened_joined(inputs, &request, control)
        })
    })
}

fn opened_joined(
    [dump, wasm, host, numbers, handles]: [NamedBytes<'_>; 5],
    request: &OpenRequest,
    control: &Control,
) -> base::Result<HeapHandle> {
    let mut kept_bytes = 0;
    let files = HostFiles {
        snapshot: host,
        numbers: given_owned(numbers),
        handles: given_owned(handles),
        slots: request.slots.clone(),
    };
    let loaded = engine::open_joined(
        dump,
        given(&wasm),
        files,
        &request.reading,
        |bytes| {
            let (bytes, contents, size) = bytes.kept()?;
            kept_bytes = size;
            Ok((bytes, contents))
        },
        control,
    )?;
    if request.prepare {
        loaded.prepare(control)?;
    }
    Ok(HeapHandle::new(OpenHeap { loaded, kept_bytes }))
}

fn opened(
    [dump, wasm]: [NamedBytes<'_>; 2],
    request: &OpenRequest,
    control: &Control,
) -> base::Result<HeapHandle> {
    let mut kept_bytes = 0;
    let loaded = engine::open(
        dump,
        given(&wasm),
        &request.reading,
        request.prepare,
        |bytes| {
            let (bytes, contents, size) = bytes.kept()?;
            kept_bytes = size;
            Ok((bytes, contents))
        },
        control,
    )?;
    Ok(HeapHandle::new(OpenHeap { loaded, kept_bytes }))
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
            let text = text.map(TextForm::from);
            let answer = run_on_own_thread(|| {
                heap.ask(
                    &question,
                    before.as_deref(),
                    text.as_ref(),
                    &Control::default(),
                )
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
            let text = text.map(TextForm::from);
            control.start(env, [], move |[], control| {
                heap.ask(&question, before.as_deref(), text.as_ref(), control)
            })
        })
    }

    /// Builds the indexes of all questions.
    #[napi]
    pub fn prepare(&mut self, env: Env) -> Result<()> {
        guarded(|| {
            let heap = self.heap()?;
            let built = run_on_own_thread(|| heap.loaded().prepare(&Control::default()));
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
            control.start(env, [], move |[], control| heap.loaded().prepare(control))
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
                options.baseline = before.loaded().dump_name().to_owned();
                options.target = heap.loaded().dump_name().to_owned();
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
            let request: ViewRequest<ConstructorSort> = checked(options)?;
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
            let request: ViewRequest<ConstructorSort> = checked(options)?;
            control.start(env, [], move |[], control| {
                heap.constructor_view(&request, control)
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
            let request: ViewRequest<ComparisonSort> = checked(options)?;
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
            let request: ViewRequest<ComparisonSort> = checked(options)?;
            control.start(env, [], move |[], control| {
                after.comparison_view(&before, request, control)
            })
        })
    }

    /// What every byte is used for, as JSON text; null for a snapshot.
    #[napi]
    pub fn accounting(&self) -> Result<Option<String>> {
        guarded(|| {
            let heap = self.heap()?;
            Ok(heap
                .loaded()
                .heap()
                .accounting
                .as_ref()
                .map(accounting_json))
        })
    }

    /// The reasons why numbers may be wrong.
    #[napi]
    pub fn warnings(&self) -> Result<Vec<WarningData>> {
        guarded(|| {
            let heap = self.heap()?;
            Ok(heap.loaded().warnings().iter().map(Into::into).collect())
        })
    }

    /// Whether the heap is damaged and only the part before the damage was read.
    #[napi]
    pub fn is_partial(&self) -> Result<bool> {
        guarded(|| Ok(self.heap()?.loaded().heap().is_partial))
    }

    /// Releases the heap. Running work keeps it until it ends.
    #[napi]
    pub fn close(&mut self, env: Env) -> Result<()> {
        guarded(|| {
            self.release(env);
            Ok(())
        })
    }
}
