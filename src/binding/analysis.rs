//! The operations: each analyzes on the calling thread, or as a task on another one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::inputs::Source;
use super::options::{Request, ViewOptions, checked};
use super::views::ViewHandle;
use crate::control::{Control, Phase};
use crate::error::Error as EngineError;
use crate::program::{Input, Program, Schedule};
use crate::views::{ComparisonSort, ComparisonView, ConstructorSort, ConstructorView};

/// A handle on running work.
#[napi]
#[derive(Default)]
pub struct WorkControl(Control);

/// How far the work is.
#[napi(object, object_from_js = false)]
pub struct ProgressData {
    /// The name of the phase that began last.
    pub phase: &'static str,
    /// From 0 to 1.
    pub fraction: f64,
    /// The size of all dumps.
    pub bytes: f64,
}

#[napi]
impl WorkControl {
    /// A handle on no work yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the work that was started with this handle stop soon.
    #[napi]
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// How far it is.
    #[napi]
    pub fn progress(&self) -> ProgressData {
        let progress = self.0.progress();
        ProgressData {
            phase: progress.phase.name(),
            fraction: progress.fraction,
            bytes: progress.bytes as f64,
        }
    }
}

/// The constructor view of bytes in the caller's memory.
#[napi]
pub fn analyze(
    env: Env,
    dump: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    let request = checked(options)?;
    let inputs = || {
        Ok([
            named("dump", Source::Borrowed(dump)),
            named("wasm", Source::Borrowed(wasm)),
        ])
    };
    Ok(guarded(|| constructor_view(inputs, request, &Control::default()))?.registered(env))
}

/// The constructor view of two files.
#[napi]
pub fn analyze_file(
    env: Env,
    dump: String,
    wasm: String,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    let request = checked(options)?;
    let inputs = || Ok([opened(&dump)?, opened(&wasm)?]);
    Ok(guarded(|| constructor_view(inputs, request, &Control::default()))?.registered(env))
}

/// As `analyze`, on a copy of the bytes and another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn analyze_async(
    dump: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    let copies = [dump, wasm].map(|bytes| Source::Copied(bytes.to_vec()));
    Ok(ViewTask::start(control, move |control| {
        let [dump, wasm] = copies;
        let inputs = || Ok([named("dump", dump), named("wasm", wasm)]);
        constructor_view(inputs, request, control)
    }))
}

/// As `analyzeFile`, on another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn analyze_file_async(
    dump: String,
    wasm: String,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    Ok(ViewTask::start(control, move |control| {
        let inputs = || Ok([opened(&dump)?, opened(&wasm)?]);
        constructor_view(inputs, request, control)
    }))
}

/// The comparison view of bytes in the caller's memory.
#[napi]
pub fn diff(
    env: Env,
    before: &[u8],
    after: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    let request = checked(options)?;
    let inputs = || {
        Ok([
            named("before", Source::Borrowed(before)),
            named("after", Source::Borrowed(after)),
            named("wasm", Source::Borrowed(wasm)),
        ])
    };
    Ok(guarded(|| comparison_view(inputs, request, &Control::default()))?.registered(env))
}

/// The comparison view of three files.
#[napi]
pub fn diff_file(
    env: Env,
    before: String,
    after: String,
    wasm: String,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    let request = checked(options)?;
    let inputs = || Ok([opened(&before)?, opened(&after)?, opened(&wasm)?]);
    Ok(guarded(|| comparison_view(inputs, request, &Control::default()))?.registered(env))
}

/// As `diff`, on a copy of the bytes and another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn diff_async(
    before: &[u8],
    after: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    let copies = [before, after, wasm].map(|bytes| Source::Copied(bytes.to_vec()));
    Ok(ViewTask::start(control, move |control| {
        let [before, after, wasm] = copies;
        let inputs = || {
            Ok([
                named("before", before),
                named("after", after),
                named("wasm", wasm),
            ])
        };
        comparison_view(inputs, request, control)
    }))
}

/// As `diffFile`, on another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn diff_file_async(
    before: String,
    after: String,
    wasm: String,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    Ok(ViewTask::start(control, move |control| {
        let inputs = || Ok([opened(&before)?, opened(&after)?, opened(&wasm)?]);
        comparison_view(inputs, request, control)
    }))
}

