//! Engine errors as JavaScript errors: the text as the message, the stable code as `error.code`.
//!
//! For an error of the system, the `cause` has its data as JSON in its message. `js/native_errors.ts` makes
//! an error like those of Node from the data, because only Node knows its error numbers on each system.

use base::error::Coded;
use base::shown::Shown;
use serde::Serialize;

/// An error that a binding function returns. Its status is what napi-rs puts into `error.code`. A type of this
/// crate, because `From` for the error of napi-rs cannot be written here: both types are of other crates.
pub struct JsError(napi::Error<&'static str>);

impl JsError {
    pub(super) fn new(code: &'static str, message: impl ToString) -> Self {
        Self(napi::Error::new(code, message))
    }
}

impl From<napi::Error<&'static str>> for JsError {
    fn from(error: napi::Error<&'static str>) -> Self {
        Self(error)
    }
}

impl From<JsError> for napi::JsError<&'static str> {
    fn from(error: JsError) -> Self {
        Self::from(error.0)
    }
}

/// The result of every binding function. The macro `napi` recognises fallible functions by the name `Result`,
/// so the type must have this name.
pub(super) type Result<T> = std::result::Result<T, JsError>;

/// An error of the addon itself.
#[derive(Debug, thiserror::Error)]
pub(super) enum AddonError {
    /// One pipe for two inputs. A pipe can be read only once.
    #[error(
        "it is the same pipe as {}: a pipe can be read only once; write one of the two inputs to a file, or use two pipes",
        Shown(other)
    )]
    SamePipe {
        /// The name of the other input.
        other: String,
    },
}

impl Coded for AddonError {
    fn code(&self) -> &'static str {
        match self {
            Self::SamePipe { .. } => "ERR_SAME_PIPE",
        }
    }
}

/// An error of the system, for JavaScript.
#[derive(Serialize)]
struct SystemError<'a> {
    /// The system's error number, if there is one.
    number: Option<i32>,
    /// The name of the [`std::io::ErrorKind`].
    kind: String,
    message: String,
    syscall: &'static str,
    path: &'a str,
}

impl From<base::Error> for JsError {
    fn from(error: base::Error) -> Self {
        let system_error =
            system_error(&error).and_then(|facts| serde_json::to_string(&facts).ok());
        let mut js_error = napi::Error::new(error.code(), error);
        if let Some(facts) = system_error {
            js_error.set_cause(napi::Error::from_reason(facts));
        }
        Self(js_error)
    }
}

fn system_error(error: &base::Error) -> Option<SystemError<'_>> {
    let base::Error::InFile(in_file) = error else {
        return None;
    };
    let base::Error::Io { action, source } = &in_file.source else {
        return None;
    };
    Some(SystemError {
        number: source.raw_os_error(),
        kind: format!("{:?}", source.kind()),
        message: source.to_string(),
        syscall: action.system_call(),
        path: &in_file.file,
    })
}
