//! The operations. Each has a synchronous and an asynchronous variant.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::Result;
use super::inputs::{self, NamedPath, Pending, SourceInput, given, open_all};
use super::options::{Request, ViewOptions, checked};
use super::outcome::Outcome;
use super::views::ViewHandle;
use super::work_control::WorkControl;
use base::control::{Control, Phase};
use engine::Schedule;
use engine::heap::views::{ComparisonSort, ConstructorSort};
use workers::guard::guarded;
use workers::threads::run_on_own_thread;

/// The constructor view of bytes in the caller's memory.
#[napi]
pub fn analyze(
    env: Env,
    dump: &[u8],
    wasm: Option<&[u8]>,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    guarded(|| {
        let request = checked(options)?;
        let view = run_on_own_thread(|| {
            let inputs = [Some(("dump", dump)), wasm.map(|wasm| ("wasm", wasm))];
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
    wasm: Option<Either<String, Buffer>>,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    guarded(|| {
        let request = checked(options)?;
        let files = [Some(dump), wasm].map(NamedPath::of);
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
    wasm: Option<&[u8]>,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let request = checked(options)?;
        let inputs = [
            Pending::copied("dump", dump)?,
            Pending::copied_if_given("wasm", wasm)?,
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
    wasm: Option<Either<String, Buffer>>,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let standard_input = ViewOptions::standard_input(options.as_ref());
        let request = checked(options)?;
        let inputs = [Some(dump), wasm]
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
    wasm: Option<&[u8]>,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    guarded(|| {
        let request = checked(options)?;
        let view = run_on_own_thread(|| {
            let wasm = wasm.map(|wasm| ("wasm", wasm));
            let inputs = [Some(("before", before)), Some(("after", after)), wasm];
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
    wasm: Option<Either<String, Buffer>>,
    options: Option<ViewOptions>,
) -> Result<ViewHandle> {
    guarded(|| {
        let request = checked(options)?;
        let files = [Some(before), Some(after), wasm].map(NamedPath::of);
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
    wasm: Option<&[u8]>,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let request = checked(options)?;
        let inputs = [
            Pending::copied("before", before)?,
            Pending::copied("after", after)?,
            Pending::copied_if_given("wasm", wasm)?,
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
    wasm: Option<Either<String, Buffer>>,
    options: Option<ViewOptions>,
    control: &WorkControl,
) -> Result<Object<'env>> {
    guarded(|| {
        let standard_input = ViewOptions::standard_input(options.as_ref());
        let request = checked(options)?;
        let inputs = [Some(before), Some(after), wasm]
            .map(|path| Pending::file_or_standard_input(path, standard_input.as_deref()));
        control.start(env, inputs, move |inputs, control| {
            comparison_view(inputs, request, control).map(Outcome::View)
        })
    })
}

pub(super) fn borrowed<'a>(input: Option<(&'a str, &'a [u8])>) -> SourceInput<'a> {
    match input {
        Some((name, bytes)) => inputs::borrowed(name, bytes),
        None => inputs::absent(),
    }
}

fn constructor_view(
    [dump, wasm]: [SourceInput<'_>; 2],
    request: Request<ConstructorSort>,
    control: &Control,
) -> base::Result<ViewHandle> {
    let heap = engine::analyze(dump, given(&wasm), request.tolerance, control)?;
    let _step = control.begin(Phase::View, 1);
    let view = request.constructor_view(Arc::new(heap), control)?;
    Ok(ViewHandle::constructor(view))
}

fn comparison_view(
    [before, after, wasm]: [SourceInput<'_>; 3],
    request: Request<ComparisonSort>,
    control: &Control,
) -> base::Result<ViewHandle> {
    let schedule = schedule(&before, &after, request.available_memory);
    let view = engine::compare(
        [before, after],
        given(&wasm),
        request.tolerance,
        schedule,
        request.selection,
        control,
    )?;
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
