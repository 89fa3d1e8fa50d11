//! What work results in.

use napi::bindgen_prelude::*;
use napi::sys;

/// A value that work results in.
pub(super) trait Outcome: ToNapiValue + Send + 'static {
    /// Registers its memory with V8.
    fn registered(self, _: Env) -> Self {
        self
    }
}

/// Nothing but that the work is done.
impl Outcome for () {}

/// The length of a piece of an export.
impl Outcome for u32 {}

/// A value that is in JavaScript's heap already.
pub(super) struct Converted(sys::napi_value);

impl Converted {
    /// Registers and converts an outcome, on the thread of JavaScript.
    pub(super) fn new(outcome: impl Outcome, env: Env) -> Result<Self> {
        Ok(Self(outcome.registered(env).into_unknown(&env)?.raw()))
    }
}

impl ToNapiValue for Converted {
    unsafe fn to_napi_value(_: sys::napi_env, value: Self) -> Result<sys::napi_value> {
        Ok(value.0)
    }
}