type SourceInput<'a> = Input<'a, Source<'a>>;

fn named<'a>(name: &'a str, bytes: Source<'a>) -> SourceInput<'a> {
    Input { name, bytes }
}

fn opened(path: &str) -> crate::Result<SourceInput<'_>> {
    Ok(named(path, Source::open(path)?))
}

/// What both views begin with.
fn read_program<'a>(wasm: &'a SourceInput<'_>, control: &Control) -> crate::Result<Program<'a>> {
    let _step = control.begin(Phase::Module, 1);
    let wasm = Input {
        name: wasm.name,
        bytes: wasm.bytes.as_ref(),
    };
    Program::read(wasm, control)
}

fn constructor_view<'a>(
    inputs: impl FnOnce() -> crate::Result<[SourceInput<'a>; 2]>,
    request: Request<ConstructorSort>,
    control: &Control,
) -> crate::Result<ViewHandle> {
    let [dump, wasm] = inputs()?;
    let program = read_program(&wasm, control)?.tolerating(request.tolerance);
    let heap = program.analyze(dump, control)?;
    let _step = control.begin(Phase::View, 1);
    Ok(ViewHandle::constructor(ConstructorView::new(
        Arc::new(heap),
        request.selection,
    )))
}

fn comparison_view<'a>(
    inputs: impl FnOnce() -> crate::Result<[SourceInput<'a>; 3]>,
    request: Request<ComparisonSort>,
    control: &Control,
) -> crate::Result<ViewHandle> {
    let [before, after, wasm] = inputs()?;
    let program = read_program(&wasm, control)?.tolerating(request.tolerance);
    let schedule = schedule(&before, &after, request.available_memory);
    let (before, after) = program.analyze_both(before, after, schedule, control)?;
    let (before, after) = (Arc::new(before), Arc::new(after));
    let view = ComparisonView::new(before, after, request.selection, control)?;
    Ok(ViewHandle::comparison(view))
}

/// Whether there is enough memory to analyze two dumps at the same time: each takes up to about one
/// and a half times its size.
fn schedule(before: &SourceInput, after: &SourceInput, available: Option<f64>) -> Schedule {
    let bytes = before.bytes.as_ref().len() + after.bytes.as_ref().len();
    match available {
        Some(available) if available < bytes as f64 * 1.5 => Schedule::OneByOne,
        _ => Schedule::SideBySide,
    }
}

/// Runs engine work in the engine's own thread pool. A panic becomes an error.
fn guarded<T: Send>(work: impl FnOnce() -> crate::Result<T> + Send) -> crate::Result<T> {
    static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let builder = rayon::ThreadPoolBuilder::new();
        builder
            .thread_name(|nth| format!("heap-analyzer-{nth}"))
            .build()
            .ok()
    });
    let run = AssertUnwindSafe(|| match pool {
        Some(pool) => pool.install(work),
        None => work(),
    });
    catch_unwind(run).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned());
        Err(EngineError::Internal { message })
    })
}

/// Work for another thread that ends in a view.
type Work = dyn FnOnce(&Control) -> crate::Result<ViewHandle> + Send;

/// A promise for a view.
pub struct ViewTask {
    work: Option<Box<Work>>,
    control: Control,
}

impl ViewTask {
    fn start(
        control: &WorkControl,
        work: impl FnOnce(&Control) -> crate::Result<ViewHandle> + Send + 'static,
    ) -> AsyncTask<Self> {
        AsyncTask::new(Self {
            work: Some(Box::new(work)),
            control: control.0.clone(),
        })
    }
}

impl Task for ViewTask {
    /// An error of the engine passes through here as a value: only `resolve`, which runs on the
    /// JavaScript thread, can make an error object that carries its code.
    type Output = crate::Result<ViewHandle>;
    type JsValue = ViewHandle;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let Some(work) = self.work.take() else {
            return Ok(Err(EngineError::Aborted));
        };
        Ok(guarded(|| work(&self.control)))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> napi::Result<ViewHandle> {
        match output {
            Ok(view) => Ok(view.registered(env)),
            Err(error) => {
                let error = super::error::JsError::from(error);
                Err(JsError::from(error).into_unknown(env).into())
            }
        }
    }
}
