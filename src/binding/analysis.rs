//! The operations. Each has a synchronous and an asynchronous variant.

use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::guard::guarded;
use super::inputs::{NamedPath, Pending, SourceInput, open_all};
use super::options::{Request, ViewOptions, checked};
use super::tasks::{Outcome, Task, Work};
use super::threads::run_on_own_thread;
use super::views::ViewHandle;
use crate::control::{Control, Phase};
use crate::program::{Input, Program, Schedule};
use crate::views::{ComparisonSort, ComparisonView, ConstructorSort};

/// A handle on asynchronous work.
#[napi]
#[derive(Default)]
pub struct WorkControl {
    control: Control,
    task: Mutex<Option<Arc<Task>>>,
}

/// The progress of the work.
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
    /// A handle for work that is not started yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the work that was started with this handle.
    #[napi]
    pub fn cancel(&self) -> Result<()> {
        guarded(|| {
            self.control.cancel();
            if let Some(task) = &*self.task() {
                task.cancel();
            }
            Ok(())
        })
    }

    /// Its progress.
    #[napi]
    pub fn progress(&self) -> Result<ProgressData> {
        guarded(|| {
            let progress = self.control.progress();
            Ok(ProgressData {
                phase: progress.phase.name(),
                fraction: progress.fraction,
                bytes: progress.bytes as f64,
            })
        })
    }
}

impl WorkControl {
    /// Starts work on inputs that this handle controls.
    pub(super) fn start<'env, const N: usize>(
        &self,
        env: &'env Env,
        inputs: [Pending; N],
        work: impl Work<N>,
    ) -> Result<Object<'env>> {
        let (task, promise) = Task::start(env, self.control.clone(), inputs, work)?;
        *self.task() = Some(task);
        Ok(promise)
    }

    fn task(&self) -> std::sync::MutexGuard<'_, Option<Arc<Task>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
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
    guarded(|| {
        let request = checked(options)?;
        let view = run_on_own_thread(|| {
            let inputs = [("dump", dump), ("wasm", wasm)];
            constructor_view(inputs.map(borrowed), request, &Control::default())
        })?;
        Ok(view.registered(env))
    })
}

/// The constructor view of two files.
#[napi]
pub fn analyze_file(
    env: Env,
    dump: Either<String, Buffer>,
    wasm: Either<String, Buffer>,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    guarded(|| {
        let request = checked(options)?;
        let files = [dump, wasm].map(NamedPath::from);
        let view = run_on_own_thread(|| {
            constructor_view(open_all(&files)?, request, &Control::default())
        })?;
        Ok(view.registered(env))
    })
}

/// As `analyze`, on copies of the bytes, as a task.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn analyze_async<'env>(
    env: &'env Env,
    dump: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let request = checked(options)?;
        let inputs = [
            Pending::copied("dump", dump)?,
            Pending::copied("wasm", wasm)?,
        ];
        control.start(env, inputs, move |inputs, control| {
            constructor_view(inputs, request, control).map(Outcome::View)
        })
    })
}

/// As `analyzeFile`, as a task.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn analyze_file_async<'env>(
    env: &'env Env,
    dump: Either<String, Buffer>,
    wasm: Either<String, Buffer>,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let standard_input = ViewOptions::standard_input(options.as_ref());
        let request = checked(options)?;
        let inputs = [dump, wasm]
            .map(|path| Pending::file_or_standard_input(path, standard_input.as_deref()));
        control.start(env, inputs, move |inputs, control| {
            constructor_view(inputs, request, control).map(Outcome::View)
        })
    })
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
    guarded(|| {
        let request = checked(options)?;
        let view = run_on_own_thread(|| {
            let inputs = [("before", before), ("after", after), ("wasm", wasm)];
            comparison_view(inputs.map(borrowed), request, &Control::default())
        })?;
        Ok(view.registered(env))
    })
}

/// The comparison view of three files.
#[napi]
pub fn diff_file(
    env: Env,
    before: Either<String, Buffer>,
    after: Either<String, Buffer>,
    wasm: Either<String, Buffer>,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    guarded(|| {
        let request = checked(options)?;
        let files = [before, after, wasm].map(NamedPath::from);
        let view =
            run_on_own_thread(|| comparison_view(open_all(&files)?, request, &Control::default()))?;
        Ok(view.registered(env))
    })
}

/// As `diff`, on copies of the bytes, as a task.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn diff_async<'env>(
    env: &'env Env,
    before: &[u8],
    after: &[u8],
    wasm: &[u8],
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let request = checked(options)?;
        let inputs = [
            Pending::copied("before", before)?,
            Pending::copied("after", after)?,
            Pending::copied("wasm", wasm)?,
        ];
        control.start(env, inputs, move |inputs, control| {
            comparison_view(inputs, request, control).map(Outcome::View)
        })
    })
}

/// As `diffFile`, as a task.
#[napi(ts_return_type = "Promise<ViewHandle>")]
pub fn diff_file_async<'env>(
    env: &'env Env,
    before: Either<String, Buffer>,
    after: Either<String, Buffer>,
    wasm: Either<String, Buffer>,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let standard_input = ViewOptions::standard_input(options.as_ref());
        let request = checked(options)?;
        let inputs = [before, after, wasm]
            .map(|path| Pending::file_or_standard_input(path, standard_input.as_deref()));
        control.start(env, inputs, move |inputs, control| {
            comparison_view(inputs, request, control).map(Outcome::View)
        })
    })
}

pub(super) fn borrowed<'a>((name, bytes): (&'a str, &'a [u8])) -> SourceInput<'a> {
    SourceInput::borrowed(name, bytes)
}

/// What every analysis begins with.
pub(super) fn read_program<'a>(
    wasm: &'a SourceInput<'_>,
    control: &Control,
) -> crate::Result<Program<'a>> {
    let _step = control.begin(Phase::Module, 1);
    let wasm = Input {
        name: wasm.name,
        bytes: wasm.bytes.as_ref(),
    };
    Program::read(wasm, control)
}

fn constructor_view(
    [dump, wasm]: [SourceInput<'_>; 2],
    request: Request<ConstructorSort>,
    control: &Control,
) -> crate::Result<ViewHandle> {
    let program = read_program(&wasm, control)?.tolerating(request.tolerance);
    let heap = program.analyze(dump, control)?;
    let _step = control.begin(Phase::View, 1);
    let view = request.constructor_view(Arc::new(heap), control)?;
    Ok(ViewHandle::constructor(view))
}

fn comparison_view(
    [before, after, wasm]: [SourceInput<'_>; 3],
    request: Request<ComparisonSort>,
    control: &Control,
) -> crate::Result<ViewHandle> {
    let program = read_program(&wasm, control)?.tolerating(request.tolerance);
    let schedule = schedule(&before, &after, request.available_memory);
    let (before, after) = program.analyze_both(before, after, schedule, control)?;
    let (before, after) = (Arc::new(before), Arc::new(after));
    let view = ComparisonView::new(before, after, request.selection, control)?;
    Ok(ViewHandle::comparison(view))
}

/// Whether two dumps are analyzed at the same time. Each analysis needs about one and a half times the size
/// of its dump.
fn schedule(before: &SourceInput, after: &SourceInput, available: Option<f64>) -> Schedule {
    let bytes = before.bytes.as_ref().len() + after.bytes.as_ref().len();
    match available {
        Some(available) if available < bytes as f64 * 1.5 => Schedule::OneByOne,
        _ => Schedule::SideBySide,
    }
}
