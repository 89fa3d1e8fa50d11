//! The operations: each analyzes on the calling thread, or as a task on another one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::inputs::Source;
use super::options::{Request, ViewOptions, checked};
use super::views::ViewHandle;
use crate::control::Control;
use crate::error::Error as EngineError;
use crate::program::{Input, Program};
use crate::views::{ComparisonSort, ComparisonView, ConstructorSort, ConstructorView};

/// A handle to stop running work with.
#[napi]
#[derive(Default)]
pub struct Canceller(Control);

#[napi]
impl Canceller {
    /// A handle that has stopped nothing yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the work that was started with this handle stop soon.
    #[napi]
    pub fn cancel(&self) {
        self.0.cancel();
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
    let inputs = [named("dump", dump), named("wasm", wasm)];
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
    let work = || {
        let (dump, wasm) = (Source::open(&dump)?, Source::open(&wasm)?);
        constructor_view([dump.input(), wasm.input()], request, &Control::default())
    };
    Ok(guarded(work)?.registered(env))
}

/// As `analyze`, on a copy of the bytes and another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn analyze_async(
    dump: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
    canceller: &Canceller,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    let (dump, wasm) = (Source::copied("dump", dump), Source::copied("wasm", wasm));
    Ok(ViewTask::start(canceller, move |control| {
        constructor_view([dump.input(), wasm.input()], request, control)
    }))
}

/// As `analyzeFile`, on another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn analyze_file_async(
    dump: String,
    wasm: String,
    options: Option<ViewOptions>,
    canceller: &Canceller,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    Ok(ViewTask::start(canceller, move |control| {
        let (dump, wasm) = (Source::open(&dump)?, Source::open(&wasm)?);
        constructor_view([dump.input(), wasm.input()], request, control)
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
    let inputs = [
        named("before", before),
        named("after", after),
        named("wasm", wasm),
    ];
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
    let work = || {
        let sources = [
            Source::open(&before)?,
            Source::open(&after)?,
            Source::open(&wasm)?,
        ];
        comparison_view(
            sources.each_ref().map(Source::input),
            request,
            &Control::default(),
        )
    };
    Ok(guarded(work)?.registered(env))
}

/// As `diff`, on a copy of the bytes and another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn diff_async(
    before: &[u8],
    after: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
    canceller: &Canceller,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    let sources = [
        Source::copied("before", before),
        Source::copied("after", after),
        Source::copied("wasm", wasm),
    ];
    Ok(ViewTask::start(canceller, move |control| {
        comparison_view(sources.each_ref().map(Source::input), request, control)
    }))
}

/// As `diffFile`, on another thread.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn diff_file_async(
    before: String,
    after: String,
    wasm: String,
    options: Option<ViewOptions>,
    canceller: &Canceller,
) -> Result<AsyncTask<ViewTask>> {
    let request = checked(options)?;
    Ok(ViewTask::start(canceller, move |control| {
        let sources = [
            Source::open(&before)?,
            Source::open(&after)?,
            Source::open(&wasm)?,
        ];
        comparison_view(sources.each_ref().map(Source::input), request, control)
    }))
}

fn named<'a>(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
    Input { name, bytes }
}

fn constructor_view(
    [dump, wasm]: [Input<'_>; 2],
    request: Request<ConstructorSort>,
    control: &Control,
) -> crate::Result<ViewHandle> {
    let program = Program::read(wasm)?.tolerating(request.tolerance);
    let heap = program.analyze(dump, control)?;
    Ok(ViewHandle::constructor(ConstructorView::new(
        Arc::new(heap),
        request.sort,
        request.top,
    )))
}

fn comparison_view(
    [before, after, wasm]: [Input<'_>; 3],
    request: Request<ComparisonSort>,
    control: &Control,
) -> crate::Result<ViewHandle> {
    let program = Program::read(wasm)?.tolerating(request.tolerance);
    let (before, after) = program.analyze_both(before, after, control)?;
    let view = ComparisonView::new(Arc::new(before), Arc::new(after), request.sort, request.top);
    Ok(ViewHandle::comparison(view))
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
        canceller: &Canceller,
        work: impl FnOnce(&Control) -> crate::Result<ViewHandle> + Send + 'static,
    ) -> AsyncTask<Self> {
        AsyncTask::new(Self {
            work: Some(Box::new(work)),
            control: canceller.0.clone(),
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
