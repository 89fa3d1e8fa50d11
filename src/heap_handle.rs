//! The handle of a loaded heap for JavaScript.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::error::{JsError, Result};
use super::open_heap::OpenHeap;
use super::outcome::Outcome;

/// A loaded heap that stays on the native side until it is closed.
#[napi(custom_finalize)]
pub struct HeapHandle {
    /// `None` after it was closed. Running work holds another reference.
    heap: Option<Arc<OpenHeap>>,
    /// The number of bytes that are registered with V8.
    registered_bytes: i64,
}

impl HeapHandle {
    /// V8 does not know of its memory yet.
    pub(super) fn new(heap: OpenHeap) -> Self {
        Self {
            heap: Some(Arc::new(heap)),
            registered_bytes: 0,
        }
    }

    pub(super) fn register(&mut self, env: Env) {
        let bytes = self.heap.as_ref().map_or(0, |heap| heap.memory_size()) as i64;
        // It fails only while the environment ends.
        let _ = env.adjust_external_memory(bytes - self.registered_bytes);
        self.registered_bytes = bytes;
    }

    /// Lets go of the heap. Running work keeps it until it ends.
    pub(super) fn release(&mut self, env: Env) {
        self.heap = None;
        self.register(env);
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

impl Outcome for HeapHandle {
    /// Registers what this handle holds with V8, whose collector counts it as pressure.
    fn registered(mut self, env: Env) -> Self {
        self.register(env);
        self
    }
}

impl ObjectFinalize for HeapHandle {
    fn finalize(self, env: Env) -> napi::Result<()> {
        env.adjust_external_memory(-self.registered_bytes)?;
        Ok(())
    }
}
