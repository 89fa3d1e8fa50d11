//! Engine errors as JavaScript errors: our text as the message, our stable code as `error.code`.

/// An error that a binding function returns. Its status is what napi-rs puts into `error.code`.
pub(super) type JsError = napi::Error<&'static str>;

/// The result of every binding function. The macro `napi` knows fallible functions by the name
/// `Result`, so it must be this one.
pub(super) type Result<T> = std::result::Result<T, JsError>;

impl From<crate::Error> for JsError {
    fn from(error: crate::Error) -> Self {
        Self::new(error.code(), error)
    }
}
