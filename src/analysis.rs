//! The views of dumps that are read for them alone.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::calls::{Returned, call};
use super::error::Result;
use super::input_bytes::{NamedBytes, given};
use super::inputs::InputArg;
use super::options::{ViewOptions, ViewRequest, checked};
use super::views::ViewHandle;
use super::work_control::WorkControl;
use base::control::{Control, Phase};
use engine::Schedule;
use engine::heap::views::{ComparisonSort, ConstructorSort};
use workers::guard::guarded;

/// The constructor view of a dump.
#[napi(
    ts_generic_types = "C extends WorkControl | undefined = undefined",
    ts_args_type = "dump: Uint8Array | FileData, wasm?: Uint8Array | FileData | undefined | null, options?: ViewOptions | undefined | null, control?: C",
    ts_return_type = "C extends WorkControl ? Promise<ViewHandle> : ViewHandle"
)]
pub fn analyze<'env>(
    env: &'env Env,
    dump: InputArg<'_>,
    wasm: Option<InputArg<'_>>,
    options: Option<ViewOptions>,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, ViewHandle>> {
    guarded(|| {
        let request = checked(options)?;
        let inputs = [("dump", Some(dump)), ("wasm", wasm)];
        call(env, inputs, control, move |inputs, control| {
            constructor_view(inputs, request, control)
        })
    })
}

/// The comparison view of two dumps of one module.
#[napi(
    ts_generic_types = "C extends WorkControl | undefined = undefined",
    ts_args_type = "before: Uint8Array | FileData, after: Uint8Array | FileData, wasm?: Uint8Array | FileData | undefined | null, options?: ViewOptions | undefined | null, control?: C",
    ts_return_type = "C extends WorkControl ? Promise<ViewHandle> : ViewHandle"
)]
pub fn diff<'env>(
    env: &'env Env,
    before: InputArg<'_>,
    after: InputArg<'_>,
    wasm: Option<InputArg<'_>>,
    options: Option<ViewOptions>,
    control: Option<ClassInstance<WorkControl>>,
) -> Result<Returned<'env, ViewHandle>> {
    guarded(|| {
        let request = checked(options)?;
        let inputs = [
            ("before", Some(before)),
            ("after", Some(after)),
            ("wasm", wasm),
        ];
        call(env, inputs, control, move |inputs, control| {
            comparison_view(inputs, request, control)
        })
    })
}

fn constructor_view(
    [dump, wasm]: [NamedBytes<'_>; 2],
    request: ViewRequest<ConstructorSort>,
    control: &Control,
) -> base::Result<ViewHandle> {
    let heap = engine::analyze(dump, given(&wasm), &request.reading, control)?;
    let _step = control.begin(Phase::View, 1);
    let view = request.constructor_view(Arc::new(heap), control)?;
    Ok(ViewHandle::constructor(view))
}

fn comparison_view(
    [before, after, wasm]: [NamedBytes<'_>; 3],
    request: ViewRequest<ComparisonSort>,
    control: &Control,
) -> base::Result<ViewHandle> {
    let schedule = schedule(&before, &after, request.available_memory);
    let view = engine::compare(
        [before, after],
        given(&wasm),
        &request.reading,
        schedule,
        request.selection,
        control,
    )?;
    Ok(ViewHandle::comparison(view))
}

/// Whether two dumps are analyzed at the same time. Each analysis needs about one and a half times the size
/// of its dump.
fn schedule(before: &NamedBytes, after: &NamedBytes, available: Option<f64>) -> Schedule {
    let bytes = before.bytes.as_ref().len() + after.bytes.as_ref().len();
    match available {
        Some(available) if available < bytes as f64 * 1.5 => Schedule::OneByOne,
        _ => Schedule::SideBySide,
    }
}
