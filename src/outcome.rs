//! What asynchronous work results in.

use napi::bindgen_prelude::*;
use napi::sys;

use super::heap_handle::HeapHandle;
use super::open_heap::AnswerData;
use super::place_table_handle::PlaceTableHandle;
use super::views::ViewHandle;

/// The value of a resolved promise.
pub(super) enum Outcome {
    /// A view.
    View(ViewHandle),
    /// A loaded heap.
    Heap(HeapHandle),
    /// A place table.
    PlaceTable(PlaceTableHandle),
    /// An answer, rendered.
    Answer(AnswerData),
    /// The length of a piece of an export.
    Length(u32),
    /// Nothing but that the work is done.
    Done,
}

impl Outcome {
    /// Registers its memory with V8.
    pub(super) fn registered(self, env: Env) -> Self {
        match self {
            Self::View(view) => Self::View(view.registered(env)),
            Self::Heap(heap) => Self::Heap(heap.registered(env)),
            Self::PlaceTable(table) => Self::PlaceTable(table.registered(env)),
            other @ (Self::Answer(_) | Self::Length(_) | Self::Done) => other,
        }
    }
}

impl ToNapiValue for Outcome {
    unsafe fn to_napi_value(env: sys::napi_env, value: Self) -> Result<sys::napi_value> {
        // SAFETY: the caller promises that the environment is alive, and this is its thread.
        unsafe {
            match value {
                Self::View(view) => ToNapiValue::to_napi_value(env, view),
                Self::Heap(heap) => ToNapiValue::to_napi_value(env, heap),
                Self::PlaceTable(table) => ToNapiValue::to_napi_value(env, table),
                Self::Answer(answer) => ToNapiValue::to_napi_value(env, answer),
                Self::Length(length) => ToNapiValue::to_napi_value(env, length),
                Self::Done => ToNapiValue::to_napi_value(env, ()),
            }
        }
    }
}
