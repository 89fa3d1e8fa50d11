//! The inputs of a call: bytes of the caller, or files that are opened when the work begins.

use std::io;

use napi::bindgen_prelude::{Buffer, Either};
use napi_derive::napi;

use super::files::{Expected, NamedPath, find_pipes, read_stream};
use super::input_bytes::{InputBytes, NamedBytes};
use base::control::Control;
use base::error::Result;
use base::{Input, columns};

/// An input as JavaScript passes it.
pub type InputArg<'a> = Either<&'a [u8], FileData>;

/// A file.
#[napi(object)]
pub struct FileData {
    /// Its path: text, or bytes that need not be UTF-8. Absent for the standard input of the process.
    pub path: Option<Either<String, Buffer>>,
    /// The open file that is read instead of what is at the path now. Systems other than Unix read the path.
    pub descriptor: Option<i32>,
    /// Whether it is raw memory, which no first bytes tell from another file.
    pub raw: Option<bool>,
}

/// The name of an input that was not given.
const ABSENT: &str = "wasm";

/// The name of the standard input in errors.
const STANDARD_INPUT: &str = "standard input";

/// An input before the work begins.
pub(super) enum PendingInput<'a> {
    /// Bytes that are there already.
    Bytes(String, InputBytes<'a>),
    /// A file that is not open yet.
    File(NamedPath),
    /// The standard input of the process, which is not read yet.
    StandardInput(Expected),
}

impl<'a> PendingInput<'a> {
    /// An input for work that ends before the call returns. `name` is that of its argument, by which errors
    /// name bytes.
    pub(super) fn borrowed(name: &str, argument: Option<InputArg<'a>>) -> Self {
        match argument {
            Some(Either::A(bytes)) => Self::Bytes(name.to_owned(), InputBytes::Borrowed(bytes)),
            Some(Either::B(file)) => file.into(),
            None => Self::absent(),
        }
    }

    /// An input that was not given.
    pub(super) fn absent() -> Self {
        Self::Bytes(ABSENT.to_owned(), InputBytes::Absent)
    }

    /// As [`PendingInput::borrowed`], for work that ends later: bytes are copied.
    ///
    /// # Errors
    /// [`base::Error::OutOfMemory`].
    pub(super) fn copied(
        name: &str,
        argument: Option<InputArg<'_>>,
    ) -> Result<PendingInput<'static>> {
        let bytes = match argument {
            Some(Either::A(bytes)) => columns::collected(bytes.iter().copied())?,
            Some(Either::B(file)) => return Ok(file.into()),
            None => return Ok(PendingInput::absent()),
        };
        Ok(PendingInput::Bytes(
            name.to_owned(),
            InputBytes::Copied(bytes),
        ))
    }

    /// Inspects inputs without opening them. Returns whether any of them is a pipe or a device that is not read
    /// yet; reading these may block for an unlimited time.
    ///
    /// # Errors
    /// [`base::Error::Io`] if a file does not exist, [`AddonError::SamePipe`](crate::error::AddonError::SamePipe).
    pub(super) fn have_pipe(inputs: &[Self]) -> Result<bool> {
        let has_pipe = find_pipes(inputs.iter().filter_map(|input| match input {
            Self::File(file) => Some(file),
            Self::Bytes(..) | Self::StandardInput(_) => None,
        }))?;
        Ok(has_pipe
            || inputs
                .iter()
                .any(|input| matches!(input, Self::StandardInput(_))))
    }

    /// Reads the input to its end, if it is a pipe or a device.
    ///
    /// # Errors
    /// [`base::Error::Io`], [`base::Error::OutOfMemory`], [`base::Error::Aborted`].
    pub(super) fn read_if_pipe(&mut self, control: &Control) -> Result<()> {
        match self {
            Self::File(file) if file.is_stream()? => self.open(control),
            Self::StandardInput(_) => self.open(control),
            _ => Ok(()),
        }
    }

    /// Reads or maps the input, if it is a file that is not open yet.
    ///
    /// # Errors
    /// [`base::Error::Io`], [`base::Error::OutOfMemory`], [`base::Error::Aborted`].
    pub(super) fn open(&mut self, control: &Control) -> Result<()> {
        match self {
            Self::Bytes(..) => {}
            Self::File(file) => {
                let bytes = file.open(control)?;
                *self = Self::Bytes(file.name().to_owned(), bytes);
            }
            Self::StandardInput(expected) => {
                let bytes = read_stream(io::stdin().lock(), *expected, control)
                    .map_err(|error| error.in_file(STANDARD_INPUT))?;
                *self = Self::Bytes(STANDARD_INPUT.to_owned(), InputBytes::Copied(bytes));
            }
        }
        Ok(())
    }

    /// The bytes, once the input is open.
    pub(super) fn input(&mut self) -> NamedBytes<'_> {
        let (name, bytes) = match self {
            Self::Bytes(name, bytes) => {
                let none = InputBytes::Borrowed(&[]);
                (&name[..], std::mem::replace(bytes, none))
            }
            Self::File(file) => (file.name(), InputBytes::Borrowed(&[])),
            Self::StandardInput(_) => (STANDARD_INPUT, InputBytes::Borrowed(&[])),
        };
        Input { name, bytes }
    }
}

impl From<FileData> for PendingInput<'_> {
    fn from(file: FileData) -> Self {
        let expected = if file.raw.unwrap_or_default() {
            Expected::RawMemory
        } else {
            Expected::ByStart
        };
        match file.path {
            Some(path) => Self::File(NamedPath::new(path, file.descriptor, expected)),
            None => Self::StandardInput(expected),
        }
    }
}
